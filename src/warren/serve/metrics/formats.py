"""Which of the text formats a scraper gets, and whether compressed: by what it says it accepts."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """A text format."""

    content_type: str
    is_openmetrics: bool


TEXT = Format("text/plain; version=0.0.4; charset=utf-8", is_openmetrics=False)
OPENMETRICS = Format("application/openmetrics-text; version=1.0.0; charset=utf-8", is_openmetrics=True)


def chosen_format(accept: str) -> Format:
    """OpenMetrics for those who like it better than plain text, or as much and name it; plain text for all others."""
    liked = _liked(accept)
    openmetrics = max((q for kind, q in liked if kind == "application/openmetrics-text"), default=0.0)
    text = max((q for kind, q in liked if kind == "text/plain"), default=0.0)
    return OPENMETRICS if openmetrics > 0 and openmetrics >= text else TEXT


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the scraper reads gzip; what it names counts more than `*`."""
    liked = dict(_liked(accept_encoding))
    return liked.get("gzip", liked.get("*", 0.0)) > 0


def _liked(header: str) -> list[tuple[str, float]]:
    """What a header names, and how much it is liked (0: not at all). A version that we do not have does not count."""
    found = []
    for item in header.lower().split(","):
        kind, *parameters = (part.strip() for part in item.split(";"))
        settings = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in parameters)}
        is_ours = kind != "application/openmetrics-text" or settings.get("version", "1.0.0") == "1.0.0"
        if kind and is_ours:
            found.append((kind, _quality(settings.get("q", "1"))))
    return found


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
