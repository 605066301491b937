"""The `storm_zk` source: offsets that the Kafka spouts of Storm keep in ZooKeeper, as JSON.

A spout with the id `billing` under the root writes `<root>/billing/partition_3`, or, if it reads several topics,
`<root>/billing/<topic>/partition_3`. The group is the spout's id: it is what tells one reader from another there, and
it stays the same when a topology is submitted again under another name. Everything else is as in `zookeeper.py`.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from pyspark.sql.types import StructType

from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView, Member, Partition
from warren.sources.looking import LooksReader, LooksSource
from warren.sources.picture import LARGEST_OFFSET, LARGEST_PARTITION, Commit, Picture
from warren.sources.zookeeper_tree import Tree, ZooKeeperOptions, ask_ensemble, place_id, root_of
from warren.sources.zookeeper_wire import Children, Node, ZooKeeperReader
from warren.windows.rows import Unreadable

BAD_JSON = "spout node"
"""What nodes are counted under whose content is not what a spout writes."""

_PARTITION = re.compile(r"partition_(\d{1,10})")


class StormSource(LooksSource):
    """Offsets of Storm's spouts in ZooKeeper; `secret_options` is a `ZooKeeperOptions` as JSON."""

    @classmethod
    def name(cls) -> str:
        return "warren-storm"

    def streamReader(self, schema: StructType) -> LooksReader:
        options = ZooKeeperOptions.from_json(self.options["secret_options"])
        return LooksReader(lambda: StormPlace(options), options.interval_s)


class _Spout(NamedTuple):
    """A node whose children are partitions."""

    group: str
    path: str


class _Offset(NamedTuple):
    group: str
    path: str
    partition: int


class SpoutState(NamedTuple):
    """What a spout writes of one partition."""

    topology: str
    topic: str
    partition: int
    offset: int


class StormPlace:
    """The tree below the root."""

    def __init__(self, options: ZooKeeperOptions) -> None:
        self._options = options
        self._root = options.root.rstrip("/")
        self._is_wanted = options.wants()

    def look(self, looked_ms: int) -> Picture:
        """Everything that is there."""
        return ask_ensemble(self._options, self._look)

    def _look(self, reader: ZooKeeperReader) -> Picture:
        root, tree = root_of(reader, self._root or "/"), Tree(reader)
        groups = [name for name in root.names if self._is_wanted(name)] if root else []
        found = [
            (at, state)
            for at, node in tree.nodes(self._offsets(tree, groups), lambda at: at.path, lambda at: Unreadable(at.group))
            if (state := self._state(tree, at, node))
        ]
        commits = [_commit(at, node, state) for at, (node, state) in found]
        return Picture(place_id(root), commits, tree.unreadable, tree.bad, _views(found), tree.unread)

    def _offsets(self, tree: Tree, groups: list[str]) -> list[_Offset]:
        spouts = [_Spout(group, f"{self._root}/{group}") for group in groups]
        lists = tree.children(spouts, lambda at: at.path, lambda at: Unreadable(at.group))
        topics = [
            _Spout(at.group, f"{at.path}/{name}")
            for at, found in lists
            for name in found.names
            if not _PARTITION.fullmatch(name)
        ]
        lists += tree.children(topics, lambda at: at.path, lambda at: Unreadable(at.group))
        return [one for at, found in lists for one in _partitions(at, found)]

    def _state(self, tree: Tree, at: _Offset, node: Node) -> tuple[Node, SpoutState] | None:
        try:
            return node, decode_spout_state(node.data, at.partition)
        except ValueError as error:
            # Which topic it is of is not known either, so of the whole group nothing is taken for gone.
            tree.note_bad(at.path, node.stat.mzxid, BAD_JSON, str(error), Unreadable(at.group))
            return None


def decode_spout_state(data: bytes, partition: int) -> SpoutState:
    """What a spout has written of a partition; `ValueError` with what is wrong with it."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"not JSON ({error})"
        raise ValueError(message) from error
    if not isinstance(raw, dict):
        message = "not a JSON object"
        raise ValueError(message)  # of the content, not of the program
    topology = raw.get("topology")
    name = topology.get("name") if isinstance(topology, dict) else None
    state = SpoutState(
        name if isinstance(name, str) else "",
        _text(raw, "topic"),
        _number(raw, "partition", LARGEST_PARTITION),
        _number(raw, "offset", LARGEST_OFFSET),
    )
    if state.partition != partition:
        message = f"it is of partition {state.partition}"
        raise ValueError(message)
    return state


def _text(raw: dict[str, object], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value:
        message = f"{name} is missing, or no text"
        raise ValueError(message)
    return value


def _number(raw: dict[str, object], name: str, largest: int) -> int:
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
        message = f"{name} is missing, or no number from 0 to {largest}"
        raise ValueError(message)
    return value


def _partitions(at: _Spout, found: Children) -> list[_Offset]:
    named = [(name, match) for name in found.names if (match := _PARTITION.fullmatch(name))]
    return [_Offset(at.group, f"{at.path}/{name}", int(match[1])) for name, match in named]


def _commit(at: _Offset, node: Node, state: SpoutState) -> Commit:
    return Commit(at.group, state.topic, at.partition, state.offset, node.stat.mtime_ms, node.stat.mzxid)


def _views(found: list[tuple[_Offset, tuple[Node, SpoutState]]]) -> dict[str, GroupView]:
    """The topology that a spout runs in is its one member; nothing tells whether it runs now."""
    owned: dict[str, dict[str, list[Partition]]] = {}
    for at, (_, state) in found:
        if state.topology:
            read = owned.setdefault(at.group, {}).setdefault(state.topology, [])
            read.append(Partition(state.topic, None, state.partition))
    return {
        group: GroupView(
            GroupType.SIMPLE,
            GroupState.STABLE,
            None,
            [Member(name, name, "", None, partitions) for name, partitions in topologies.items()],
            {},
        )
        for group, topologies in owned.items()
    }
