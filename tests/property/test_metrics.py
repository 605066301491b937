"""`/metrics` says of every partition what `/lag` says of it, whatever came, moved and went before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tests.support.examples import examples
from tests.support.scenario import commit_table, head_table
from warren.clusters.state import ClusterState
from warren.config.model import Metrics as Settings
from warren.rules.rule import Settings as RuleSettings
from warren.serve.metrics import Metrics
from warren.serve.metrics.formats import TEXT
from warren.windows.store import Limits

GROUPS = st.sampled_from(["a", "b", "c"])
TOPICS = st.sampled_from(["x", "y", "z"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), GROUPS, TOPICS, st.integers(0, 4), st.integers(0, 100)),
        st.tuples(st.just("observe"), st.dictionaries(TOPICS, st.lists(st.integers(0, 100), min_size=1, max_size=5))),
        st.tuples(st.just("delete"), GROUPS),
        st.tuples(st.just("scrape")),
    ),
    max_size=20,
)

Series = dict[tuple[str, ...], float]


def scraped(metrics: Metrics) -> dict[str, Series]:
    """Each family with its values by the values of labels, cluster left out."""
    families = text_string_to_metric_families(metrics.body(TEXT, gzip=False).decode())
    return {
        family.name: {tuple(one.labels.values())[1:]: one.value for one in family.samples}
        for family in families
        if family.name.startswith("burrow_")
    }


def judged(state: ClusterState, now_ms: int) -> dict[str, Series]:
    """The same, asked for one group and topic after the other."""
    verdicts = [verdict for group in state.groups() if (verdict := state.judge(group, now_ms=now_ms))]
    at = {(one.group, str(p.partition), p.topic): p for one in verdicts for p in one.partitions}
    ends = {topic: state.topic_ends(topic) or [] for topic in state.topics()}
    found: dict[str, Series] = {
        "burrow_kafka_consumer_lag_total": {(one.group,): one.total_lag for one in verdicts},
        "burrow_kafka_consumer_status": {(one.group,): one.status for one in verdicts},
        "burrow_kafka_consumer_partition_lag": {key: one.current_lag for key, one in at.items()},
        "burrow_kafka_topic_partition_status": {key: one.status for key, one in at.items()},
        "burrow_kafka_consumer_current_offset": {key: one.end.offset for key, one in at.items() if one.end},
        "burrow_kafka_topic_partition_offset": {
            (str(number), topic): end for topic, each in ends.items() for number, end in enumerate(each) if end >= 0
        },
    }
    return {name: series for name, series in found.items() if series}


@examples(60)  # each makes several pages
@given(steps=STEPS)
def test_the_page_says_what_is_said_of_each_group_and_topic(steps: list[tuple[object, ...]]) -> None:
    state = ClusterState("c", Limits(intervals=3), RuleSettings(), {"m": "__consumer_offsets"})
    now_ms = 1_000
    metrics = Metrics({"c": state}, lambda: now_ms, dict, Settings)
    for order, step in enumerate(steps):
        now_ms += 2_000  # a page and an evaluation are kept for a second
        match step:
            case ("commit", str(group), str(topic), int(partition), int(offset)):
                table = commit_table((group, topic, partition, offset, now_ms), first_order=order)
                state.apply_commit_rows("m", table, now_ms=now_ms)
            case ("observe", dict(ends)):
                state.apply_head_rows(head_table(ends, now_ms), now_ms=now_ms)
            case ("delete", str(group)):
                state.delete_group(group)
            case _:
                metrics.body(TEXT, gzip=True)

    assert scraped(metrics) == judged(state, now_ms)
