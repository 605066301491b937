"""How many consumers and partitions are needed: worked examples, and the sentences that explain them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.measured_groups import BUSY, DAY_S, HOUR_S
from warren.capacity.findings import FindingKind, findings
from warren.capacity.measured import NOTHING, Measured
from warren.capacity.report import report
from warren.capacity.result import Plan
from warren.capacity.sizing import Target, Verdict, consumers_needed, size, trend_of
from warren.capacity.words import percent


def test_without_time_to_drain_the_peak_itself_must_be_consumed() -> None:
    found = size(BUSY, Target(drain_s=0, growth=0.3))
    assert found.why == (
        "at the peak 12,000/s for 1 h x 1.3 growth = 15,600/s; one consumer does at most 2,100/s (seen while it had a "
        "backlog); 15,600 / 2,100 = 7.4, so 8 consumers and at least 8 partitions; there are 4 partitions"
    )
    assert (found.verdict, found.consumers_needed, found.partitions_needed) == (Verdict.PARTITIONS, 8, 8)


def test_time_to_drain_makes_the_peak_flatter() -> None:
    found = size(BUSY, Target(drain_s=300, growth=0.3))
    assert found.demand.rate == pytest.approx(15_600 * 60 / 65)
    assert "x 1.3 growth = 15,600/s, drained 5 min later: 14,400/s; " in found.why
    assert found.consumers_needed == 7


def test_time_to_drain_never_makes_less_of_the_average() -> None:
    found = size(BUSY, Target(drain_s=10 * DAY_S))
    assert (found.demand.rate, found.demand.is_average) == (1_000, True)
    assert found.why.startswith("1,000/s on average; one consumer")


def test_headroom_counts_each_consumer_for_less() -> None:
    found = size(BUSY, Target(drain_s=0, headroom=0.5))
    assert found.consumers_needed == 12  # 12,000 / 1,050
    assert "of which 50 % stay free; 12,000 / 1,050 = 11.4" in found.why


def test_enough_partitions_with_too_few_consumers_is_a_matter_of_consumers() -> None:
    found = size(replace(BUSY, partitions=12), Target(drain_s=0))
    assert (found.verdict, found.consumers_needed, found.partitions_needed) == (Verdict.CONSUMERS, 6, 12)
    assert found.why.endswith("so 6 consumers; there are 4, and the 12 partitions are enough for them")


def test_fewer_partitions_are_never_advised_but_many_more_than_needed_are_told() -> None:
    found = size(replace(BUSY, partitions=64, members=8), Target(drain_s=0))
    assert (found.verdict, found.partitions_needed) == (Verdict.ENOUGH, 64)
    assert found.why.endswith("there are 64 partitions, far more than needed, which Kafka cannot take back")


def test_members_beyond_the_partitions_do_not_work() -> None:
    found = size(replace(BUSY, members=20), Target(drain_s=0))
    assert (found.consumers, found.verdict) == (4, Verdict.PARTITIONS)


def test_a_capacity_that_was_never_needed_is_known_at_least() -> None:
    found = size(replace(BUSY, capacity=None, highest=3_000.0), Target(drain_s=0, growth=0.3))
    assert found.verdict is Verdict.UNKNOWN
    assert (
        "may do more: it was not seen with a backlog for long enough; 15,600 / 3,000 = 5.2, so at the most 6 consumers"
        in found.why
    )


def test_consumers_that_did_enough_without_a_backlog_are_enough() -> None:
    assert size(replace(BUSY, capacity=None, highest=3_000.0), Target(drain_s=0)).verdict is Verdict.ENOUGH


def test_where_nothing_was_consumed_nothing_is_divided() -> None:
    found = size(replace(BUSY, capacity=None, highest=0.0), Target())
    assert (found.verdict, found.consumers_needed) == (Verdict.UNKNOWN, None)
    assert found.why.endswith("nothing was consumed in that time, so nobody knows how fast a consumer is")


def test_where_nothing_was_produced_nothing_is_needed() -> None:
    found = size(replace(BUSY, produced=0.0, window_records=(0.0, 0.0, 0.0)), Target())
    assert (found.verdict, found.consumers_needed) == (Verdict.IDLE, 0)


def test_where_nothing_is_needed_an_old_backlog_is_told() -> None:
    found = size(replace(BUSY, produced=0.0, window_records=(0.0, 0.0, 0.0), lag_last=500.0), Target())
    assert found.why == "nothing was produced in that time, so nothing is needed; 500 records were still unread"


def test_a_topic_whose_ends_are_not_known_is_told() -> None:
    found = size(Measured.from_row(NOTHING), Target())
    assert (found.verdict, found.why) == (
        Verdict.UNKNOWN,
        "where the topic ends was not observed in that time, so nothing can be said",
    )


def test_a_whole_quotient_needs_no_consumer_more_for_a_rounding_error() -> None:
    assert consumers_needed(0.1 + 0.2, 0.1) == 3


def test_catching_up_is_explained_with_the_largest_backlog() -> None:
    assert size(BUSY, Target()).catch_up == (
        "4 consumers x 2,100/s - 1,000/s that come on average = 7,400/s; the largest backlog, 500,000 records at "
        "2026-01-01T00:00:00Z, takes 1 min 8 s"
    )


def test_catching_up_without_a_known_capacity_is_not_known() -> None:
    found = size(replace(BUSY, capacity=None), Target())
    assert found.catch_up == "not known: no consumer was seen with a backlog for long enough"


def test_without_spare_capacity_a_backlog_stays() -> None:
    assert size(replace(BUSY, capacity=250.0), Target()).catch_up.startswith("none: 4 consumers x 250/s - 1,000/s")


def test_one_odd_day_makes_no_trend() -> None:
    assert trend_of((100, 100, 900, 100, 100)) == 0


def test_a_growing_peak_tells_when_the_growth_is_reached() -> None:
    found = size(replace(BUSY, day_peaks=(90.0, 100.0, 110.0)), Target(growth=0.3))
    assert found.trend == "the daily peak grows by 10 % a day over 3 days; so 30 % more are reached in 3 days"


@pytest.mark.parametrize("growth", [0, -0.3])
def test_without_growth_nothing_is_to_be_reached(growth: float) -> None:
    found = size(replace(BUSY, day_peaks=(90.0, 100.0, 110.0)), Target(growth=growth))
    assert found.trend == "the daily peak grows by 10 % a day over 3 days"


def test_a_day_without_a_known_peak_leaves_the_others_where_they_are() -> None:
    found = size(replace(BUSY, day_peaks=(90.0, None, 110.0)), Target())
    assert found.trend == "the daily peak grows by 10 % a day over 2 days"


@pytest.mark.parametrize(
    ("peaks", "says"), [((0.0, 0.0), "nothing was produced"), ((0.0, 0.0, 9.0), "nothing was produced on most days")]
)
def test_nothing_has_no_trend(peaks: tuple[float, ...], says: str) -> None:
    assert size(replace(BUSY, day_peaks=peaks), Target()).trend == says


def test_days_that_were_not_observed_make_no_trend() -> None:
    found = size(replace(BUSY, day_peaks=(90.0, None, None)), Target())
    assert (found.trend_a_day, found.trend) == (None, "not known: of 3 days only 1 was observed well enough")


def test_a_single_day_is_too_short_for_a_trend() -> None:
    found = size(replace(BUSY, day_peaks=(90.0,)), Target())
    assert (found.trend_a_day, found.trend) == (None, "too short to tell: 1 d instead of 2 days at least")


def test_large_shares_are_written_out() -> None:
    assert [percent(share) for share in (0.0667, -0.3, 1, 25)] == ["6.67 %", "-30 %", "100 %", "2,500 %"]


# -- what else is odd ------------------------------------------------------------------------------------------------


def said(measured: Measured, kind: FindingKind) -> list[str]:
    return [one.says for one in findings([size(measured, Target(drain_s=0))]) if one.kind is kind]


def test_an_ordinary_group_has_nothing_odd() -> None:
    assert findings([size(BUSY, Target())]) == []


def test_a_partition_that_no_single_consumer_can_follow_is_told() -> None:
    [says] = said(replace(BUSY, hot_share=0.7, hot_partition=3), FindingKind.HOT)
    assert says == (
        "partition 3 gets 70 % of all records, so it needs 8,400/s, and one consumer does at most 2,100/s: "
        "more consumers will not help, other keys would"
    )


def test_few_records_are_not_uneven() -> None:
    few = replace(BUSY, hot_share=0.7, produced=300.0)
    assert said(few, FindingKind.SKEW) == []


def test_one_partition_with_most_of_the_lag_is_told() -> None:
    slow = replace(BUSY, slow_share=0.9, slow_partition=2, lag_mean=10_000.0)
    assert said(slow, FindingKind.SLOW) == [
        "partition 2 alone has 90 % of the group's lag: more partitions will not help"
    ]


def test_lag_where_the_records_are_is_no_slow_partition() -> None:
    both = replace(BUSY, slow_share=0.7, hot_share=0.7, slow_partition=2, hot_partition=2, lag_mean=10_000.0)
    assert said(both, FindingKind.SLOW) == []


def test_a_lag_of_unknown_age_is_at_least_that_old() -> None:
    old = replace(BUSY, lag_s_max=HOUR_S, lag_s_is_least=True, kept_s=1.5 * HOUR_S)
    assert said(old, FindingKind.RETENTION) == [
        "the group was at least 1 h behind, 66.7 % of the 1 h 30 min that records are kept"
    ]


def test_members_are_told_once_for_a_group_of_several_topics() -> None:
    many = [size(replace(BUSY, topic=topic, members=9, owned=6), Target()) for topic in ("a", "b")]
    assert [one.says for one in findings(many)] == ["9 members for 6 partitions: 3 with nothing to do"]


def test_a_report_says_where_a_lag_is_known_only_at_least() -> None:
    old = size(replace(BUSY, lag_s_max=HOUR_S, lag_s_is_least=True), Target())
    assert "<td class='number'>at least 1 h</td>" in report(Plan("c", 0, 1, Target(), [old], [], []))
