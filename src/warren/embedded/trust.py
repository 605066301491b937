"""Gives a Java the certificate authorities that this machine trusts.

A Java from PyPI or from an archive brings its own list and does not know a company's own authority, though the machine,
Python and pip do. Java reads no PEM, so the list is written in its old key store format, which needs no tool.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
import time
from collections.abc import Sequence
from pathlib import Path

MAGIC = 0xFEEDFEED
VERSION = 2
TRUSTED_CERTIFICATE = 2
PASSWORD = "changeit"  # Java's customary one; nothing here is secret, it only seals the file


def trust_options(path: Path) -> list[str]:
    """Write the machine's authorities to `path` and return the options that make a Java use them."""
    path.write_bytes(key_store(ssl.create_default_context().get_ca_certs(binary_form=True)))
    prefix = "-Djavax.net.ssl.trustStore"
    return [f"{prefix}={path}", f"{prefix}Password={PASSWORD}", f"{prefix}Type=JKS"]


def key_store(certificates: Sequence[bytes]) -> bytes:
    """The DER `certificates` as a JKS trust store."""
    now_ms = int(time.time() * 1000)
    body = struct.pack(">III", MAGIC, VERSION, len(certificates))
    for number, certificate in enumerate(certificates):
        body += struct.pack(">I", TRUSTED_CERTIFICATE) + _text(str(number)) + struct.pack(">Q", now_ms)
        body += _text("X.509") + struct.pack(">I", len(certificate)) + certificate
    seal = hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body)  # as the format demands
    return body + seal.digest()


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()
