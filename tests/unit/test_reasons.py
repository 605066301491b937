"""Every reason that Warren gives, in one file: the page has each in other languages, too."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from warren.rules.conditions import conditions_of
from warren.rules.reasons import reason
from warren.rules.rule import Rule, Settings
from warren.serve.v1 import answers
from warren.windows.rings import Entry
from warren.windows.views import GroupWindows

SAMPLES = Path(__file__).parent.parent / "data" / "reasons.json"
T_MS = 1_767_225_600_000


def entries(*offsets: int, lags: tuple[int | None, ...] = ()) -> list[Entry]:
    return [
        Entry(offset, T_MS + 10_000 * i, T_MS, (lags or (7, 12_345, 20))[i % 3], 0) for i, offset in enumerate(offsets)
    ]


def conditions(**windows: list[int] | list[bool]) -> list[str]:
    of_one = cast(GroupWindows, SimpleNamespace(length=[1], **windows))
    return [one.says for one in conditions_of(of_one, 0, T_MS + 500_000)]


def said() -> list[str]:
    settings, now_ms = Settings(allowed_lag=50), T_MS + 500_000
    back = entries(50, 1_020, 30)
    windows = {Rule.REWOUND: back, Rule.WENT_BACK: back}
    texts = [reason(rule, windows.get(rule, entries(10, 20, 30)), 12_345, settings, now_ms) for rule in Rule]
    texts += [
        reason(Rule.NO_COMMIT, [], 0, settings, now_ms),
        reason(Rule.CAUGHT_UP, entries(10), 0, settings, now_ms),
        reason(Rule.FALLING_BEHIND, entries(10, 20, lags=(None, None, None)), 12_345, settings, now_ms),
        reason(Rule.SILENT, entries(10, 20), 12_345, settings, now_ms),
        reason(Rule.USUAL_LAG, entries(10, 20), 1, settings, now_ms),
    ]
    odd = {"has_leader": [False], "is_of_another": [True], "held_since_ms": [T_MS], "last_stable": [30]}
    texts += conditions(**odd, newest_offset=[30], head=[40], readable_end=[30], log_start=[12_375])
    texts += conditions(**odd, newest_offset=[40], head=[30], readable_end=[30], log_start=[0])
    notes = [answers.SHARE_NOTE, answers.NO_OFFSETS_NOTE, answers.HELD, answers.UNREAD, answers.NOT_LOOKED_AT]
    return sorted({*texts, *notes, answers.RESTORED})


def test_the_file_has_every_reason() -> None:
    """`python -m tests.unit.test_reasons` writes it; then web/src/i18n/reasons.ts must know the new ones."""
    assert json.loads(SAMPLES.read_text()) == said()


@pytest.mark.parametrize("rule", list(Rule))
def test_every_rule_has_a_reason_with_its_numbers(rule: Rule) -> None:
    assert reason(rule, entries(50, 1_020, 30), 12_345, Settings(), T_MS + 500_000)


if __name__ == "__main__":
    SAMPLES.write_text(json.dumps(said(), indent=1, ensure_ascii=False) + "\n")
