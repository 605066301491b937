"""`warren plan` finds the known rates, capacity and trouble of a made history, with a real Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.capacity_world import HOUR_S, CapacityWorld, always, daily_peak, write_history
from tests.support.history_world import T0_MS, World
from warren.capacity.findings import FindingKind
from warren.capacity.plan import make_plan
from warren.capacity.rates import Wanted
from warren.capacity.report import report
from warren.capacity.result import Plan
from warren.capacity.sizing import Sizing, Target, Verdict
from warren.errors import HistoryError
from warren.history.reader import HistoryReader, Span

DAYS = 3
END_MS = T0_MS + DAYS * 86_400_000
TARGET = Target(drain_s=300, growth=0.3)


@pytest.fixture(scope="session")
def history(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    world = CapacityWorld(DAYS)
    world.topic("steady", *[always(25)] * 4)
    world.keeps_up("fine", "steady")
    world.members("fine", 2, {("steady", 0): "a", ("steady", 1): "a", ("steady", 2): "b", ("steady", 3): "b"})
    world.topic("orders", *[daily_peak(10, 60)] * 2)
    world.reads("slow", "orders", at_most=40)
    world.members("slow", 2, {("orders", 0): "a", ("orders", 1): "b"})
    world.reads("single", "orders", at_most=40)
    world.members("single", 1, {("orders", 0): "a", ("orders", 1): "a"})
    world.topic("skewed", always(70), always(10), always(10), always(10))
    world.keeps_up("crowd", "skewed")
    world.members("crowd", 6, {("skewed", i): f"m{i}" for i in range(4)})
    world.topic("short", always(50), kept_s=2 * HOUR_S)
    world.reads("late", "short", at_most=500, not_between_s=(20 * HOUR_S, 21.5 * HOUR_S))
    world.reads("loser", "short", at_most=500, not_between_s=(20 * HOUR_S, 24 * HOUR_S))
    world.reads("away", "short", at_most=500, not_between_s=(20 * HOUR_S, 24 * HOUR_S), says_so=False)
    world.topic("growing", daily_peak(10, 100, grows_a_day=10))
    world.keeps_up("follower", "growing")
    once_back = world.ends["growing"][0].copy()
    once_back[2_000] -= 1_000
    world.commits("rewound", "growing", [once_back])
    world.keeps_up("burrow-kafka", "steady")
    world.sample("quiet")
    return world.write(spark, tmp_path_factory.mktemp("capacity"))


def planned(spark: SparkSession, path: str, *, group: str = "", topic: str = "", with_plots: bool = False) -> Plan:
    reader = HistoryReader(spark, path)
    wanted = Wanted(reader.checked(Span("c", T0_MS, END_MS)), group, topic)
    return make_plan(reader, wanted, TARGET, with_plots=with_plots)


@pytest.fixture(scope="session")
def plan(spark: SparkSession, history: str) -> Plan:
    return planned(spark, history, with_plots=True)


def of(plan: Plan, group: str) -> Sizing:
    [found] = [one for one in plan.sizings if one.measured.group == group]
    return found


def said(plan: Plan, kind: FindingKind, group: str) -> str:
    [found] = [one for one in plan.findings if (one.kind, one.group) == (kind, group)]
    return found.says


def close(value: float) -> object:
    return pytest.approx(value, rel=0.03)


def test_a_constant_producer_is_measured_as_it_is(plan: Plan) -> None:
    one = of(plan, "fine").measured
    rates = (one.produce_mean, one.produce_p95, one.produce_peak, one.peak_hour, one.consume_mean)
    assert rates == (close(100), close(100), close(100), close(100), close(100))


def test_a_consumer_without_backlog_is_known_to_do_what_it_did_at_least(plan: Plan) -> None:
    one = of(plan, "fine")
    assert (one.measured.capacity, one.measured.highest) == (None, close(50))
    assert one.verdict is Verdict.UNKNOWN
    assert "so at the most 3 consumers; there are 2, which may be enough" in one.why


def test_the_capacity_of_a_consumer_is_seen_while_it_has_a_backlog(plan: Plan) -> None:
    assert of(plan, "slow").measured.capacity == close(40)


def test_a_consumer_with_two_partitions_does_the_work_of_both(plan: Plan) -> None:
    assert of(plan, "single").measured.capacity == close(80)


def test_a_daily_peak_beyond_the_capacity_needs_more_partitions(plan: Plan) -> None:
    one = of(plan, "slow")
    assert one.demand.rate == close(120 * 1.3 * 3600 / 3900)
    assert (one.verdict, one.consumers_needed, one.partitions_needed) == (Verdict.PARTITIONS, 4, 4)
    assert "so 4 consumers and at least 4 partitions; there are 2 partitions" in one.why


def test_too_few_consumers_for_enough_partitions_are_told(plan: Plan) -> None:
    one = of(plan, "single")
    assert (one.verdict, one.consumers, one.consumers_needed) == (Verdict.CONSUMERS, 1, 2)


def test_the_largest_lag_is_what_the_peak_left(plan: Plan) -> None:
    one = of(plan, "slow").measured
    assert (one.lag_max, one.lag_s_max) == (close(2 * 20 * HOUR_S), close(1_800))


def test_a_trend_is_told_in_percent_a_day(plan: Plan) -> None:
    assert of(plan, "follower").trend_a_day == close(10 / 110)
    assert of(plan, "fine").trend == "the daily peak stays as it is over 3 days"


def test_those_who_lack_most_come_first(plan: Plan) -> None:
    assert [one.measured.group for one in plan.sizings][:2] == ["slow", "single"]


def test_a_partition_with_most_of_the_records_is_found(plan: Plan) -> None:
    assert "partition 0 gets 70 % of all records, 2.8 times" in said(plan, FindingKind.SKEW, "crowd")


def test_members_without_partitions_are_found(plan: Plan) -> None:
    assert said(plan, FindingKind.IDLE, "crowd") == "6 members for 4 partitions: 2 with nothing to do"


def test_a_lag_close_to_what_the_log_keeps_is_found(plan: Plan) -> None:
    one = of(plan, "late").measured
    assert (one.kept_s, one.lag_s_max) == (close(2 * HOUR_S), close(1.5 * HOUR_S))
    assert "of the 2 h that records are kept" in said(plan, FindingKind.RETENTION, "late").replace("1 h 59 min", "2 h")


@pytest.mark.parametrize("group", ["loser", "away"])
def test_records_that_were_let_go_unread_are_counted_and_not_taken_for_work(plan: Plan, group: str) -> None:
    one = of(plan, group).measured
    assert one.lost == close(2 * HOUR_S * 50)
    assert one.consumed == close(one.produced - one.lost)
    assert one.lag_max == close(4 * HOUR_S * 50)
    assert "before the group had read them" in said(plan, FindingKind.LOST, group)


def test_a_rewind_is_told_and_is_no_negative_work(plan: Plan) -> None:
    assert of(plan, "rewound").measured.rewinds == 1
    assert "went back 1 time" in said(plan, FindingKind.REWIND, "rewound")


def test_own_groups_are_left_out_and_silent_ones_are_named(plan: Plan) -> None:
    assert "burrow-kafka" not in {one.measured.group for one in plan.sizings}
    assert plan.notes == ["1 group committed nothing in that time, so nothing is known of them: quiet"]


def test_the_report_has_everything_and_plots(plan: Plan) -> None:
    made = report(plan)
    assert made.count("<svg") == 2 * len(plan.sizings)
    assert all(part in made for part in ("too few partitions", "idle members", "records lost", "needed (dashed green)"))


def test_patterns_choose_groups_and_topics(spark: SparkSession, history: str) -> None:
    found = planned(spark, history, group="^l", topic="short")
    assert {one.measured.group for one in found.sizings} == {"late", "loser"}


def test_a_pattern_that_finds_nothing_is_told(spark: SparkSession, history: str) -> None:
    found = planned(spark, history, group="nobody")
    assert found.notes[0] == "There are no commits in that time of a group in which 'nobody' is found."


def test_a_history_of_seconds_is_told_to_be_too_short(spark: SparkSession, history: str) -> None:
    reader = HistoryReader(spark, history)
    with pytest.raises(HistoryError, match="history of 40 s in that range, which is too short"):
        make_plan(reader, Wanted(Span("c", T0_MS, T0_MS + 40_000)), TARGET)


def test_a_range_in_the_middle_knows_what_was_before(spark: SparkSession, history: str) -> None:
    reader = HistoryReader(spark, history)
    noon_ms = T0_MS + 36 * HOUR_S * 1000
    found = make_plan(reader, Wanted(Span("c", noon_ms, noon_ms + 600_000), "slow|fine"), TARGET)
    assert of(found, "slow").measured.produce_mean == close(120)
    assert of(found, "fine").measured.produce_mean == close(100)
    assert of(found, "fine").trend == "too short to tell: 10 min instead of 2 days at least"
    assert found.notes[0] == "There are only 10 min to look at: the peak of a whole day may be higher."


def test_a_history_that_a_real_warren_wrote_is_understood(spark: SparkSession, tmp_path: Path) -> None:
    world, read = World(tmp_path / "home"), 0
    world.take(0, "assign", "billing")
    for _ in range(60):
        world.take(5, "observe", [50, 0, 0, 0])
        read += 30
        world.take(0, "commit", [("billing", "orders", 0, 100 + read), ("burrow-kafka", "orders", 0, 7)])
    path = write_history(spark, tmp_path, world.tables())
    reader = HistoryReader(spark, path)
    [found] = make_plan(reader, Wanted(reader.checked(Span("c", 0, END_MS))), TARGET).sizings
    one = found.measured
    assert (one.group, one.topic, one.partitions, one.read, one.members) == ("billing", "orders", 2, 1, 1)
    assert (one.produce_mean, one.consume_mean, one.capacity) == (close(10), close(6), close(6))


def test_a_partition_that_stood_still_all_the_time_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    world = World(tmp_path / "home")
    world.take(5, "observe", [0, 0, 0, 0])
    world.take(0, "commit", [("billing", "orders", 0, 100), ("billing", "orders", 1, 90)])
    world.take(5, "keyframe", None)
    from_ms = world.now_ms + 60_000
    for minute in range(1, 11):
        world.take(60, "observe", [60, 60, 0, 0])
        world.take(0, "commit", [("billing", "orders", 0, 100 + 60 * minute)])
    reader = HistoryReader(spark, write_history(spark, tmp_path, world.tables()))
    [found] = make_plan(reader, Wanted(reader.checked(Span("c", from_ms, END_MS))), TARGET).sizings
    one = found.measured
    assert (one.read, one.slow_partition, one.lag_s_is_least) == (2, 1, True)
    assert one.lag_last == close(10 + 60 * 10)


@pytest.fixture(scope="session")
def with_hole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    world = CapacityWorld(DAYS, unseen_s=(36 * HOUR_S, 40 * HOUR_S))
    world.topic("orders", daily_peak(10, 100))
    world.keeps_up("follower", "orders")
    return planned(spark, world.write(spark, tmp_path_factory.mktemp("hole")))


def test_what_nobody_saw_is_told(with_hole: Plan) -> None:
    assert with_hole.notes == [
        "Nothing was observed for 4 h of that time: 2026-01-02T12:00:00Z to 2026-01-02T16:00:00Z. "
        "What came then is known in sum at best, so peaks may have been higher."
    ]
    assert with_hole.notes[0] in report(with_hole)


def test_a_peak_that_nobody_saw_makes_no_trend_and_no_minutes(with_hole: Plan) -> None:
    one = of(with_hole, "follower")
    assert one.measured.day_peaks == (close(100), None, close(100))
    assert one.trend == "the daily peak stays as it is over 2 days"
    assert one.measured.produce_mean == close((23 * 10 + 100) / 24)
    assert one.measured.produce_p95 == 10


@pytest.mark.long
def test_the_command_answers_in_json_and_writes_a_report(history: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    options = ["--history", history, "--from", "2026-01-01T00:00Z", "--growth", "30", "--group", "slow"]
    command = [sys.executable, "-m", "warren.cli", "plan", *options, "--json", "--html", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["groups"]
    assert (found["verdict"], found["consumers"]) == ("too few partitions", {"now": 2, "needed": 4})
    assert "slow on orders" in page.read_text()
