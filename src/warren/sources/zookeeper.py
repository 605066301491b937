"""The `kafka_zk` source: offsets that consumers commit to ZooKeeper, under `<root>/consumers`.

All nodes are read every `poll-interval`. Watches would tell of changes at once, but have to be set and set again on
every single node, each node's own when it changes and all of them when a session is lost: with 5,000 groups of 20
partitions those are 100,000 watches, which a reconnect sets in one burst. Burrow loses changes that way (nodes made
again, partitions that are not numbered from 0). Old consumers commit once a minute, so nothing is gained by it.
Reading 100,000 nodes takes about 2 s of CPU here and 10 s of a busy server.

A node was written since the last look if its `mzxid` is another one: that also tells a commit of the same offset (which
can be a STALL) from a node that was not touched (which is silence). Owners are read again only where the list of them
changed: an owner's node is made and removed, never written.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql.types import StructType

from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView, Member, Partition
from warren.sources.looking import LooksReader, LooksSource
from warren.sources.picture import LARGEST_OFFSET, LARGEST_PARTITION, Commit, Picture
from warren.sources.zookeeper_tree import Tree, ZooKeeperOptions, ask_ensemble, place_id, root_of
from warren.sources.zookeeper_wire import Node, ZooKeeperReader
from warren.windows.rows import Unreadable

BAD_OFFSET = "offset node"
"""What nodes are counted under whose content is no offset."""


class ConsumersSource(LooksSource):
    """Offsets of consumers in ZooKeeper; `secret_options` is a `ZooKeeperOptions` as JSON."""

    @classmethod
    def name(cls) -> str:
        return "warren-zookeeper"

    def streamReader(self, schema: StructType) -> LooksReader:
        options = ZooKeeperOptions.from_json(self.options["secret_options"])
        return LooksReader(lambda: ConsumersPlace(options), options.interval_s)


class _Topic(NamedTuple):
    group: str
    topic: str


class _Partition(NamedTuple):
    group: str
    topic: str
    partition: int


class _Owners(NamedTuple):
    """Who owns the partitions of a topic, and when the list of them last changed."""

    pzxid: int
    by_partition: dict[int, str]


class ConsumersPlace:
    """The tree below `<root>/consumers`: `<group>/offsets/<topic>/<partition>`, and `<group>/owners/` like it."""

    def __init__(self, options: ZooKeeperOptions) -> None:
        self._options = options
        self._root = f"{options.root.rstrip('/')}/consumers"
        self._is_wanted = options.wants()
        self._owners: dict[_Topic, _Owners] = {}  # of the last look; only saves reading them again

    def look(self, looked_ms: int) -> Picture:
        """Everything that is there."""
        return ask_ensemble(self._options, self._look)

    def _look(self, reader: ZooKeeperReader) -> Picture:
        root, tree = root_of(reader, self._root), Tree(reader)
        groups = [name for name in root.names if self._is_wanted(name)] if root else []
        topics = self._topics(tree, groups)
        commits = self._commits(tree, topics)
        views = self._views(tree, groups, topics)
        return Picture(place_id(root), commits, tree.unreadable, tree.bad, views, tree.unread)

    def _topics(self, tree: Tree, groups: list[str]) -> list[_Topic]:
        lists = tree.children(groups, lambda group: f"{self._root}/{group}/offsets", Unreadable)
        return [_Topic(group, topic) for group, found in lists for topic in found.names]

    def _commits(self, tree: Tree, topics: list[_Topic]) -> list[Commit]:
        lists = tree.children(topics, self._path, lambda at: Unreadable(*at))
        partitions = [
            _Partition(*topic, int(name)) for topic, found in lists for name in found.names if is_partition(name)
        ]
        nodes = tree.nodes(partitions, self._path, lambda at: Unreadable(*at))
        return [one for at, node in nodes if (one := self._commit(tree, at, node))]

    def _commit(self, tree: Tree, at: _Partition, node: Node) -> Commit | None:
        try:
            return Commit(*at, decode_offset(node.data), node.stat.mtime_ms, node.stat.mzxid)
        except ValueError as error:
            tree.note_bad(self._path(at), node.stat.mzxid, BAD_OFFSET, str(error), Unreadable(*at))
            return None

    def _path(self, at: _Topic | _Partition, kind: str = "offsets") -> str:
        group, *rest = at
        return "/".join([self._root, group, kind, *map(str, rest)])

    # -- owners --------------------------------------------------------------------------------------------------

    def _views(self, tree: Tree, groups: list[str], topics: list[_Topic]) -> dict[str, GroupView]:
        self._owners = self._look_at_owners(tree, topics)
        owned: dict[str, dict[str, list[Partition]]] = {group: {} for group in groups}
        for (group, topic), owners in self._owners.items():
            for partition, owner in sorted(owners.by_partition.items()):
                owned[group].setdefault(owner, []).append(Partition(topic, None, partition))
        return {group: view_of_owners(owners) for group, owners in owned.items()}

    def _look_at_owners(self, tree: Tree, topics: list[_Topic]) -> dict[_Topic, _Owners]:
        owners, changed = {}, []
        for topic, found in tree.children(topics, lambda at: self._path(at, "owners"), lambda _: None):
            before = self._owners.get(topic)
            if before and before.pzxid == found.stat.pzxid:
                owners[topic] = before
            else:
                owners[topic] = _Owners(found.stat.pzxid, {})
                changed += [_Partition(*topic, int(name)) for name in found.names if is_partition(name)]
        for at, node in tree.nodes(changed, lambda at: self._path(at, "owners"), lambda _: None):
            owners[_Topic(*at[:2])].by_partition[at.partition] = node.data.decode(errors="replace")
        return owners


def decode_offset(data: bytes) -> int:
    """The offset in a node, which is decimal text; `ValueError` with what it is instead."""
    text = data.decode("ascii", errors="replace").strip()
    if not text.isascii() or not text.isdigit() or int(text) > LARGEST_OFFSET:
        message = f"{text[:40]!r} is not an offset"
        raise ValueError(message)
    return int(text)


def is_partition(name: str) -> bool:
    """Whether a node is called like a partition."""
    return name.isascii() and name.isdigit() and int(name) <= LARGEST_PARTITION


def view_of_owners(owners: dict[str, list[Partition]]) -> GroupView:
    """A group as its owners in ZooKeeper tell; as in Burrow the whole text is the owner, and there is no client id."""
    members = [Member(owner, "", owner, None, partitions) for owner, partitions in owners.items()]
    return GroupView(GroupType.SIMPLE, GroupState.STABLE if members else GroupState.EMPTY, None, members, {})
