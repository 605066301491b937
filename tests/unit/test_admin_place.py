"""Asking the brokers for what groups have committed: which are asked, how fast, and what is made of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from warren.errors import SourceError
from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView
from warren.sources.admin import MOST_FAILURES, AdminOptions, AdminPlace, CommittedOffset, Listed
from warren.windows.rows import Unreadable


@dataclass
class Brokers:
    """Groups and what they have committed; a group that is `down` cannot be asked for."""

    committed: dict[str, list[CommittedOffset]]
    down: set[str] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    def groups(self) -> list[Listed]:
        return [Listed(name, self.types.get(name, "CLASSIC"), True) for name in self.committed]

    def offsets(self, group: str) -> Callable[[], list[CommittedOffset]]:
        self.asked.append(group)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        return lambda: self._answer(group)

    def _answer(self, group: str) -> list[CommittedOffset]:
        self.under_way -= 1
        if group in self.down:
            message = "Timed out."
            raise SourceError(message)
        return self.committed[group]

    def views(self, groups: Sequence[Listed]) -> dict[str, GroupView]:
        return {one.name: GroupView(GroupType.SIMPLE, GroupState.EMPTY, None, [], {}) for one in groups}


def place(brokers: Brokers, slept_s: list[float] | None = None, **settings: object) -> AdminPlace:
    options = AdminOptions({}, 10.0)._replace(**settings)  # type: ignore[arg-type]
    return AdminPlace(options, brokers, (slept_s if slept_s is not None else []).append)


def test_a_commit_has_the_time_of_the_look() -> None:
    picture = place(Brokers({"g": [CommittedOffset("t", 3, 7)]})).look(1_000)

    assert picture.commits == [("g", "t", 3, 7, 1_000, 1_000)]
    assert picture.views.keys() == {"g"}


def test_groups_that_are_not_wanted_are_not_asked_for() -> None:
    brokers = Brokers({"good": [], "bad": [], "other": []})
    place(brokers, allow=("good|bad",), deny=("bad",)).look(0)

    assert brokers.asked == ["good"]


def test_share_groups_are_not_asked_for() -> None:
    brokers = Brokers({"g": [], "shared": []}, types={"shared": "SHARE"})
    place(brokers).look(0)

    assert brokers.asked == ["g"]


def test_a_cluster_without_groups_is_asked_for_no_offsets() -> None:
    brokers = Brokers({})

    assert place(brokers).look(0).commits == []
    assert brokers.asked == []


def test_a_partition_that_cannot_be_told_is_not_gone() -> None:
    picture = place(Brokers({"g": [CommittedOffset("t", 3, -1)]})).look(0)

    assert (picture.commits, picture.unreadable) == ([], [Unreadable("g", "t", 3)])


def test_a_group_that_cannot_be_asked_for_is_told_and_the_others_are_asked() -> None:
    brokers = Brokers({"a": [], "g": [CommittedOffset("t", 0, 1)]}, down={"a"})
    picture = place(brokers).look(0)

    assert [one.group for one in picture.commits] == ["g"]
    assert (picture.unreadable, picture.unread) == ([Unreadable("a")], ["a"])
    assert [(one.path, one.kind, one.why) for one in picture.bad] == [("a", "not readable", "Timed out.")]


def test_when_too_many_cannot_be_asked_for_the_look_has_failed() -> None:
    names = [f"g{number}" for number in range(MOST_FAILURES)]
    brokers = Brokers({name: [] for name in names}, down=set(names))

    with pytest.raises(SourceError, match=r"100 groups could not be asked for; the last of them: Timed out\."):
        place(brokers).look(0)


def test_no_more_questions_are_under_way_and_asked_in_a_second_than_are_allowed() -> None:
    slept_s: list[float] = []
    brokers = Brokers({f"g{number}": [] for number in range(5_000)})
    place(brokers, slept_s, groups_per_second=500, in_flight=20).look(0)

    assert len(brokers.asked) == 5_000
    assert brokers.most_under_way == 20
    assert sum(slept_s) >= 2 * 5_000 / 500 - 1  # offsets, and then descriptions
