"""All groups and topics of a cluster at one moment, as columns: what a page with a line for each of them is made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.rules.evaluation import Evaluation, ages_s, max_of_group
from warren.windows.columns import UNKNOWN, Block, Int64, rows_of
from warren.windows.head_history import Float64
from warren.windows.store import Windows

GROUP_STATUSES = (Status.OK, Status.WARN, Status.ERR)


class Shown(NamedTuple):
    """What the elements of a survey are of; the same object for as long as that stays so."""

    layout: int
    heads: dict[str, Block]

    pairs: list[tuple[str, str]]
    """Groups with their topics, by name."""
    pair: Int64
    """Of each partition of a group its place in `pairs`."""
    partition: Int64
    place: Int64
    """Where the evaluation has it."""

    groups: list[str]
    code: Int64
    """Where the evaluation has each group."""

    topics: list[str]
    topic: Int64
    """Of each partition of a topic its place in `topics`."""
    topic_partition: Int64
    head_row: Int64

    def is_of(self, windows: Windows) -> bool:
        """Whether this is still what the store shows; a store that replaced another one must not be asked."""
        return self.layout == windows.layout and self.heads == windows.heads.topics


class Survey(NamedTuple):
    """One moment. What is of partitions of groups, of groups and of partitions of topics is in the order of `shown`."""

    shown: Shown
    evaluation: Evaluation
    committed: Int64
    """The newest committed offset, UNKNOWN where there is none."""
    committed_ms: Int64
    """When that was committed, 0 where nothing was."""
    owner: Int64
    """Who reads the partition, a place in `hosts`."""
    hosts: list[str]
    lag_s: Float64
    """How old the first unread record is at the least, UNKNOWN where that is not known."""
    group_lag_s: Float64
    end: Int64
    """Where the partitions of topics end, UNKNOWN where it was never observed."""


def shown_by(windows: Windows, evaluation: Evaluation) -> Shown:
    """Name everything that the evaluation is of, and all topics."""
    blocks = sorted((block.start, group, topic) for group, topic, block in windows.blocks())
    starts = np.array([start for start, _, _ in blocks], np.int64)
    block = np.searchsorted(starts, evaluation.row, "right") - 1
    by_name = sorted(range(len(blocks)), key=lambda at: blocks[at][1:])
    pair, partition = np.argsort(np.array(by_name, np.int64))[block], evaluation.row - starts[block]
    place = np.lexsort((partition, pair))
    codes = sorted(np.flatnonzero(evaluation.group_status).tolist(), key=lambda code: str(evaluation.names[code]))
    topics = sorted(windows.heads.topics)
    head_row, topic_partition = rows_of([windows.heads.topics[topic] for topic in topics])
    return Shown(
        layout=windows.layout,
        heads=dict(windows.heads.topics),
        pairs=[blocks[at][1:] for at in by_name],
        pair=pair[place],
        partition=partition[place],
        place=place,
        groups=[str(evaluation.names[code]) for code in codes],
        code=np.array(codes, np.int64),
        topics=topics,
        topic=np.repeat(np.arange(len(topics)), [windows.heads.topics[topic].length for topic in topics]),
        topic_partition=topic_partition,
        head_row=head_row,
    )


def survey(windows: Windows, evaluation: Evaluation, shown: Shown) -> Survey:
    """Take everything; the store must be as it was evaluated, but for new commits."""
    newest, lag_s = windows.outline(evaluation.row), ages_s(windows, evaluation)
    committed = np.where(newest.length > 0, newest.newest_offset, UNKNOWN)
    return Survey(
        shown=shown,
        evaluation=evaluation,
        committed=committed[shown.place],
        committed_ms=windows.newest_ms(evaluation.row[shown.place]),
        owner=windows.labels.owner[evaluation.row[shown.place]].astype(np.int64),
        hosts=[owner.host for owner in windows.owners.known],
        lag_s=lag_s[shown.place],
        group_lag_s=max_of_group(evaluation, lag_s)[shown.code],
        end=windows.heads.current(shown.head_row),
    )


def groups_by_status(found: Survey, where: NDArray[np.bool_] | None = None) -> dict[Status, int]:
    """How many groups are in each status; of some of them only if it is said which."""
    status = found.evaluation.group_status[found.shown.code]
    chosen = status if where is None else status[where]
    return {one: int(np.count_nonzero(chosen == one)) for one in GROUP_STATUSES}
