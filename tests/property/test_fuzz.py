"""Any bytes in the offsets topic give rows or a counted error; `make fuzz` asks the same for as long as you like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import target

kinds = st.integers(0, 25).map(lambda kind: bytes([kind]))
parts = st.builds(bytes.__add__, kinds, st.binary(min_size=3, max_size=30))
recipes = st.lists(parts, min_size=1, max_size=target.MOST_RECORDS).map(b"".join)
sound = st.lists(st.integers(0, 23).map(target.recipe_of), min_size=1, max_size=target.MOST_RECORDS).map(b"".join)


# Each example goes through a whole cluster state and a snapshot, which takes ten times as long as decoding alone.
@given(recipes | sound)
def test_any_bytes_in_the_offsets_topic_are_told_or_counted(data: bytes) -> None:
    target.run(data)


def test_a_sound_record_of_every_type_is_one_that_the_recipes_know() -> None:
    for kind in set(range(24)) - {9, 18}:
        [(key, value)] = target.records_of(target.recipe_of(kind))

        assert key is not None
        assert value == target.VALUES[kind][0]
        assert not +target.expected_of([(key, value)]).skipped


@pytest.mark.long
def test_a_fuzzer_that_looks_for_new_paths_finds_nothing_either() -> None:
    """The same target, guided by coverage: `make fuzz`."""
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", "300"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=600, check=False
    )

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-8000:]
