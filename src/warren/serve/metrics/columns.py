"""The families with a line for each group, topic or partition, written from columns.

A large cluster has hundreds of thousands of such lines, so they are never objects: Arrow puts names, labels and values
together, without Python's lock, a piece at a time. All of them are gauges, which both text formats write alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warren.rules.survey import Shown, Survey
from warren.windows.columns import UNKNOWN, Bool, Int64

PIECE_LINES = 16_384
"""So many lines are written at once: their memory is used again for the next ones."""


class Labels(NamedTuple):
    """The labels of everything that is shown, written out; they hold as long as `shown`."""

    shown: Shown
    partitions: pa.StringArray
    groups: pa.StringArray
    topic_partitions: pa.StringArray
    topics: pa.StringArray


def labels_of(cluster: str, shown: Shown, *, partitions: bool) -> Labels:
    """Write out the labels, their names sorted as Go's client has them; those of partitions only if they are told."""
    of = f'{{cluster="{escaped(cluster)}"'
    pairs = [(escaped(group), escaped(topic)) for group, topic in shown.pairs]
    topics = [escaped(topic) for topic in shown.topics]
    told = slice(None if partitions else 0)
    return Labels(
        shown=shown,
        partitions=_numbered(
            [f'{of},consumer_group="{group}",partition="' for group, _ in pairs],
            [f'",topic="{topic}"}} ' for _, topic in pairs],
            shown.pair[told],
            shown.partition[told],
        ),
        groups=_texts([f'{of},consumer_group="{escaped(group)}"}} ' for group in shown.groups]),
        topic_partitions=_numbered(
            [f'{of},partition="'] * len(topics),
            [f'",topic="{topic}"}} ' for topic in topics],
            shown.topic[told],
            shown.topic_partition[told],
        ),
        topics=_texts([f'{of},topic="{topic}"}} ' for topic in topics]),
    )


def escaped(value: str) -> str:
    """A label's value, or a text for people, as it stands in the page."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _texts(values: list[str]) -> pa.StringArray:
    return pa.array(values, pa.string())


def _numbered(before: list[str], after: list[str], at: Int64, number: Int64) -> pa.StringArray:
    """What stands before and after each number."""
    index = pa.array(at)
    return pc.binary_join_element_wise(
        _texts(before).take(index), pa.array(number).cast(pa.string()), _texts(after).take(index), ""
    )


class Choice(NamedTuple):
    """Which of the groups are told one by one; None for all."""

    groups: Bool | None
    partitions: Bool | None


EVERYTHING = Choice(None, None)


def worst(survey: Survey, count: int) -> Choice:
    """The worst so many groups: by the status of their worst partition, then by lag, then by name; 0 for all."""
    evaluation, codes = survey.evaluation, survey.shown.code
    if not count or count >= len(codes):
        return EVERYTHING
    status = evaluation.status[evaluation.worst[codes]].astype(np.int64)
    kept = np.lexsort((np.arange(len(codes)), -evaluation.total_lag[codes], -status))[:count]
    groups = np.zeros(len(codes), np.bool_)
    groups[kept] = True
    by_code = np.zeros(len(evaluation.names), np.bool_)
    by_code[codes[kept]] = True
    return Choice(groups, by_code[evaluation.group[survey.shown.place]])


class Series(NamedTuple):
    """Lines of one family: their labels and values."""

    labels: pa.StringArray
    values: NDArray[np.generic]

    def where(self, wanted: Bool | None) -> Series:
        """Only some of them."""
        if wanted is None or wanted.all():
            return self
        return Series(self.labels.filter(pa.array(wanted)), self.values[wanted])


class Told(NamedTuple):
    """One cluster, as far as it is told."""

    survey: Survey
    labels: Labels
    choice: Choice

    def of_groups(self, values: NDArray[np.generic]) -> Series:
        """By the group's code."""
        return Series(self.labels.groups, values[self.survey.shown.code]).where(self.choice.groups)

    def of_partitions(self, values: NDArray[np.generic]) -> Series:
        """In the order of the survey."""
        return Series(self.labels.partitions, values).where(self.choice.partitions)

    def evaluated(self, values: NDArray[np.generic]) -> Series:
        """In the order of the evaluation."""
        return self.of_partitions(values[self.survey.shown.place])

    def group_lag_s(self) -> Series:
        """Of groups of which it is known."""
        return known(Series(self.labels.groups, self.survey.group_lag_s).where(self.choice.groups))

    def topic_ends(self) -> Series:
        """All ends of a topic's partitions together; of a topic with unknown ones that would be too little."""
        shown, end = self.survey.shown, self.survey.end
        is_known = np.ones(len(shown.topics), np.bool_)
        is_known[shown.topic[end == UNKNOWN]] = False
        total = np.zeros(len(shown.topics), np.int64)
        np.add.at(total, shown.topic, end)
        return Series(self.labels.topics, total).where(is_known)


