"""What consumers and Storm's spouts leave in ZooKeeper, from a tree in memory to a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from warren.errors import SourceError
from warren.sources import storm, zookeeper, zookeeper_tree
from warren.sources.picture import Picture
from warren.sources.storm import StormPlace, decode_spout_state
from warren.sources.zookeeper import ConsumersPlace, decode_offset
from warren.sources.zookeeper_tree import ZooKeeperOptions
from warren.sources.zookeeper_wire import NO_AUTH, NO_NODE, Children, Login, Node, Refused, Stat
from warren.windows.rows import Unreadable


def stat(zxid: int, pzxid: int = 0) -> Stat:
    return Stat(zxid, zxid, zxid * 10, zxid * 10, 0, 0, 0, 0, 0, 0, pzxid)


class Ensemble:
    """Nodes by path; stands for the reader of one server."""

    def __init__(self) -> None:
        self.nodes_by_path: dict[str, tuple[bytes, int]] = {}
        self.closed: set[str] = set()
        self.asked: list[str] = []
        self._zxid = 0

    def write(self, path: str, content: str = "") -> None:
        self._zxid += 1
        parts = path.strip("/").split("/")
        for i in range(1, len(parts)):
            self.nodes_by_path.setdefault("/" + "/".join(parts[:i]), (b"", self._zxid))
        self.nodes_by_path[path] = content.encode(), self._zxid

    def children(self, paths: Sequence[str]) -> list[Children | Refused]:
        return [self._children(path) for path in paths]

    def _children(self, path: str) -> Children | Refused:
        if refused := self._refused(path):
            return refused
        prefix = path.rstrip("/") + "/"
        below = {one: zxid for one, (_, zxid) in self.nodes_by_path.items() if one.startswith(prefix)}
        names = sorted({one.removeprefix(prefix).split("/")[0] for one in below})
        return Children(names, stat(self.nodes_by_path.get(path, (b"", 0))[1], max(below.values(), default=0)))

    def nodes(self, paths: Sequence[str]) -> list[Node | Refused]:
        self.asked += paths
        return [self._refused(path) or Node(self.nodes_by_path[path][0], self._stat(path)) for path in paths]

    def _stat(self, path: str) -> Stat:
        return stat(self.nodes_by_path[path][1])

    def _refused(self, path: str) -> Refused | None:
        if path in self.closed:
            return Refused(NO_AUTH)
        return Refused(NO_NODE) if path not in self.nodes_by_path and path != "/" else None

    def sync(self, path: str) -> None:
        pass

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def ensemble(monkeypatch: pytest.MonkeyPatch) -> Ensemble:
    made = Ensemble()
    monkeypatch.setattr(zookeeper_tree, "ZooKeeperReader", lambda *_: made)
    return made


def options(root: str = "", **settings: tuple[str, ...]) -> ZooKeeperOptions:
    return ZooKeeperOptions(["zk:2181"], root, 5, 1, Login(), **settings)


def found(picture: Picture) -> list[tuple[str, str, int, int]]:
    return [one[:4] for one in picture.commits]


# -- consumers -------------------------------------------------------------------------------------------------------


def test_an_offset_is_told_with_the_time_and_the_number_of_its_last_change(ensemble: Ensemble) -> None:
    ensemble.write("/consumers/g/offsets/t/7", "42")
    picture = ConsumersPlace(options()).look(0)

    assert picture.commits == [("g", "t", 7, 42, 10, 1)]


def test_nothing_but_the_chroot_is_read(ensemble: Ensemble) -> None:
    ensemble.write("/consumers/a/offsets/t/0", "1")
    ensemble.write("/kafka/consumers/b/offsets/t/0", "2")

    assert found(ConsumersPlace(options("/kafka")).look(0)) == [("b", "t", 0, 2)]


def test_a_tree_that_is_not_there_yet_is_empty(ensemble: Ensemble) -> None:
    assert ConsumersPlace(options()).look(0) == Picture("", [], [], [], {}, [])


def test_groups_that_are_not_wanted_are_not_even_descended_into(ensemble: Ensemble) -> None:
    for group in ("good", "bad", "other"):
        ensemble.write(f"/consumers/{group}/offsets/t/0", "1")
    picture = ConsumersPlace(options(allow=("good|bad",), deny=("bad",))).look(0)

    assert found(picture) == [("good", "t", 0, 1)]
    assert ensemble.asked == ["/consumers/good/offsets/t/0"]


def test_a_group_without_offsets_has_no_commits(ensemble: Ensemble) -> None:
    ensemble.write("/consumers/g/ids")
    picture = ConsumersPlace(options()).look(0)

    assert (picture.commits, picture.bad) == ([], [])


def test_a_tree_that_may_not_be_read_is_told_with_what_to_do(ensemble: Ensemble) -> None:
    ensemble.write("/consumers/g/offsets/t/0", "1")
    ensemble.closed.add("/consumers")

    with pytest.raises(SourceError, match="does not let us read /consumers: set zookeeper-auth"):
        ConsumersPlace(options()).look(0)


@pytest.mark.parametrize(
    ("closed", "unreadable"),
    [
        ("/consumers/g/offsets", Unreadable("g")),
        ("/consumers/g/offsets/t", Unreadable("g", "t")),
        ("/consumers/g/offsets/t/0", Unreadable("g", "t", 0)),
    ],
)
def test_a_node_that_may_not_be_read_is_told_and_the_others_are_read(
    ensemble: Ensemble, closed: str, unreadable: Unreadable
) -> None:
    for group in ("g", "other"):
        ensemble.write(f"/consumers/{group}/offsets/t/0", "1")
    ensemble.closed.add(closed)
    picture = ConsumersPlace(options()).look(0)

    assert found(picture) == [("other", "t", 0, 1)]
    assert (picture.unreadable, picture.unread) == ([unreadable], ["g"])
    assert [(one.path, one.kind) for one in picture.bad] == [(closed, "not readable")]


def test_owners_are_read_again_only_when_the_list_of_them_changed(ensemble: Ensemble) -> None:
    place = ConsumersPlace(options())
    ensemble.write("/consumers/g/offsets/t/0", "1")
    ensemble.write("/consumers/g/owners/t/0", "host-1")
    place.look(0)
    ensemble.asked.clear()
    again = place.look(0)
    assert ensemble.asked == ["/consumers/g/offsets/t/0"]

    ensemble.write("/consumers/g/owners/t/0", "host-2")
    changed = place.look(0)
    hosts = [[member.host for member in picture.views["g"].members] for picture in (again, changed)]
    assert hosts == [["host-1"], ["host-2"]]


@pytest.mark.parametrize("text", [b"", b"x", b"-1", b"1.5", b"\xff", b"9223372036854775808", "٣".encode()])
def test_what_is_no_offset_is_told(text: bytes) -> None:
    with pytest.raises(ValueError, match="is not an offset"):
        decode_offset(text)


def test_white_space_around_an_offset_does_not_matter() -> None:
    assert decode_offset(b" 12\n") == 12


# -- Storm -----------------------------------------------------------------------------------------------------------


def spout(topic: str = "t", partition: int = 0, offset: int = 5, **more: object) -> str:
    state = {"topology": {"id": "1", "name": "top"}, "offset": offset, "partition": partition, "topic": topic, **more}
    return json.dumps(state)


def test_the_group_of_a_spout_is_its_id(ensemble: Ensemble) -> None:
    ensemble.write("/spouts/billing/partition_3", spout(partition=3))
    picture = StormPlace(options("/spouts")).look(0)

    assert picture.commits == [("billing", "t", 3, 5, 10, 1)]
    assert [one.client_id for one in picture.views["billing"].members] == ["top"]


def test_a_spout_of_several_topics_has_a_node_for_each(ensemble: Ensemble) -> None:
    for topic in ("t", "u"):
        ensemble.write(f"/spouts/billing/{topic}/partition_0", spout(topic))

    assert found(StormPlace(options("/spouts")).look(0)) == [("billing", "t", 0, 5), ("billing", "u", 0, 5)]


def test_a_bad_node_is_told_with_its_path_and_what_was_known_of_the_group_stays(ensemble: Ensemble) -> None:
    ensemble.write("/spouts/billing/partition_0", "{")
    ensemble.write("/spouts/other/partition_0", spout())
    picture = StormPlace(options("/spouts")).look(0)

    assert found(picture) == [("other", "t", 0, 5)]
    assert [(one.path, one.kind) for one in picture.bad] == [("/spouts/billing/partition_0", "spout node")]
    assert (picture.unreadable, picture.unread) == ([Unreadable("billing")], [])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "topic is missing"),
        (spout(offset=-1), "offset is missing, or no number"),
        (spout(offset=True), "offset is missing, or no number"),
        (spout(topic=""), "topic is missing"),
        (spout(partition=1), "it is of partition 1"),
    ],
)
def test_what_no_spout_writes_is_told(content: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode_spout_state(content.encode(), 0)


def test_a_spout_without_a_topology_has_no_member() -> None:
    assert decode_spout_state(spout(topology=None).encode(), 0).topology == ""


def test_options_travel_as_text() -> None:
    told = options("/kafka", allow=("a",))._replace(login=Login("user:password", tls=True))

    assert ZooKeeperOptions.from_json(told.to_json())._replace(allow=("a",), deny=()) == told


def test_both_sources_have_names_of_their_own() -> None:
    assert zookeeper.ConsumersSource.name() != storm.StormSource.name()
