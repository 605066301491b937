"""Any bytes in the offsets topic give rows or a counted error; `make fuzz` asks the same for as long as you like."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import target

kinds = st.integers(0, 25).map(lambda kind: bytes([kind]))
parts = st.builds(bytes.__add__, kinds, st.binary(min_size=3, max_size=30))
recipes = st.lists(parts, min_size=1, max_size=target.MOST_RECORDS).map(b"".join)
sound = st.lists(st.integers(0, 23).map(target.recipe_of), min_size=1, max_size=target.MOST_RECORDS).map(b"".join)


# Each example goes through a whole cluster state and a snapshot, which takes ten times as long as decoding alone.
@settings(max_examples=400)
@given(recipes | sound)
def test_any_bytes_in_the_offsets_topic_are_told_or_counted(data: bytes) -> None:
    target.run(data)


def test_a_sound_record_of_every_type_is_one_that_the_recipes_know() -> None:
    for kind in set(range(24)) - {9, 18}:
        [(key, value)] = target.records_of(target.recipe_of(kind))

        assert key is not None
        assert value == target.VALUES[kind][0]
        assert not +target.expected_of([(key, value)]).skipped