def known(series: Series) -> Series:
    """Without what is not known."""
    is_known: Bool = series.values != UNKNOWN
    return series.where(is_known)


class Family(NamedTuple):
    """A metric."""

    name: str
    says: str
    series: Callable[[Told], Series]
    is_of_partitions: bool = False


FAMILIES = (
    Family(
        "burrow_kafka_consumer_current_offset",
        "The newest offset that a group has committed to a partition.",
        lambda told: known(told.of_partitions(told.survey.committed)),
        is_of_partitions=True,
    ),
    Family(
        "burrow_kafka_consumer_lag_total",
        "Records that a group has not read yet, of all its partitions.",
        lambda told: told.of_groups(told.survey.evaluation.total_lag),
    ),
    Family(
        "burrow_kafka_consumer_partition_lag",
        "Records of a partition that a group has not read yet.",
        lambda told: told.evaluated(told.survey.evaluation.lag),
        is_of_partitions=True,
    ),
    Family(
        "burrow_kafka_consumer_status",
        "How a group is doing: 1 OK, 2 WARN, 3 ERR.",
        lambda told: told.of_groups(told.survey.evaluation.group_status),
    ),
    Family(
        "burrow_kafka_topic_partition_offset",
        "Where a partition of a topic ends: the offset of its next record.",
        lambda told: known(Series(told.labels.topic_partitions, told.survey.end)),
        is_of_partitions=True,
    ),
    Family(
        "burrow_kafka_topic_partition_status",
        "How a group is doing with a partition: 1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND.",
        lambda told: told.evaluated(told.survey.evaluation.status),
        is_of_partitions=True,
    ),
    Family(
        "warren_group_lag_seconds",
        "Age of the oldest record that a group has not read yet; 0 when it has read everything.",
        Told.group_lag_s,
    ),
    Family(
        "warren_partition_lag_seconds",
        "Age of the oldest record of a partition that a group has not read yet; 0 when it has read everything.",
        lambda told: known(told.of_partitions(told.survey.lag_s)),
        is_of_partitions=True,
    ),
    Family(
        "warren_topic_end_offsets",
        "The ends of all partitions of a topic, added up; its rate is what is written to the topic.",
        Told.topic_ends,
    ),
)


def pages(clusters: list[Told], *, partitions: bool) -> Iterator[pa.Buffer | bytes]:
    """All families with anything to tell, in pieces."""
    for family in FAMILIES:
        if partitions or not family.is_of_partitions:
            yield from _page(family, [family.series(told) for told in clusters])


def _page(family: Family, series: Iterable[Series]) -> Iterator[pa.Buffer | bytes]:
    filled = [one for one in series if len(one.values)]
    if filled:
        yield f"# HELP {family.name} {family.says}\n# TYPE {family.name} gauge\n".encode()
    for one in filled:
        for start in range(0, len(one.values), PIECE_LINES):
            yield _lines(family.name, one.labels.slice(start, PIECE_LINES), one.values[start : start + PIECE_LINES])


def _lines(name: str, labels: pa.StringArray, values: NDArray[np.generic]) -> pa.Buffer:
    lines = pc.binary_join_element_wise(name, labels, pa.array(values).cast(pa.string()), "\n", "")
    _, ends, text = lines.buffers()
    return text.slice(0, int(np.frombuffer(ends, np.int32)[len(lines)]))
