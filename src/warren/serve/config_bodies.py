"""What `/v3/config` tells of the configuration: Burrow's fields in Burrow's order, and no secrets. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from warren.config.model import ClientProfile, Cluster, Config, Consumer, Notifier, Section
from warren.serve.bodies import Body

MASK = "***"
SECRET_WORDS = ("key", "token", "secret", "pass", "auth")
"""Texts for templates whose name has one of these in it are not shown."""
LONG_SEGMENT = 16
"""The last part of a webhook's path is its password; a shorter one is a word."""

_TEMPLATE = re.compile(r"\{\{.*?\}\}")

COORDINATORS = ("storage", "evaluator", "cluster", "consumer", "notifier")


def main_config(config: Config) -> Body:
    """The sections that are there once."""
    general, listeners = config.general, sorted(config.listeners.items())
    return {
        "general": {
            "pidfile": general.pidfile,
            "stdout-logfile": general.stdout_logfile,
            "access-control-allow-origin": general.access_control_allow_origin,
        },
        "logging": _logging(config),
        "zookeeper": _zookeeper(config),
        "httpserver": {
            name: {"address": one.address, "tls": one.tls, "timeout": one.timeout} for name, one in listeners
        },
    }


def module_names(config: Config, coordinator: str) -> list[str]:
    """The modules of a kind; without a section Burrow runs one called default."""
    names: list[str] = sorted(getattr(config, coordinator))
    return names or (["default"] if coordinator in ("storage", "evaluator") else [])


def module_detail(config: Config, coordinator: str, name: str) -> Body | None:
    """One module; names do not know upper and lower case. None if there is none of this name."""
    name = name.lower()
    if name not in module_names(config, coordinator):
        return None
    match coordinator:
        case "storage":
            return _storage(config)
        case "evaluator":
            return {
                "class-name": config.the_evaluator.class_name,
                "expire-cache": config.the_evaluator.expire_cache,
            }
        case "cluster":
            return _cluster(config, config.cluster[name])
        case "consumer":
            return _consumer(config, config.consumer[name])
        case _:
            return _notifier(config.notifier[name])


def _logging(config: Config) -> Body:
    logging = config.logging
    return {
        "filename": logging.filename,
        "max-size": logging.max_size,
        "max-backups": logging.max_backups,
        "max-age": logging.max_age,
        "use-local-time": logging.use_local_time,
        "use-compression": logging.use_compression,
        "level": logging.level,
    }


def _zookeeper(config: Config) -> Body:
    """Burrow reads the section, and so has its defaults, only if there is a notifier."""
    zookeeper, is_read = config.zookeeper, bool(config.notifier)
    return {
        "servers": zookeeper.servers if _is_set(zookeeper, "servers") else None,
        "timeout": zookeeper.timeout if is_read or _is_set(zookeeper, "timeout") else 0,
        "root-path": zookeeper.root_path if is_read or _is_set(zookeeper, "root_path") else "",
    }


def _is_set(section: Section, key: str) -> bool:
    return key in section.model_fields_set


def _storage(config: Config) -> Body:
    storage = config.the_storage
    return {
        "class-name": storage.class_name,
        "intervals": storage.intervals,
        "min-distance": storage.min_distance,
        "group-allowlist": storage.group_allowlist,
        "expire-group": storage.expire_group,
    }


def _cluster(config: Config, cluster: Cluster) -> Body:
    return {
        "class-name": cluster.class_name,
        "servers": cluster.servers,
        "client-profile": _client_profile(config, cluster.client_profile),
        "topic-refresh": cluster.topic_refresh,
        "offset-refresh": cluster.offset_refresh,
    }


