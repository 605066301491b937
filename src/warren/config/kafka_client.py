"""From Burrow's client profiles to the settings of the Kafka client."""

from __future__ import annotations

from typing import Any

from warren.config.model import ClientProfile, Config


def client_settings(config: Config, servers: list[str], profile_name: str) -> dict[str, Any]:
    """What a Kafka client needs to reach `servers` as `profile_name` says."""
    profile = config.client_profile.get(profile_name.lower(), ClientProfile())
    tls = config.tls.get(profile.tls.lower())
    sasl = config.sasl.get(profile.sasl.lower())
    settings: dict[str, Any] = {
        "bootstrap.servers": ",".join(servers),
        "client.id": profile.client_id,
        "socket.connection.setup.timeout.ms": profile.dial_timeout * 1000,
        "socket.timeout.ms": profile.read_timeout * 1000,
        "security.protocol": f"{'SASL_' if sasl else ''}{'SSL' if tls else 'PLAINTEXT'}",
    }
    if tls:
        settings |= _without_empty(
            {
                "ssl.ca.location": tls.cafile,
                "ssl.certificate.location": tls.certfile,
                "ssl.key.location": tls.keyfile,
            }
        )
        settings["enable.ssl.certificate.verification"] = not tls.noverify
    if sasl:
        settings |= {
            "sasl.mechanism": sasl.mechanism,
            "sasl.username": sasl.username,
            "sasl.password": sasl.password.get_secret_value(),
        }
    return settings


def _without_empty(settings: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value}
