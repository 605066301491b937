"""Observing a cluster: what is asked again when an answer does not fit, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from warren.errors import SourceError
from warren.sources.observing import Listing, Observer, Offsets, Partition

HOUR_S = 3600.0


@dataclass
class Cluster:
    """A cluster in which topics come and go: where each partition ends, None without a leader."""

    ends: dict[Partition, int | None]
    topic_ids: dict[str, str] = field(default_factory=lambda: {"orders": "first"})
    last_stable: dict[Partition, int] = field(default_factory=dict)
    is_down: bool = False
    listed: int = 0

    def list_topics(self) -> Listing:
        self.listed += 1
        self._answer()
        led = {one for one, end in self.ends.items() if end is not None}
        return Listing("kafka-1", sorted(self.ends), led, dict(self.topic_ids))

    def offsets(self, partitions: list[Partition]) -> Offsets:
        self._answer()
        if any(one in self.ends and self.ends[one] is None for one in partitions):
            message = "Not leader for partition."  # as librdkafka says it for all of them, the first time
            raise SourceError(message)
        ends = {one: end for one in partitions if (end := self.ends.get(one)) is not None}
        return Offsets(1_000, ends, {**ends, **self.last_stable}, dict.fromkeys(ends, 0))

    def _answer(self) -> None:
        if self.is_down:
            message = "Nobody answers."
            raise SourceError(message)


def told(observer: Observer, *columns: str) -> list[tuple[object, ...]]:
    batch = observer.observe().to_pydict()
    return list(zip(*(batch[name] for name in columns), strict=True))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster({("orders", 0): 10, ("orders", 1): 20})


@pytest.fixture
def observer(cluster: Cluster) -> Observer:
    """One that has looked once."""
    observer = Observer(cluster, HOUR_S)
    observer.observe()
    return observer


def test_while_everything_fits_topics_are_listed_once(cluster: Cluster, observer: Observer) -> None:
    cluster.ends[("orders", 0)] = 11

    assert told(observer, "partition", "end", "has_leader") == [(0, 11, True), (1, 20, True)]
    assert cluster.listed == 1


def test_topics_are_listed_again_after_topic_refresh(cluster: Cluster) -> None:
    observer = Observer(cluster, 0.0)
    for _ in range(3):
        observer.observe()

    assert cluster.listed == 3


def test_a_lost_leader_is_told_at_once(cluster: Cluster, observer: Observer) -> None:
    cluster.ends[("orders", 1)] = None

    assert told(observer, "end", "log_start", "last_stable", "has_leader") == [(10, 0, 10, True), (-1, -1, -1, False)]
    assert cluster.listed == 2


def test_a_leader_that_is_back_is_noticed_at_the_next_observation(cluster: Cluster, observer: Observer) -> None:
    cluster.ends[("orders", 1)] = None
    observer.observe()
    cluster.ends[("orders", 1)] = 25

    assert told(observer, "end", "has_leader") == [(10, True), (25, True)]


def test_a_deleted_topic_is_gone_at_once(cluster: Cluster, observer: Observer) -> None:
    cluster.ends = {("bills", 0): 1}

    assert told(observer, "topic") == [("bills",)]


def test_a_topic_made_again_has_its_new_id_at_once_if_it_ends_earlier(cluster: Cluster, observer: Observer) -> None:
    cluster.ends, cluster.topic_ids = {("orders", 0): 3}, {"orders": "second"}

    assert told(observer, "partition", "end", "topic_id") == [(0, 3, "second")]
    observer.observe()
    assert cluster.listed == 2, "where it ends now is known"


def test_an_id_is_told_only_when_it_was_asked_for(cluster: Cluster) -> None:
    """It may be another topic by now, and the next worker process may know that already."""
    observer = Observer(cluster, HOUR_S)

    assert told(observer, "topic_id") == [("first",), (None,)]
    assert told(observer, "topic_id") == [(None,), (None,)]


def test_ids_of_an_observation_that_failed_are_asked_for_again(cluster: Cluster) -> None:
    class Failing(Cluster):
        def offsets(self, partitions: list[Partition]) -> Offsets:
            message = "Nobody answers."
            raise SourceError(message)

    failing = Failing(cluster.ends)
    observer = Observer(failing, HOUR_S)
    with pytest.raises(SourceError):
        observer.observe()
    failing.offsets = cluster.offsets  # type: ignore[method-assign]

    assert told(observer, "topic_id") == [("first",), (None,)]


def test_without_ids_the_observation_is_told_all_the_same(cluster: Cluster) -> None:
    cluster.topic_ids = {}

    assert told(Observer(cluster, HOUR_S), "end", "topic_id") == [(10, None), (20, None)]


def test_an_end_that_cannot_be_had_is_asked_for_twice_and_then_told_as_unknown(cluster: Cluster) -> None:
    class Hiding(Cluster):
        def offsets(self, partitions: list[Partition]) -> Offsets:
            answer = super().offsets(partitions)
            answer.ends.pop(("orders", 1))
            return answer

    hiding = Hiding(cluster.ends)

    assert told(Observer(hiding, HOUR_S), "end", "last_stable", "has_leader") == [(10, 10, True), (-1, -1, True)]
    assert hiding.listed == 2


def test_an_open_transaction_shows(cluster: Cluster, observer: Observer) -> None:
    cluster.last_stable[("orders", 0)] = 7

    assert told(observer, "end", "last_stable") == [(10, 7), (20, 20)]


def test_what_became_stable_after_the_end_was_asked_for_is_not_told(cluster: Cluster, observer: Observer) -> None:
    cluster.last_stable[("orders", 0)] = 15

    assert told(observer, "end", "last_stable") == [(10, 10), (20, 20)]


def test_a_cluster_that_does_not_answer_is_no_empty_observation(cluster: Cluster, observer: Observer) -> None:
    cluster.is_down = True

    with pytest.raises(SourceError):
        observer.observe()
    with pytest.raises(SourceError):
        Observer(cluster, HOUR_S).observe()


def test_the_cluster_id_is_in_the_first_row(cluster: Cluster, observer: Observer) -> None:
    assert told(observer, "cluster_id") == [("kafka-1",), (None,)]


def test_a_cluster_without_topics_is_observed(cluster: Cluster) -> None:
    cluster.ends = {}

    assert told(Observer(cluster, HOUR_S), "topic", "cluster_id") == []