def _consumer(config: Config, consumer: Consumer) -> Body:
    reads_zookeeper = consumer.class_name in ("kafka_zk", "storm_zk")
    has_timeout = reads_zookeeper or _is_set(consumer, "zookeeper_timeout")
    return {
        "class-name": consumer.class_name,
        "cluster": consumer.cluster,
        "servers": consumer.servers,
        "group-allowlist": consumer.group_allowlist,
        "zookeeper-path": consumer.zookeeper_path,
        "zookeeper-timeout": consumer.zookeeper_timeout if has_timeout else 0,
        "client-profile": _client_profile(config, consumer.client_profile),
        "offsets-topic": consumer.offsets_topic,
        "start-latest": consumer.start_latest,
    }


def _client_profile(config: Config, name: str) -> Body:
    profile = config.client_profile.get(name.lower(), ClientProfile())
    return {
        "name": name,
        "client-id": profile.client_id,
        "kafka-version": profile.kafka_version,
        "tls": _tls(config, profile.tls),
        "sasl": _sasl(config, profile.sasl),
    }


def _tls(config: Config, name: str) -> Body | None:
    tls = config.tls.get(name.lower())
    if tls is None:
        return None
    files = {"certfile": tls.certfile, "keyfile": tls.keyfile, "cafile": tls.cafile}
    return {"name": name, "noverify": tls.noverify, **files}


def _sasl(config: Config, name: str) -> Body | None:
    sasl = config.sasl.get(name.lower())
    if sasl is None:
        return None
    return {"name": name, "handshake-first": sasl.handshake_first, "username": sasl.username}


def _notifier(one: Notifier) -> Body:
    common = {
        "class-name": one.class_name,
        "group-allowlist": one.group_allowlist,
        "interval": one.interval,
        "threshold": one.threshold,
    }
    templates = {
        "template-open": one.template_open,
        "template-close": one.template_close,
        "extra": {name: _extra(name, one.extras[name]) for name in sorted(one.extras)},
        "send-close": one.send_close,
    }
    ours = {"http": _http, "email": _email, "null": _null}[one.class_name]
    before, after = ours(one)
    return {**common, **before, **templates, **after}


def _null(one: Notifier) -> tuple[Body, Body]:
    return {}, {}


def _http(one: Notifier) -> tuple[Body, Body]:
    receiver = {
        "timeout": one.timeout,
        "keepalive": one.keepalive,
        "url-open": masked_url(one.url_open.get_secret_value()),
        "url-close": masked_url(one.url_close.get_secret_value()),
        "method-open": one.method_open,
        "method-close": one.method_close,
    }
    return receiver, _trust(one)


def _email(one: Notifier) -> tuple[Body, Body]:
    receiver = {
        "server": one.server,
        "port": one.port,
        "auth-type": one.auth_type,
        "username": one.username,
        "from": one.from_,
        "to": one.to,
    }
    return {}, {**receiver, **_trust(one)}


def _trust(one: Notifier) -> Body:
    """`noverify` is a text in Burrow, empty if the key is not there."""
    noverify = str(one.noverify).lower() if _is_set(one, "noverify") else ""
    return {"extra-ca": one.extra_ca, "noverify": noverify}


def _extra(name: str, value: SecretStr) -> str:
    text = value.get_secret_value()
    if any(word in name.lower() for word in SECRET_WORDS):
        return MASK if text else ""
    return masked_url(text) if "://" in text else text


def masked_url(url: str) -> str:
    """A URL without what lets somebody in: user, values of the query, and a long last part of the path."""
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL before its template is filled in; it may hold anything
        return MASK
    host = parts.netloc.rpartition("@")
    netloc = f"{MASK}@{host[2]}" if host[1] else parts.netloc
    query = "&".join(f"{name}={MASK}" for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    masked = parts._replace(netloc=netloc, path=_masked_path(parts.path), query=query, fragment="")
    return masked.geturl()


def _masked_path(path: str) -> str:
    """Templates in a path are no secrets, what stands around them may be one."""
    before, slash, last = path.rstrip("/").rpartition("/")
    is_word = all(len(text) < LONG_SEGMENT for text in _TEMPLATE.split(last))
    return path if is_word else f"{before}{slash}{MASK}"
