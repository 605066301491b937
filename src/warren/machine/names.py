"""Names of files for what people have named."""

from __future__ import annotations

from urllib.parse import quote


def file_name(name: str) -> str:
    """A name in a directory that no other name has; simple ones stay as they are."""
    quoted = quote(name, safe="")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted
