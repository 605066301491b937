"""Looking at a tree of ZooKeeper with whichever server answers; what is gone meanwhile or not readable is no error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from warren.errors import SourceError
from warren.patterns import GroupFilter
from warren.sources.picture import NOT_READABLE, BadNode
from warren.sources.zookeeper_wire import (
    NO_AUTH,
    Children,
    Login,
    Node,
    Refused,
    ZooKeeperLostError,
    ZooKeeperReader,
)
from warren.windows.rows import Unreadable

Item = TypeVar("Item")
Found = TypeVar("Found")


class ZooKeeperOptions(NamedTuple):
    """Everything a source that reads ZooKeeper is told; travels to it as one JSON text."""

    servers: list[str]
    root: str
    timeout_s: float
    interval_s: float
    login: Login = Login()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def to_json(self) -> str:
        """As text."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> ZooKeeperOptions:
        """From text."""
        raw = json.loads(text)
        raw["login"] = Login(*raw["login"])
        return cls(**raw)

    def wants(self) -> Callable[[str], bool]:
        """Whether a group is wanted."""
        return GroupFilter(tuple(self.allow), tuple(self.deny)).wants


def ask_ensemble(options: ZooKeeperOptions, look: Callable[[ZooKeeperReader], Found]) -> Found:
    """Look with the help of any server that can be reached; one that is lost in between is replaced by the next."""
    lost = []
    for server in random.sample(options.servers, len(options.servers)):
        try:
            with ZooKeeperReader(server, options.timeout_s, options.login) as reader:
                reader.sync("/")  # another server than last time may be behind
                return look(reader)
        except ZooKeeperLostError as error:
            lost.append(str(error))
    raise SourceError(" ".join(lost))


def root_of(reader: ZooKeeperReader, path: str) -> Children | None:
    """What is below the node that everything is under; None if that is not there (yet)."""
    [root] = reader.children([path])
    if isinstance(root, Children):
        return root
    if root.code == NO_AUTH:
        message = f"ZooKeeper does not let us read {path}: set zookeeper-auth, or give read access to it."
        raise SourceError(message)
    return None


def place_id(root: Children | None) -> str:
    """What tells a tree from one that is made after it under the same path; "" if there is none.

    An ensemble that is made anew counts its transactions from the beginning, so its numbers must not be compared with
    those of the old one.
    """
    return f"{root.stat.czxid:x}-{root.stat.ctime_ms:x}" if root else ""


class Tree:
    """Reads nodes in bulk, and notes what may not be read."""

    def __init__(self, reader: ZooKeeperReader) -> None:
        self._reader = reader
        self.unreadable: list[Unreadable] = []
        self.bad: list[BadNode] = []
        self.unread: list[str] = []

    def children(
        self, items: list[Item], path_of: Callable[[Item], str], lost: Callable[[Item], Unreadable | None]
    ) -> list[tuple[Item, Children]]:
        """What is below the node of each item; `lost` names what is not known if it may not be read."""
        paths = [path_of(one) for one in items]
        return self._readable(items, paths, self._reader.children(paths), lost)

    def nodes(
        self, items: list[Item], path_of: Callable[[Item], str], lost: Callable[[Item], Unreadable | None]
    ) -> list[tuple[Item, Node]]:
        """The node of each item."""
        paths = [path_of(one) for one in items]
        return self._readable(items, paths, self._reader.nodes(paths), lost)

    def _readable(
        self,
        items: list[Item],
        paths: list[str],
        answers: Sequence[Found | Refused],
        lost: Callable[[Item], Unreadable | None],
    ) -> list[tuple[Item, Found]]:
        readable = []
        for item, path, answer in zip(items, paths, answers, strict=True):
            if not isinstance(answer, Refused):
                readable.append((item, answer))
            elif answer.code == NO_AUTH:  # otherwise it is gone
                unknown = lost(item)
                self.note_bad(path, 0, NOT_READABLE, "ZooKeeper does not let us read it", unknown)
                self.unread += [unknown.group] if unknown else []
        return readable

    def note_bad(self, path: str, mark: int, kind: str, why: str, unknown: Unreadable | None) -> None:
        """Something cannot be used: it is told, and what was known of it stays."""
        self.bad.append(BadNode(path, mark, kind, why))
        if unknown is not None:
            self.unreadable.append(unknown)
