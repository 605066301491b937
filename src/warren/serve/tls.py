"""TLS for listeners: a certificate of our own, and clients that must show theirs."""

from __future__ import annotations

import ssl
from pathlib import Path

from warren.config.model import HttpServer, Tls
from warren.errors import ConfigError, SetupError


def server_context(server: HttpServer, tls: Tls | None) -> ssl.SSLContext | None:
    """What a listener speaks TLS with; None if it speaks plain HTTP."""
    if not server.tls:
        if server.client_ca:
            message = (
                f"The listener {server.address} has client-ca, but no tls: without TLS clients show no certificate."
            )
            raise ConfigError(message, hint="Name a [tls.NAME] with certfile and keyfile in its tls.")
        return None
    if tls is None or not tls.certfile or not tls.keyfile:
        message = f"The listener {server.address} needs a certificate and its key."
        raise ConfigError(message, hint=f"Set certfile and keyfile in [tls.{server.tls}].")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _load_certificate(context, tls)
    if server.client_ca:
        _require_clients(context, server.client_ca)
    return context


class Renewal:
    """Takes on a certificate that was renewed: connections from then on are shown the new one."""

    def __init__(self, context: ssl.SSLContext, tls: Tls) -> None:
        self._context = context
        self._tls = tls
        self._stamps = self._changed_ns()

    def look(self) -> bool:
        """Whether there is a new one, which is used now; `SetupError`, and the old one stays, if it cannot be used."""
        stamps = self._changed_ns()
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        _load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self._tls)  # half of a pair must not come in
        _load_certificate(self._context, self._tls)
        return True

    def _changed_ns(self) -> list[int]:
        paths = [Path(path) for path in (self._tls.certfile, self._tls.keyfile)]
        return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]


def _load_certificate(context: ssl.SSLContext, tls: Tls) -> None:
    for path in (tls.certfile, tls.keyfile):
        _check_readable(path)
    try:
        context.load_cert_chain(tls.certfile, tls.keyfile, password=_no_password)
    except ssl.SSLError as error:
        message = f"The certificate {tls.certfile} and the key {tls.keyfile} cannot be used: {_why(error)}."
        hint = "Both must be PEM files, the key that of the certificate, and not protected by a password."
        raise SetupError(message, hint=hint) from error


def _require_clients(context: ssl.SSLContext, client_ca: str) -> None:
    _check_readable(client_ca)
    try:
        context.load_verify_locations(client_ca)
    except ssl.SSLError as error:
        message = f"No certificate was found in {client_ca}: {_why(error)}."
        raise SetupError(message, hint="It must be a PEM file with the authorities of the clients.") from error
    context.verify_mode = ssl.CERT_REQUIRED


def _check_readable(path: str) -> None:
    try:
        Path(path).read_bytes()
    except OSError as error:
        message = f"The file {path} cannot be read: {error.strerror}."
        raise SetupError(message) from error


def _no_password() -> str:
    """Without it OpenSSL would ask on the terminal, and wait."""
    return ""


def _why(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")
