"""From Burrow's client profiles to the settings of the Kafka client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warren.config.model import ClientProfile, Config, Sasl, Tls
from warren.config.problems import Problem
from warren.kafka.msk import IAM


def client_settings(config: Config, servers: list[str], profile_name: str) -> dict[str, Any]:
    """What a Kafka client needs to reach `servers` as `profile_name` says."""
    profile = config.client_profile.get(profile_name.lower(), ClientProfile())
    tls = config.tls.get(profile.tls.lower())
    sasl = config.sasl.get(profile.sasl.lower())
    iam = config.iam.get(profile.iam.lower())
    settings: dict[str, Any] = {
        "bootstrap.servers": ",".join(servers),
        "client.id": profile.client_id,
        "socket.connection.setup.timeout.ms": profile.dial_timeout * 1000,
        "socket.timeout.ms": profile.read_timeout * 1000,
        "security.protocol": f"{'SASL_' if sasl or iam else ''}{'SSL' if tls else 'PLAINTEXT'}",
        **(_tls_settings(tls) if tls else {}),
        **(_sasl_settings(sasl) if sasl else {}),
    }
    if iam:
        settings |= {"sasl.mechanism": "OAUTHBEARER", IAM: iam.model_dump()}
    return settings | {name: value.get_secret_value() for name, value in profile.properties.items()}


def unknown_properties(config: Config) -> Iterator[Problem]:
    """Properties that the Kafka client does not know, or not with such values."""
    for name, profile in config.client_profile.items():
        if reason := _refused({one: value.get_secret_value() for one, value in profile.properties.items()}):
            yield Problem(("client-profile", name, "properties"), f"the Kafka client refuses them: {reason}")


def unusable_clients(config: Config) -> Iterator[Problem]:
    """Profiles in use that the Kafka client refuses now; a certificate may still come, and other clusters can be read.

    Nothing is connected to.
    """
    used = [one.client_profile for one in config.cluster.values()]
    used += [one.client_profile for one in config.consumer.values()]
    for name in dict.fromkeys(name.lower() for name in used if name):
        unread = list(_unread_files(config, config.client_profile[name].tls.lower()))
        if unread:
            yield from unread
        elif reason := _refused(client_settings(config, [], name)):
            yield Problem(("client-profile", name), f"the Kafka client refuses it: {reason}")


def _unread_files(config: Config, tls: str) -> Iterator[Problem]:
    for key in ("cafile", "certfile", "keyfile") if tls else ():
        path = str(getattr(config.tls[tls], key))
        try:
            if path:
                Path(path).read_bytes()
        except OSError as error:
            yield Problem(("tls", tls, key), f"the file cannot be read: {error.strerror}")


def _refused(settings: dict[str, Any]) -> str:
    """Why there can be no client with these settings; "" if there can be one."""
    from confluent_kafka import Consumer, KafkaException

    plain = {name: value for name, value in settings.items() if name not in ("bootstrap.servers", IAM)}
    try:
        Consumer({"group.id": "warren", "log_level": 0, **plain}).close()
    except KafkaException as error:
        return str(error.args[0].str()).removeprefix("Failed to create consumer: ")
    return ""


def _tls_settings(tls: Tls) -> dict[str, Any]:
    files = {
        "ssl.ca.location": tls.cafile,
        "ssl.certificate.location": tls.certfile,
        "ssl.key.location": tls.keyfile,
    }
    return {**_without_empty(files), "enable.ssl.certificate.verification": not tls.noverify}


def _sasl_settings(sasl: Sasl) -> dict[str, Any]:
    if sasl.mechanism == "GSSAPI":
        kerberos = {
            "sasl.kerberos.service.name": sasl.service_name,
            "sasl.kerberos.principal": sasl.principal,
            "sasl.kerberos.keytab": sasl.keytab,
        }
        return {"sasl.mechanism": sasl.mechanism, **_without_empty(kerberos)}
    if sasl.mechanism == "OAUTHBEARER":
        oidc = {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.token.endpoint.url": sasl.token_url,
            "sasl.oauthbearer.client.id": sasl.client_id,
            "sasl.oauthbearer.client.secret": sasl.client_secret.get_secret_value(),
            "sasl.oauthbearer.scope": sasl.scope,
            "https.ca.location": sasl.token_cafile,
        }
        return {"sasl.mechanism": sasl.mechanism, **_without_empty(oidc)}
    login = {"sasl.username": sasl.username, "sasl.password": sasl.password.get_secret_value()}
    return {"sasl.mechanism": sasl.mechanism, **login}


def _without_empty(settings: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value}
