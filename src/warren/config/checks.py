"""What no section can see alone: names that must exist elsewhere, and keys that are needed because of others.

These look at the values as they were read, so that they are told along with everything else that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warren.config.documents import KeyPath
from warren.config.problems import Problem

Values = dict[str, Any]

LEVELS = ("debug", "info", "warn", "error", "panic", "fatal")
_OTHER_LEVELS = {"warning": "warn", "trace": "debug", "dpanic": "panic"}
LONGEST_REMINDER_S = 1_800
_VERSION = re.compile(r"\d+(\.\d+){1,3}|")

_NEEDED_OF_NOTIFIERS = {
    "http": ("url-open", "template-open"),
    "email": ("server", "port", "from", "to", "template-open"),
    "slack": ("url",),
    "teams": ("url",),
    "pagerduty": ("routing-key",),
    "opsgenie": ("api-key",),
    "alertmanager": ("url",),
    "telegram": ("token", "chat-id"),
    "sms": ("account", "token", "from-number", "to-number"),
    "kafka": ("servers", "to-topic"),
}
_NEEDED_OF_SINKS = {
    "influxdb": ("url",),
    "elasticsearch": ("url",),
    "opensearch": ("url",),
    "kafka": ("servers", "to-topic"),
    "remote_write": ("url",),
    "otlp": ("url",),
}
_NEEDED_OF_SASL = {
    "OAUTHBEARER": {"token-url": "where tokens are given", "client-id": "who asks", "client-secret": "its secret"},
    "GSSAPI": {"principal": "of Kerberos"},
}
_NEEDED_OF_LOGINS = {"username": "the name to log in with", "password": "its password"}
_OWN_PROPERTIES = frozenset(
    {
        "bootstrap.servers",
        "group.id",
        "client.id",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "isolation.level",
        "enable.partition.eof",
        "allow.auto.create.topics",
    }
)
"""What Warren would not work with if it were otherwise."""
_IN_ZOOKEEPER = ("kafka_zk", "storm_zk")
_NEEDED_AT_THE_END = {"http": ("url-close", "template-close"), "email": ("template-close",)}


def log_level(text: str) -> str:
    """A level as it is called; what is none is `info`, as in Burrow."""
    level = text.lower()
    return _OTHER_LEVELS.get(level, level if level in LEVELS else "info")


def check(values: Values) -> Iterator[Problem]:
    """Everything that does not fit together."""
    for section in ("storage", "evaluator"):
        yield from _only_one(values, section)
    yield from _references(values)
    for name, one in modules(values, "client-profile"):
        yield from _client_profile(values, ("client-profile", name), one)
    for name, one in modules(values, "sasl"):
        yield from _sasl(("sasl", name), one)
    for name, one in modules(values, "httpserver"):
        yield from _https(values, ("httpserver", name), one)
    for name, one in modules(values, "consumer"):
        yield from _consumer(("consumer", name), one)
    for name, one in modules(values, "notifier"):
        yield from _notifier(("notifier", name), one)
    for name, one in modules(values, "sink"):
        yield from _sink(("sink", name), one)


def doubtful(values: Values) -> Iterator[Problem]:
    """What is taken, but probably not meant."""
    level = _text(values.get("logging", {}), "level") if isinstance(values.get("logging"), dict) else ""
    if level and level.lower() not in LEVELS:
        yield Problem(("logging", "level"), f"is none of {', '.join(LEVELS)}; {log_level(level)} is taken")
    for name, one in modules(values, "notifier"):
        if one.get("threshold") == 1 and not one.get("report-ok"):
            says = "means 2 here: groups that are OK are not told; report-ok = true tells them"
            yield Problem(("notifier", name, "threshold"), says)


def modules(values: Values, section: str) -> Iterator[tuple[str, Values]]:
    """The modules of a section, as far as they are any."""
    found = values.get(section)
    if isinstance(found, dict):
        yield from ((name, one) for name, one in found.items() if isinstance(one, dict))


def _text(module: Values, key: str) -> str:
    value = module.get(key, "")
    return value if isinstance(value, str) else ""


def _only_one(values: Values, section: str) -> Iterator[Problem]:
    for name, _ in list(modules(values, section))[1:]:
        yield Problem((section, name), f"is one too many: there can be only one {section}; remove the others")


def _references(values: Values) -> Iterator[Problem]:
    for section, key, target in (
        ("consumer", "cluster", "cluster"),
        ("consumer", "client-profile", "client-profile"),
        ("consumer", "tls", "tls"),
        ("cluster", "client-profile", "client-profile"),
        ("client-profile", "tls", "tls"),
        ("client-profile", "sasl", "sasl"),
        ("client-profile", "iam", "iam"),
        ("httpserver", "tls", "tls"),
        ("notifier", "client-profile", "client-profile"),
        ("sink", "client-profile", "client-profile"),
    ):
        for name, one in modules(values, section):
            yield from _reference(values, (section, name, key), _text(one, key), target)
    zookeeper = values.get("zookeeper")
    if isinstance(zookeeper, dict):
        yield from _reference(values, ("zookeeper", "tls"), _text(zookeeper, "tls"), "tls")
    alerts = values.get("alerts")
    if isinstance(alerts, dict):
        yield from _reference(values, ("alerts", "leader-cluster"), _text(alerts, "leader-cluster"), "cluster")


def _reference(values: Values, key: KeyPath, name: str, target: str) -> Iterator[Problem]:
    known = [module for module, _ in modules(values, target)]
    if name and name.lower() not in known:
        there = f"; there is {', '.join(known)}" if known else ""
        yield Problem(key, f"there is no [{target}.{name}]{there}")


def _client_profile(values: Values, key: KeyPath, profile: Values) -> Iterator[Problem]:
    if not _VERSION.fullmatch(_text(profile, "kafka-version")):
        yield Problem((*key, "kafka-version"), 'must be a version such as "2.8.0"; Warren does not need it')
    if profile.get("iam") and not profile.get("tls"):
        yield Problem((*key, "tls"), "is needed with iam: the name of a [tls.NAME]")

    if profile.get("iam") and profile.get("sasl"):
        yield Problem((*key, "sasl"), "stands beside iam; remove one of them")
    properties = profile.get("properties")
    for name in sorted(_OWN_PROPERTIES & set(properties)) if isinstance(properties, dict) else ():
        yield Problem((*key, "properties", name), "cannot be set here: Warren needs it as it is")


def _sasl(key: KeyPath, sasl: Values) -> Iterator[Problem]:
    mechanism = _text(sasl, "mechanism").upper()
    for name, what in _NEEDED_OF_SASL.get(mechanism, _NEEDED_OF_LOGINS).items():
        if not sasl.get(name):
            yield Problem((*key, name), f"is needed: {what}")


def _consumer(key: KeyPath, consumer: Values) -> Iterator[Problem]:
    if consumer.get("class-name") not in _IN_ZOOKEEPER:
        return
    if not consumer.get("servers"):
        yield Problem((*key, "servers"), "is needed: host:port of each ZooKeeper server")
    auth = _text(consumer, "zookeeper-auth")
    if auth and ":" not in auth:
        yield Problem((*key, "zookeeper-auth"), "must be user:password")


def _https(values: Values, key: KeyPath, listener: Values) -> Iterator[Problem]:
    name = _text(listener, "tls").lower()
    profile = dict(modules(values, "tls")).get(name)
    if profile is not None and not (profile.get("certfile") and profile.get("keyfile")):
        yield Problem((*key, "tls"), f"[tls.{name}] needs certfile and keyfile for a listener")
    if listener.get("client-ca") and not name:
        yield Problem((*key, "tls"), "is needed with client-ca: only HTTPS has certificates of clients")


def _reminded(key: KeyPath, notifier: Values) -> Iterator[Problem]:
    """Alertmanager takes an alert for over when it hears nothing of it for an hour."""
    interval_s = notifier.get("send-interval", notifier.get("interval", 0))
    if isinstance(interval_s, int) and interval_s > LONGEST_REMINDER_S:
        yield Problem((*key, "send-interval"), f"must be at most {LONGEST_REMINDER_S} for class-name alertmanager")
    if notifier.get("send-once") is True:
        yield Problem((*key, "send-once"), "must be false for class-name alertmanager: alerts would end by themselves")


def _notifier(key: KeyPath, notifier: Values) -> Iterator[Problem]:
    kind = _text(notifier, "class-name")
    needed = _NEEDED_OF_NOTIFIERS.get(kind, ())
    if notifier.get("send-close") is True:
        needed += _NEEDED_AT_THE_END.get(kind, ())
    if kind == "alertmanager":
        yield from _reminded(key, notifier)
    for name in needed:
        if not notifier.get(name):
            yield Problem((*key, name), f"is needed for class-name {kind}" + (" with send-close" * ("close" in name)))


def _sink(key: KeyPath, sink: Values) -> Iterator[Problem]:
    kind = _text(sink, "class-name")
    for name in _NEEDED_OF_SINKS.get(kind, ()):
        if not sink.get(name):
            yield Problem((*key, name), f"is needed for class-name {kind}")
    if kind == "influxdb":
        yield from _influxdb(key, sink)
    if sink.get("password") and not sink.get("username"):
        yield Problem((*key, "username"), "is needed with a password")
    for secret in ("token", "api-key"):
        if sink.get(secret) and sink.get("username"):
            yield Problem((*key, secret), "stands beside username; remove one of them")


def _influxdb(key: KeyPath, sink: Values) -> Iterator[Problem]:
    """Version 1 has databases, version 2 has buckets."""
    if bool(sink.get("database")) == bool(sink.get("bucket")):
        yield Problem((*key, "database"), "is needed for version 1 of InfluxDB, or bucket for version 2, but not both")
    if sink.get("bucket") and not sink.get("token"):
        yield Problem((*key, "token"), "is needed with bucket")
