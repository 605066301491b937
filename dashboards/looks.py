"""Words, numbers and colours of statuses, the same on every dashboard."""

from __future__ import annotations

from collections.abc import Mapping

from grafana_foundation_sdk.models.dashboard import ValueMap, ValueMapping, ValueMappingResult

OK, WARN, ERR = "#8ec9c1", "#ffe14d", "#8c0f2e"
STALL, REWIND, UNKNOWN = "#e8722a", "#5a3fa8", "#808080"
"""Far enough apart for people who see fewer colours; a test measures it."""

COLOURS = {
    "OK": OK,
    "WARN": WARN,
    "ERR": ERR,
    "STOP": ERR,
    "STALL": STALL,
    "REWIND": REWIND,
    "NOT_FOUND": UNKNOWN,
    "REWIND or unknown": UNKNOWN,
}

BURROW_CODES = {1: "OK", 2: "WARN", 3: "ERR", 4: "STOP", 5: "STALL", 6: "REWIND"}
"""As `/metrics` numbers them, of groups and of partitions."""

TELEGRAF_CODES = {
    0: "REWIND or unknown",
    1: "OK",
    2: "NOT_FOUND",
    3: "WARN",
    4: "ERR",
    5: "STOP",
    6: "STALL",
    7: "REWIND",
}
"""As telegraf's plugin numbers them; it has no number for REWIND, and Warren's sinks send 7."""

YES_NO = {0: ("no", ERR), 1: ("yes", OK)}


def status_mappings(codes: Mapping[int, str]) -> list[ValueMapping]:
    """Show codes as coloured words."""
    return _mapped({str(code): (word, COLOURS[word]) for code, word in codes.items()})


def yes_no_mappings() -> list[ValueMapping]:
    """Show 1 and 0 as coloured words."""
    return _mapped({str(value): shown for value, shown in YES_NO.items()})


def _mapped(shown: Mapping[str, tuple[str, str]]) -> list[ValueMapping]:
    options = {
        value: ValueMappingResult(text=text, color=colour, index=index)
        for index, (value, (text, colour)) in enumerate(shown.items())
    }
    return [ValueMap(options=options)]
