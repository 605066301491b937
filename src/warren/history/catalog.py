"""Which files a history consists of: a log of versions, each a small file that is whole or not there.

A Parquet file counts from the version on that names it, so nobody ever reads half of what belongs together, and a file
that a crash left behind counts never. What a version takes out stays for a while, for those who are reading it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from warren.errors import HistoryError
from warren.history.files import Files
from warren.history.tables import Recorded

LOG = "_log"
FORMAT = 1
CHECKPOINT_EVERY = 50
"""So many versions are read one by one at most; then all of them are summed up in one file."""
_VERSION = re.compile(rf"{LOG}/(\d+)\.(version|checkpoint)\.json")


@dataclass(frozen=True)
class Entry:
    """One Parquet file."""

    path: str
    table: str
    cluster: str
    day: str
    rows: int
    bytes: int
    first_ms: int
    last_ms: int
    columns: tuple[str, ...]


@dataclass
class Catalog:
    """All files of a history as of one version."""

    version: int = 0
    files: dict[str, Entry] = field(default_factory=dict)
    garbage: dict[str, int] = field(default_factory=dict)
    """Files that count no more, and since when."""
    recorded: dict[str, dict[str, Recorded]] = field(default_factory=dict)
    """By cluster and consumer module."""
    spools: dict[str, str] = field(default_factory=dict)
    """By cluster the last spool file that was taken in."""

    def select(self, table: str, cluster: str, from_ms: int, to_ms: int) -> list[Entry]:
        """The files of a table that may have rows of a time, in their order."""
        found = [one for one in self.files.values() if (one.table, one.cluster) == (table, cluster)]
        return sorted(
            (one for one in found if one.first_ms <= to_ms and one.last_ms >= from_ms), key=lambda one: one.first_ms
        )

    def clusters(self) -> list[str]:
        """The clusters that there is a history of."""
        return sorted({one.cluster for one in self.files.values()})

    def span_ms(self, cluster: str) -> tuple[int, int] | None:
        """From when until when there are events of a cluster; None without any."""
        events = [one for one in self.files.values() if (one.table, one.cluster) == ("events", cluster)]
        return (min(one.first_ms for one in events), max(one.last_ms for one in events)) if events else None


@dataclass(frozen=True)
class Version:
    """One step of a history."""

    at_ms: int
    add: tuple[Entry, ...] = ()
    remove: tuple[str, ...] = ()
    swept: tuple[str, ...] = ()
    """Files that are deleted for good."""
    recorded: Mapping[str, Mapping[str, Recorded]] = field(default_factory=dict)
    spools: Mapping[str, str] = field(default_factory=dict)


def applied(catalog: Catalog, version: Version) -> Catalog:
    """The catalog after one more version."""
    files = {**catalog.files, **{one.path: one for one in version.add}}
    garbage = {**catalog.garbage, **dict.fromkeys(version.remove, version.at_ms)}
    recorded = {**catalog.recorded, **{name: _numbered(one) for name, one in version.recorded.items()}}
    return Catalog(
        catalog.version + 1,
        {path: one for path, one in files.items() if path not in version.remove},
        {path: since_ms for path, since_ms in garbage.items() if path not in version.swept},
        recorded,
        {**catalog.spools, **version.spools},
    )


def _numbered(recorded: Mapping[str, Iterable[Any]]) -> dict[str, Recorded]:
    """As it was, though JSON has lists instead, and texts for numbers of partitions."""
    return {
        consumer: Recorded(topic_id, {int(partition): at for partition, at in positions.items()})
        for consumer, (topic_id, positions) in recorded.items()
    }


class HistoryLog:
    """The log of one history, and its newest catalog. One writer; readers may be many."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.catalog = self._load()

    def catch_up(self) -> None:
        """Go on from the newest version; `HistoryError` if somebody else has written it.

        It may be our own, of which it was not known whether it was written.
        """
        if self._files.exists(_version_path(self.catalog.version + 1)):
            self.catalog = self._load()
            message = f"Another Warren has written to the history in {self._files.root}, or a write was cut off."
            raise HistoryError(message, hint="It is tried again. Give each Warren a path of its own in [history].")

    def commit(self, version: Version) -> None:
        """Make a version count; `HistoryError` if that cannot be, or if somebody else has written meanwhile."""
        self.catch_up()
        number = self.catalog.version + 1
        if not self._files.write_new(_version_path(number), json.dumps({"format": FORMAT, **asdict(version)})):
            message = f"Version {number} of the history in {self._files.root} cannot be put into its place."
            raise HistoryError(message)
        self.catalog = applied(self.catalog, version)
        if number % CHECKPOINT_EVERY == 0:
            self._sum_up()

    def _sum_up(self) -> None:
        """Write one file that stands for all versions so far, and remove what it stands for."""
        number, state = self.catalog.version, asdict(self.catalog)
        state["files"] = [asdict(one) for one in self.catalog.files.values()]
        text = json.dumps({"format": FORMAT, **state})
        if not self._files.write_new(f"{LOG}/{number:012d}.checkpoint.json", text):
            return  # the next one stands for these, too
        for at, kind, path in self._numbered_files():
            if at < number - CHECKPOINT_EVERY or (kind == "version" and at <= number - CHECKPOINT_EVERY):
                self._files.delete(path)

    def _load(self) -> Catalog:
        found = self._numbered_files()
        newest = max((at for at, kind, _ in found if kind == "checkpoint"), default=0)
        catalog = Catalog()
        for at, kind, path in found:
            if kind == "checkpoint" and at == newest:
                catalog = _catalog(self._document(path))
        for at, kind, path in found:
            if kind == "version" and at > newest:
                if at != catalog.version + 1:
                    message = f"The history in {self._files.root} lacks version {catalog.version + 1} in its log."
                    raise HistoryError(message, hint=f"Restore {LOG}, or begin a history at another path.")
                catalog = applied(catalog, _version(self._document(path)))
        return catalog

    def _numbered_files(self) -> list[tuple[int, str, str]]:
        names = [(one.path, _VERSION.fullmatch(one.path)) for one in self._files.list(LOG)]
        return sorted((int(found[1]), found[2], path) for path, found in names if found)

    def _document(self, path: str) -> dict[str, Any]:
        try:
            document: dict[str, Any] = json.loads(self._files.read_text(path))
            written_as = document.pop("format")
        except (ValueError, KeyError, AttributeError) as error:
            message = f"{path} of the history in {self._files.root} is damaged: {error}."
            raise HistoryError(message, hint="Restore it, or begin a history at another path.") from error
        if written_as > FORMAT:
            message = f"The history in {self._files.root} was written by a newer Warren (format {written_as})."
            raise HistoryError(message, hint=f"This one reads formats up to {FORMAT}; use the newer one.")
        return document


def _version_path(number: int) -> str:
    return f"{LOG}/{number:012d}.version.json"


def _entries(values: Iterable[dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(Entry(**{**one, "columns": tuple(one["columns"])}) for one in values)


def _version(document: dict[str, Any]) -> Version:
    document |= {"remove": tuple(document["remove"]), "swept": tuple(document["swept"])}
    return Version(**{**document, "add": _entries(document["add"])})


def _catalog(document: dict[str, Any]) -> Catalog:
    files = {one.path: one for one in _entries(document.pop("files"))}
    recorded = {name: _numbered(one) for name, one in document.pop("recorded").items()}
    return Catalog(files=files, recorded=recorded, **document)


def day_of(at_ms: int) -> str:
    """The day of a moment, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")
