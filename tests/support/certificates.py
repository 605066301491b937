"""Certificates for tests, made by openssl: an authority, and what it has signed."""

from __future__ import annotations

import subprocess
from pathlib import Path

EXTENSIONS = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n"


class Authority:
    """An authority with its files in a directory."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = name
        self.pem, self._key = directory / f"{name}.pem", directory / f"{name}.key"
        _openssl("req", "-x509", *_new_key(self._key), "-out", self.pem, "-days", "2", "-subj", f"/CN={name}")

    def sign(self, name: str) -> tuple[Path, Path]:
        """A certificate and its key."""
        pem, key, request, extensions = (self._directory / f"{name}.{kind}" for kind in ("pem", "key", "csr", "ext"))
        extensions.write_text(EXTENSIONS)
        _openssl("req", *_new_key(key), "-out", request, "-subj", f"/CN={name}")
        by = ("-CA", self.pem, "-CAkey", self._key, "-CAcreateserial")
        _openssl("x509", "-req", "-in", request, *by, "-days", "2", "-extfile", extensions, "-out", pem)
        return pem, key


def protected(key: Path) -> Path:
    """The same key, behind a password."""
    path = key.with_suffix(".protected")
    _openssl("ec", "-in", key, "-aes256", "-passout", "pass:hunter2", "-out", path)
    return path


def _new_key(path: Path) -> tuple[str | Path, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
