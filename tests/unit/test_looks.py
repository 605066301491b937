"""Looks at a place that has no log: pictures come in, and groups are judged by what is new in them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.scenario import commit_table, head_table
from warren.clusters.keeper import Keeper
from warren.clusters.progress import Polled
from warren.clusters.state import ClusterState
from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView, Member, Partition
from warren.model import Status
from warren.places.looks import Mark
from warren.rules.rule import Settings
from warren.sources.picture import BadNode, Commit, Picture, picture_rows
from warren.windows.rows import COMMIT_ROWS, Unreadable
from warren.windows.store import Limits

T0_MS = 1_767_225_600_000
GROUP, TOPIC = "billing", "orders"
ZK, ADMIN = Polled(Mark.ORDER, 10_000), Polled(Mark.OFFSET, 10_000, is_of_brokers=True)
ROOT = "5-1a"


def ms(second: float) -> int:
    return T0_MS + int(second * 1000)


class Place:
    """A place with one consumer module, looked at whenever the test says."""

    def __init__(self, polled: Polled = ZK, topics: dict[str, str] | None = None) -> None:
        self.polled, self.topics = polled, topics or {}
        self.state = self.new_state()
        self.nodes: dict[tuple[str, int], Commit] = {}
        self.root = ROOT
        self.zxid = 1_000
        self.views: dict[str, GroupView] = {}
        self.heads(0, 100)

    def new_state(self) -> ClusterState:
        return ClusterState("c", Limits(intervals=3), Settings(), self.topics, polled={"place": self.polled})

    def heads(self, second: float, *ends: int) -> None:
        self.state.apply_head_rows(head_table({TOPIC: list(ends)}, ms(second)), now_ms=ms(second))

    def write(self, second: float, offset: int, partition: int = 0, group: str = GROUP) -> None:
        self.zxid += 1
        self.nodes[group, partition] = Commit(group, TOPIC, partition, offset, ms(second), self.zxid)

    def look(self, second: float, *unreadable: Unreadable, bad: tuple[BadNode, ...] = ()) -> None:
        unread = [one.group for one in unreadable]
        picture = Picture(self.root, list(self.nodes.values()), list(unreadable), list(bad), self.views, unread)
        rows = picture_rows(picture, looked_ms=ms(second))
        self.state.apply_look_rows("place", pa.Table.from_batches([rows]), now_ms=ms(second))

    def window(self, partition: int = 0, group: str = GROUP) -> list[tuple[int, int]]:
        """Offsets and the seconds at which they were committed."""
        verdict = self.state.judge(group, now_ms=ms(1_000))
        found = verdict.partitions[partition].entries if verdict else []
        return [(one.offset, (one.timestamp_ms - T0_MS) // 1000) for one in found]

    def status(self, second: float, group: str = GROUP) -> Status:
        verdict = self.state.judge(group, now_ms=ms(second))
        assert verdict
        return verdict.partitions[0].status


# -- what is a commit ------------------------------------------------------------------------------------------------


def test_a_node_that_was_not_written_is_no_commit() -> None:
    place = Place()
    place.write(1, 10)
    for second in (2, 12, 22):
        place.look(second)

    assert place.window() == [(10, 1)]


def test_a_node_written_again_with_the_same_offset_is_a_commit() -> None:
    place = Place()
    for second in (1, 11, 21):
        place.write(second, 10)
        place.look(second + 1)

    assert place.window() == [(10, 1), (10, 11), (10, 21)]


def test_a_look_that_comes_twice_changes_nothing() -> None:
    place = Place()
    place.write(1, 10)
    place.look(2)
    place.look(2)

    assert place.window() == [(10, 1)]


def test_a_batch_before_the_first_look_says_nothing() -> None:
    place = Place()
    place.state.apply_look_rows("place", COMMIT_ROWS.empty_table(), now_ms=ms(1))

    assert not place.state.has_caught_up


def test_an_older_state_from_a_server_that_is_behind_is_not_taken() -> None:
    place = Place()
    place.write(1, 10)
    before = dict(place.nodes)
    place.write(5, 20)
    place.look(6)
    place.nodes = before
    place.look(7)

    assert place.window() == [(20, 5)]


def test_an_ensemble_that_is_made_anew_begins_anew() -> None:
    place = Place()
    place.write(1, 10)
    place.look(2)
    place.root, place.zxid = "2-2b", 5
    place.write(20, 3)
    place.look(21)

    assert place.window() == [(3, 20)]


def test_a_time_in_the_future_is_that_of_the_look() -> None:
    place = Place()
    place.write(5_000, 10)
    place.look(2)

    assert place.window() == [(10, 2)]


# -- what is gone ----------------------------------------------------------------------------------------------------


def test_a_partition_that_is_gone_is_forgotten_and_the_others_stay() -> None:
    place = Place()
    place.heads(0, 100, 100)
    place.write(1, 10, 0)
    place.write(1, 20, 1)
    place.look(2)
    del place.nodes[GROUP, 0]
    place.look(12)

    assert (place.window(0), place.window(1)) == ([], [(20, 1)])


def test_a_group_that_is_gone_is_forgotten_with_its_owners() -> None:
    place = Place()
    place.views = {GROUP: owned_by("host-1")}
    place.write(1, 10)
    place.look(2)
    place.nodes, place.views = {}, {}
    place.look(12)

    assert place.state.groups() == []
    assert place.state.groups_without_offsets() == []


def test_a_group_that_was_deleted_by_people_comes_back_only_when_it_commits() -> None:
    for polled in (ZK, ADMIN):
        place = Place(polled)
        place.write(1, 10)
        place.look(2)
        place.state.delete_group(GROUP)
        place.look(12)
        assert place.state.groups() == []

        place.write(20, 11)
        place.look(22)
        assert place.state.groups() == [GROUP]


@pytest.mark.parametrize("unreadable", [Unreadable(GROUP), Unreadable(GROUP, TOPIC), Unreadable(GROUP, TOPIC, 0)])
def test_what_cannot_be_read_is_not_gone_but_stale(unreadable: Unreadable) -> None:
    place = Place()
    place.write(1, 10)
    place.look(2)
    place.write(11, 20)
    place.look(12)
    place.nodes = {}
    place.look(22, unreadable)
    place.look(200, unreadable)

    assert place.window() == [(10, 1), (20, 11)]
    assert place.state.stale_since_ms(GROUP, now_ms=ms(201)) == ms(12)
    assert place.status(201) != Status.STOP  # nothing says so


def test_a_bad_node_is_counted_once_for_each_time_that_it_is_written() -> None:
    place = Place()
    for second, zxid in ((1, 7), (2, 7), (3, 9)):
        place.look(second, bad=(BadNode("/a/b", zxid, "offset node", "'x' is not an offset"),))

    assert place.state.skipped() == {"offset node": 2}
    assert place.state.poison()[0].detail == "/a/b: 'x' is not an offset"


# -- the rules -------------------------------------------------------------------------------------------------------


def judged(*commits: tuple[int, int, int], quiet_until: int = 0) -> Status:
    """The status after commits (second, offset, end of the topic), each seen by a look a second later."""
    place = Place()
    last = 0
    for second, offset, end in commits:
        place.heads(second - 0.5, end)
        place.write(second, offset)
        place.heads(second + 0.5, end)
        place.look(second + 1)
        last = second + 1
    for second in range(last, quiet_until, 10):
        place.heads(second, commits[-1][2])
        place.look(second)
    return place.status(max(last, quiet_until))


@pytest.mark.parametrize(
    ("commits", "quiet_until", "status"),
    [
        pytest.param([(10, 10, 10), (20, 20, 20), (30, 30, 30)], 0, Status.OK, id="at the end"),
        pytest.param([(10, 10, 15), (20, 20, 30), (30, 30, 50)], 0, Status.WARN, id="falls behind"),
        pytest.param([(10, 10, 50), (20, 20, 50), (30, 30, 50)], 200, Status.STOP, id="silent with a lag"),
        pytest.param([(10, 10, 50), (20, 10, 50), (30, 10, 50)], 0, Status.STALL, id="the same offset again"),
        pytest.param([(10, 30, 50), (20, 20, 50), (30, 10, 50)], 0, Status.REWIND, id="goes back"),
        pytest.param([(10, 10, 10), (20, 20, 20), (30, 30, 30)], 200, Status.OK, id="silent without a lag"),
    ],
)
def test_every_rule_holds_for_what_is_looked_at(
    commits: list[tuple[int, int, int]], quiet_until: int, status: Status
) -> None:
    assert judged(*commits, quiet_until=quiet_until) == status


def test_silence_counts_only_up_to_the_last_look() -> None:
    place = Place()
    for second in (1, 11, 21):
        place.heads(second, 50)
        place.write(second, second)
        place.look(second + 1)

    assert place.status(45) == Status.OK  # nobody has looked since second 22
    place.look(60)
    assert place.status(61) == Status.STOP


def test_a_place_that_is_not_looked_at_any_more_is_stale() -> None:
    place = Place()
    place.write(1, 10)
    place.look(2)

    assert place.state.stale_since_ms(GROUP, now_ms=ms(50)) is None
    assert place.state.stale_since_ms(GROUP, now_ms=ms(100)) == ms(2)


# -- the Admin API ---------------------------------------------------------------------------------------------------


def test_an_unchanged_offset_that_the_brokers_tell_is_no_commit_and_a_changed_one_is_of_the_look() -> None:
    place = Place(ADMIN)
    for second, offset in ((10, 5), (20, 5), (30, 7), (40, 6)):
        place.write(second, offset)
        place.look(second)

    assert place.window() == [(5, 10), (7, 30), (6, 40)]


def test_a_clock_that_is_put_back_does_not_hide_commits_that_the_brokers_tell() -> None:
    place = Place(ADMIN)
    for second, offset in ((30, 5), (10, 6), (11, 7)):
        place.write(second, offset)
        place.look(second)

    assert [offset for offset, _ in place.window()] == [5, 6, 7]


# -- members ---------------------------------------------------------------------------------------------------------


def owned_by(host: str) -> GroupView:
    member = Member(host, "client", host, None, [Partition(TOPIC, None, 0)])
    return GroupView(GroupType.SIMPLE, GroupState.STABLE, None, [member], {})


def test_owners_change_without_a_commit() -> None:
    place = Place()
    place.write(1, 10)
    for second, host in ((2, "host-1"), (12, "host-2")):
        place.views = {GROUP: owned_by(host)}
        place.look(second)

    verdict = place.state.judge(GROUP, now_ms=ms(13))
    assert verdict
    assert verdict.partitions[0].owner.host == "host-2"
    assert [one.host for one in place.state.group_view(GROUP).members] == ["host-2"]


# -- several places --------------------------------------------------------------------------------------------------


def both() -> Place:
    """A cluster whose offsets topic is read, too."""
    return Place(topics={"log": "__consumer_offsets"})


def commit_in_log(place: Place, second: float, offset: int, order: int, group: str = GROUP) -> None:
    table = commit_table((group, TOPIC, 0, offset, ms(second)), first_order=order)
    place.state.apply_commit_rows("log", table, now_ms=ms(second))


def test_groups_of_two_places_are_told_side_by_side() -> None:
    place = both()
    place.write(1, 10, group="in-zookeeper")
    place.look(2)
    commit_in_log(place, 3, 20, 0, "in-kafka")

    assert place.window(group="in-zookeeper") == [(10, 1)]
    assert place.window(group="in-kafka") == [(20, 3)]


def test_a_group_that_commits_in_two_places_is_followed_in_the_first() -> None:
    place = both()
    for number, second in enumerate((1, 11, 21)):
        place.write(second, second)
        place.look(second)
        commit_in_log(place, second + 1, second, number)

    assert place.window() == [(1, 1), (11, 11), (21, 21)]


def test_a_group_that_has_moved_is_followed_to_where_it_is_now() -> None:
    place = both()
    place.write(1, 10)
    place.look(2)
    commit_in_log(place, 700, 500, 0)
    place.look(701)

    assert place.window() == [(500, 700)]
    assert place.state.is_of_brokers(GROUP)


def test_a_group_that_has_moved_has_no_owners_of_where_it_was() -> None:
    place = both()
    place.views = {GROUP: owned_by("host-1")}
    place.write(1, 10)
    place.look(2)
    commit_in_log(place, 700, 500, 0)
    place.look(701)
    assert place.state.group_view(GROUP).members == []

    place.write(1_500, 900)
    place.look(1_501)
    assert [one.host for one in place.state.group_view(GROUP).members] == ["host-1"]


def test_a_group_of_zookeeper_is_none_of_the_brokers() -> None:
    place = both()
    place.write(1, 10)
    place.look(2)

    assert not place.state.is_of_brokers(GROUP)


def test_reading_the_offsets_topic_again_leaves_what_is_looked_at() -> None:
    place = both()
    place.write(1, 10, group="in-zookeeper")
    place.look(2)
    commit_in_log(place, 3, 20, 0, "in-kafka")
    place.state.start_over("log")

    assert place.state.groups() == ["in-zookeeper"]


def test_a_place_that_is_not_read_makes_only_its_own_groups_stale() -> None:
    place = both()
    place.write(1, 10, group="in-zookeeper")
    place.look(2)
    commit_in_log(place, 3, 20, 0, "in-kafka")

    assert place.state.stale_since_ms("in-zookeeper", now_ms=ms(100)) == ms(2)
    assert place.state.stale_since_ms("in-kafka", now_ms=ms(100)) is None


# -- over restarts ---------------------------------------------------------------------------------------------------


def restart(place: Place, directory: Path, second: float) -> None:
    Keeper({"c": place.state}, directory, 1, lambda: ms(second)).save()
    place.state = place.new_state()
    Keeper({"c": place.state}, directory, 1, lambda: ms(second)).restore()


@pytest.mark.parametrize("polled", [ZK, ADMIN])
def test_after_a_restart_nothing_is_doubled_and_nothing_is_lost(polled: Polled, tmp_path: Path) -> None:
    place = Place(polled)
    place.write(1, 10)
    place.write(1, 10, group="leaving")
    place.look(2)
    restart(place, tmp_path, 3)
    del place.nodes["leaving", 0]
    place.look(12)
    place.write(20, 20)
    place.look(22)

    assert [offset for offset, _ in place.window()] == [10, 20]
    assert place.state.groups() == [GROUP]


def test_after_a_restart_each_place_holds_what_it_held(tmp_path: Path) -> None:
    place = both()
    place.write(1, 10)
    place.look(2)
    restart(place, tmp_path, 3)
    commit_in_log(place, 4, 10, 0)

    assert place.window() == [(10, 1)]


def test_what_came_from_a_place_that_is_no_longer_configured_is_forgotten(tmp_path: Path) -> None:
    place = both()
    place.write(1, 10, group="in-zookeeper")
    place.look(2)
    commit_in_log(place, 3, 20, 0, "in-kafka")
    Keeper({"c": place.state}, tmp_path, 1, lambda: ms(4)).save()
    alone = ClusterState("c", Limits(intervals=3), Settings(), place.topics)
    Keeper({"c": alone}, tmp_path, 1, lambda: ms(4)).restore()

    assert alone.groups() == ["in-kafka"]
