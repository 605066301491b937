"""JSON as Go writes it, byte for byte: clients of Burrow compare, hash and cache these bodies."""

from __future__ import annotations

import json

# Go escapes what could end a script or a line in a page; everything else outside ASCII stays as it is.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def dumps(value: object) -> bytes:
    """Encode; integers that come as floats print without a fraction (`1`, not `1.0`)."""
    text = json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False)
    return text.translate(_ESCAPES).encode("utf-8", "replace")


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
