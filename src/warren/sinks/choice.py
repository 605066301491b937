"""Which points a sink wants: patterns on the names of clusters, groups and topics. Pure."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.patterns import Pattern, compile_pattern
from warren.sinks.points import Points


class Choice(NamedTuple):
    """A pattern that is None finds everything."""

    cluster: Pattern | None = None
    group: Pattern | None = None
    topic: Pattern | None = None
    partitions: bool = True
    topics: bool = True
    warren: bool = True
    """Whether points about Warren itself are wanted, too."""

    def wants_cluster(self, name: str) -> bool:
        """Whether anything of a cluster is wanted."""
        return self.cluster is None or self.cluster.search(name) is not None

    def of(self, points: Points) -> Points:
        """What is wanted of a cluster's points."""
        groups, partitions, topics = points
        return Points(
            _found(groups, "group", self.group),
            _found(_found(partitions, "group", self.group), "topic", self.topic).slice(
                0, None if self.partitions else 0
            ),
            _found(topics, "topic", self.topic).slice(0, None if self.topics else 0),
        )


def choice(cluster: str, group: str, topic: str, *, partitions: bool, topics: bool, warren: bool = True) -> Choice:
    """From the texts of a configuration, of which an empty one means all."""
    return Choice(_pattern(cluster), _pattern(group), _pattern(topic), partitions, topics, warren)


def _pattern(text: str) -> Pattern | None:
    return compile_pattern(text) if text else None


def _found(table: pa.Table, name: str, pattern: Pattern | None) -> pa.Table:
    """The rows in whose `name` the pattern is found; each name is looked at once."""
    if pattern is None or not table.num_rows:
        return table
    coded = table.column(name).combine_chunks()
    is_found = [pattern.search(text) is not None for text in coded.dictionary.to_pylist()]
    return table.filter(pc.take(pa.array(is_found, pa.bool_()), coded.indices))
