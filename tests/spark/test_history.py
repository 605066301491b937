"""A history on disk, written and read by a real Spark: whole or not there, each thing once, few files, not for ever."""

from __future__ import annotations

import errno
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.support.format_files import FORMATS
from tests.support.history_world import GROUPS, JUDGING, T0_MS, TOPICS
from tests.support.scenario import commit_table, head_table
from warren.clusters.state import ClusterState
from warren.errors import HistoryError
from warren.history.courses import Where, offsets_course_of
from warren.history.files import Files
from warren.history.judging import Judging
from warren.history.reader import HistoryReader, Span
from warren.history.service import History, Plan
from warren.history.spool import Spool, spool_files
from warren.history.tables import Recorded
from warren.history.writer import HistoryWriter, Upkeep
from warren.model import Status
from warren.replay.compare import Turn
from warren.replay.job import Request
from warren.replay.moment import thought_at
from warren.replay.points import replayed_points
from warren.replay.verdicts import recorded_turns, replayed_turns, replayed_verdicts
from warren.sinks.choice import choice
from warren.windows.rows import COMMIT_ROWS, RowKind

EVER_MS = 1 << 60
LATER_MS = 2 * 86_400_000


class Clock:
    def __init__(self) -> None:
        self.now_ms = T0_MS

    def __call__(self) -> int:
        return self.now_ms


class Site:
    """One cluster whose history is kept in a directory."""

    def __init__(self, spark: SparkSession, home: Path, clock: Clock | None = None) -> None:
        self.spark, self.home = spark, home
        self.path = str(home / "parquet")
        self.clock = clock or Clock()
        self.order = 0
        self.ends = {topic: [1_000, 1_000] for topic in TOPICS}
        self.start()

    def start(self, judging: Judging = JUDGING) -> None:
        names = {"kafka": "__consumer_offsets"}
        self.state = ClusterState("c", judging.limits, judging.settings, names, judging.policy)
        self.history = History(Plan(self.path), self.home, self.clock)
        self.history.open(self.spark)
        self.history.keep(self.state, judging.to_text)

    def crash(self) -> None:
        """What was spooled is on disk, and the process is gone."""
        self.history.sync("c")
        self.history._kept["c"].spool.finish_file()

    def run(self, seconds: int, *, offset_of: Callable[[str, int], int]) -> None:
        """A commit of every group to every topic each second, heads each ten, an evaluation each five."""
        for second in range(seconds):
            self.clock.now_ms += 1_000
            now_ms = self.clock.now_ms
            rows = [(g, t, 0, offset_of(g, self.order + i), now_ms) for i, g in enumerate(GROUPS) for t in TOPICS]
            self.state.apply_commit_rows("kafka", commit_table(*rows, first_order=self.order), now_ms=now_ms)
            self.order += len(rows)
            if second % 10 == 0:
                self.ends = {topic: [end + 100 for end in ends] for topic, ends in self.ends.items()}
                self.state.apply_head_rows(head_table(self.ends, now_ms), now_ms=now_ms)
            if second % 5 == 0:
                self.state.evaluate(now_ms=now_ms)

    def reader(self, **how: bool) -> HistoryReader:
        return HistoryReader(self.spark, self.path, **how)

    def orders(self) -> list[int]:
        return sorted(row["order"] for row in self.reader().frame("commits", "c").collect())


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    return Site(spark, tmp_path)


def slow(group: str, order: int) -> int:
    return {"billing": 900, "audit": order % 900, "mail": 1_000 + order}[group]


def test_what_was_written_is_read_back_each_commit_once(site: Site) -> None:
    site.run(20, offset_of=slow)
    site.history.flush()
    site.run(20, offset_of=slow)
    site.history.flush()
    assert site.orders() == list(range(site.order))


def test_a_replay_by_spark_as_it_was_says_what_was_said(site: Site) -> None:
    site.run(60, offset_of=slow)
    site.history.flush()
    reader = site.reader()
    request = Request(reader.checked(Span("c", 0, EVER_MS)))
    said = [row for row in reader.frame("verdicts", "c").collect() if row["is_group"]]
    told = replayed_verdicts(reader, request).to_pylist()
    names = ("at_ms", "group", "was", "now", "topic", "partition", "rule", "reason")
    assert sorted(tuple(row[name] for name in names) for row in told) == sorted(
        tuple(row[name] for name in names) for row in said
    )
    assert said


def said_and_replayed(site: Site, from_ms: int) -> tuple[list[Turn], list[Turn]]:
    site.history.flush()
    reader = site.reader()
    request = Request(reader.checked(Span("c", from_ms, EVER_MS)))
    return recorded_turns(reader, request), replayed_turns(reader, request)


@pytest.mark.long
def test_an_observation_that_was_under_way_at_a_keyframe_is_replayed_after_it(site: Site) -> None:
    site.run(30, offset_of=slow)
    began_ms = site.clock.now_ms
    site.clock.now_ms += 1_000
    site.state.write_keyframe(now_ms=site.clock.now_ms)
    site.state.apply_head_rows(head_table(site.ends, began_ms + 300), now_ms=site.clock.now_ms)
    from_ms = site.clock.now_ms
    site.ends["orders"] = [9_000, 9_000]  # the other topic is idle, so only this one is written down
    site.clock.now_ms += 10_000
    site.state.apply_head_rows(head_table(site.ends, site.clock.now_ms), now_ms=site.clock.now_ms)
    site.state.evaluate(now_ms=site.clock.now_ms)
    said, replayed = said_and_replayed(site, from_ms)
    assert replayed == said
    thought = thought_at(site.reader(), "c", "audit", site.clock.now_ms)
    assert {one["topic"] for one in thought["partitions"]} == set(TOPICS)


@pytest.mark.long
def test_the_group_that_tells_how_far_warren_is_makes_no_alert(site: Site) -> None:
    site.ends["__consumer_offsets"] = [0]
    site.run(20, offset_of=slow)
    site.state.write_keyframe(now_ms=site.clock.now_ms)
    from_ms = site.clock.now_ms
    site.run(300, offset_of=slow)
    said, replayed = said_and_replayed(site, from_ms)
    assert replayed == said
    assert {one.group for one in replayed} <= set(GROUPS)


@pytest.mark.long
def test_after_a_start_from_nothing_a_replay_knows_what_was_committed_long_before(site: Site) -> None:
    patient = replace(JUDGING, expire_group_ms=EVER_MS)
    site.start(patient)
    rows = [(g, t, 0, 900, site.clock.now_ms) for g in GROUPS for t in TOPICS]
    site.state.apply_commit_rows("kafka", commit_table(*rows), now_ms=site.clock.now_ms)
    site.history.flush()
    site.clock.now_ms += 3 * 3_600_000
    site.start(patient)  # without a snapshot, so everything is read again
    site.state.apply_commit_rows("kafka", commit_table(*rows), now_ms=site.clock.now_ms)
    from_ms = site.clock.now_ms
    for _ in range(15):  # a group with one commit is given a minute
        site.clock.now_ms += 5_000
        site.ends = {topic: [end + 100 for end in ends] for topic, ends in site.ends.items()}
        site.state.apply_head_rows(head_table(site.ends, site.clock.now_ms), now_ms=site.clock.now_ms)
        site.state.evaluate(now_ms=site.clock.now_ms)
    said, replayed = said_and_replayed(site, from_ms)
    assert replayed == said
    assert {"billing", "mail"} <= {one.group for one in said}
    assert site.orders() == list(range(len(rows)))


@pytest.mark.long
def test_trouble_from_before_a_start_from_nothing_ends_with_it(site: Site) -> None:
    site.run(60, offset_of=slow)
    first_ms = site.clock.now_ms
    site.history.flush()
    site.clock.now_ms += 60_000
    site.start()
    site.run(3, offset_of=lambda group, order: 90_000)
    said, replayed = said_and_replayed(site, first_ms)
    troubled = {one.group for one in said if one.status > Status.OK}
    ended = {one.group for one in said if one.status == Status.NOTFOUND}
    assert troubled
    assert troubled <= ended
    assert replayed == said


def test_the_points_of_a_time_that_is_over_are_those_of_its_evaluations(site: Site) -> None:
    site.run(60, offset_of=slow)
    site.history.flush()
    reader = site.reader()
    request = Request(reader.checked(Span("c", 0, EVER_MS)))
    choose = partial(choice, "", "^billing$", "", partitions=False, topics=False)
    rows = replayed_points(reader, request, choose, 10_000).orderBy("time_ms").collect()
    assert [row["time_ms"] for row in rows] == [T0_MS + 10_000 * i for i in range(6)]
    assert {(row["measurement"], row["cluster"], row["group"]) for row in rows} == {("burrow_group", "c", "billing")}
    assert rows[-1]["total_lag"] == sum(max(end - 900, 0) for end in (1_600, 1_600))


def test_where_a_group_stood_and_where_its_partition_ended_is_told_for_each_step(site: Site) -> None:
    site.run(60, offset_of=lambda group, order: order)
    site.history.flush()
    reader = site.reader()
    span = reader.checked(Span("c", T0_MS + 10_000, T0_MS + 60_000))
    found = offsets_course_of(reader, span, Where("billing", "orders", 0), 5)
    # six commits a second, of which this partition's is the first; ends grow by 100 in the first of each ten seconds
    assert [at_ms - T0_MS for at_ms in found.at_ms] == [20_001 + 10_001 * i for i in range(4)] + [60_000]
    assert found.committed == [6 * second for second in (19, 29, 39, 49, 59)]
    assert found.end == [1_200, 1_300, 1_400, 1_500, 1_600]


def test_of_a_group_that_stands_still_it_is_told_where(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    site.clock.now_ms += 3_600_000
    site.state.write_keyframe(now_ms=site.clock.now_ms)
    site.clock.now_ms += 3_600_000
    site.state.evaluate(now_ms=site.clock.now_ms)
    site.history.flush()
    reader = site.reader()
    span = reader.checked(Span("c", site.clock.now_ms - 60_000, site.clock.now_ms))
    found = offsets_course_of(reader, span, Where("billing", "orders", 0), 2)
    assert (found.committed, found.end) == ([900, 900], [1_100, 1_100])
    nobody = offsets_course_of(reader, span, Where("nobody", "orders", 7), 2)
    assert (nobody.committed, nobody.end) == ([None, None], [None, None])


def test_what_a_crash_left_in_the_spool_is_in_the_history_after_the_next_start_and_nothing_twice(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    site.run(10, offset_of=slow)
    site.crash()
    read_before, site.order = site.order, site.order - 12  # the snapshot was older: some is read again
    site.clock.now_ms += 60_000
    site.start()
    site.run(10, offset_of=slow)
    site.history.flush()
    assert site.orders() == list(range(site.order))
    assert site.order > read_before


def test_commits_of_an_offsets_topic_that_was_made_anew_are_written_down_though_there_is_no_snapshot(
    site: Site,
) -> None:
    def read(topic_id: str, offset: int) -> None:
        rows = commit_table(*((g, TOPICS[0], 0, offset, site.clock.now_ms) for g in GROUPS))
        told = pa.Table.from_pylist([{"kind": RowKind.TOPIC_ID, "topic": topic_id}], COMMIT_ROWS)
        site.state.apply_commit_rows("kafka", pa.concat_tables([told, rows]), now_ms=site.clock.now_ms)

    read("first", 10)
    site.history.flush()
    for topic_id, offset in (("first", 10), ("second", 77)):
        site.clock.now_ms += 60_000
        site.start()
        read(topic_id, offset)
        site.history.flush()
    found = site.reader().frame("commits", "c").groupBy("offset").count().collect()
    assert {(row["offset"], row["count"]) for row in found} == {(10, 3), (77, 3)}


def test_a_spool_file_that_was_taken_in_before_the_crash_is_not_taken_in_again(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.sync("c")
    spool = next((site.home / "history").rglob("*.spool"))
    kept = spool.read_bytes()
    site.history.flush()
    spool.write_bytes(kept)  # as if there had been no time to remove it
    site.clock.now_ms += 1_000
    site.start()
    assert site.orders() == list(range(site.order))


@pytest.mark.long
def test_half_a_record_in_the_spool_is_left_out(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.sync("c")
    spool = next((site.home / "history").rglob("*.spool"))
    whole = spool.read_bytes()
    site.run(5, offset_of=slow)
    site.crash()
    spool.write_bytes(spool.read_bytes()[: len(whole) + 100])
    site.clock.now_ms += 1_000
    site.start()
    assert site.orders() == list(range(60))


def test_a_file_that_no_version_names_is_never_read_and_goes_after_a_while(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    [known] = Path(site.path).glob("commits/*/*/*.parquet")
    orphan = known.with_name(f"0-{'0' * 12}.parquet")
    orphan.write_bytes(known.read_bytes())
    assert site.orders() == list(range(site.order))
    writer, now_ms = HistoryWriter(site.spark, site.path), round(time.time() * 1000)
    writer.maintain(Upkeep(retention_days=10_000), now_ms=now_ms)
    assert orphan.exists()  # somebody else may be about to name it
    writer.maintain(Upkeep(retention_days=10_000), now_ms=now_ms + LATER_MS)
    assert not orphan.exists()
    assert site.orders() == list(range(site.order))


def test_files_of_others_are_left_alone(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    foreign = [Path(site.path) / name for name in ("sales/2026.parquet", "commits/a.parquet", "_staging/mine.txt")]
    for one in foreign:
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("not of Warren")
    now_ms = round(time.time() * 1000) + LATER_MS
    HistoryWriter(site.spark, site.path).maintain(Upkeep(retention_days=10_000), now_ms=now_ms)
    assert all(one.exists() for one in foreign)
    assert site.orders() == list(range(site.order))


def test_a_history_whose_log_is_gone_is_told_and_left_as_it_is(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    shutil.rmtree(Path(site.path) / "_log")
    with pytest.raises(HistoryError, match="has files, but its log is gone"):
        HistoryWriter(site.spark, site.path)
    assert list(Path(site.path).glob("commits/*/*/*.parquet"))


@pytest.mark.long
def test_a_damaged_file_keeps_no_others_from_being_put_together(site: Site) -> None:
    for _ in range(5):
        site.run(3, offset_of=slow)
        site.history.flush()
    min(Path(site.path).glob("commits/*/*/*.parquet")).write_bytes(b"damaged")
    HistoryWriter(site.spark, site.path).maintain(Upkeep(most_files=3), now_ms=site.clock.now_ms)
    counts = Counter(one.table for one in site.reader().catalog.files.values())
    assert (counts["commits"], counts["events"]) == (5, 1)


def test_after_a_write_of_which_nobody_knows_whether_it_was_done_it_goes_on(site: Site) -> None:
    site.run(10, offset_of=slow)
    renamed = Files.rename

    def cut_off(files: Files, path: str, to: str) -> bool:
        done = renamed(files, path, to)
        if to.endswith("version.json"):
            message = "No answer within 60 s."
            raise HistoryError(message)
        return done

    with patch.object(Files, "rename", cut_off), pytest.raises(HistoryError, match="No answer"):
        site.history.flush()
    with pytest.raises(HistoryError, match="or a write was cut off"):
        site.history.flush()
    site.run(10, offset_of=slow)
    site.history.flush()
    assert site.orders() == list(range(site.order))


@pytest.mark.long
def test_a_history_whose_path_cannot_be_used_begins_when_it_can(site: Site, tmp_path: Path) -> None:
    in_the_way = tmp_path / "elsewhere"
    in_the_way.write_text("no directory")
    site.path = str(in_the_way / "parquet")
    site.start()
    assert site.history.health.last_error
    in_the_way.unlink()
    site.clock.now_ms += 60_000
    site.history.write()
    assert not site.history.health.last_error
    site.run(10, offset_of=slow)
    site.history.flush()
    assert site.orders() == list(range(site.order))


@pytest.mark.long
def test_commits_that_wait_in_the_spool_of_an_earlier_run_are_not_written_down_again(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.crash()
    site.order -= 12  # the snapshot was older: some is read again
    site.clock.now_ms += 60_000
    with patch.object(HistoryWriter, "take_in", side_effect=HistoryError("The disk is full.")):
        site.start()
    site.run(10, offset_of=slow)
    site.history.flush()
    assert site.orders() == list(range(site.order))


@pytest.mark.long
def test_what_finds_no_room_is_counted_keeps_no_snapshot_waiting_and_the_history_begins_anew(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    site.run(10, offset_of=slow)
    with patch.object(Spool, "append", side_effect=OSError(errno.ENOSPC, "No space left on device")):
        site.history.sync("c")
    assert site.history.health.lost_pages == 1
    assert "No space left" in site.history.health.last_error
    site.run(10, offset_of=slow)
    site.history.spool()  # it is too early to try again
    assert site.history.health.lost_pages == 2
    lost = range(60, site.order)
    site.clock.now_ms += 60_000
    site.history.spool()
    site.run(60, offset_of=slow)
    site.history.flush()
    assert site.orders() == [order for order in range(site.order) if order not in lost]
    said, replayed = said_and_replayed(site, site.clock.now_ms - 30_000)
    assert said
    assert replayed == said


@pytest.mark.long
def test_a_cluster_that_is_left_while_the_path_is_away_waits_in_the_spool(site: Site) -> None:
    site.run(10, offset_of=slow)
    with patch.object(HistoryWriter, "take_in", side_effect=HistoryError("The disk is full.")):
        site.history.leave("c")
    site.clock.now_ms += 1_000
    site.start()
    assert site.orders() == list(range(site.order))


def test_small_files_are_put_together_and_the_old_ones_go_after_a_while(site: Site) -> None:
    for _ in range(5):
        site.run(3, offset_of=slow)
        site.history.flush()
    writer, commits = HistoryWriter(site.spark, site.path), "commits/*/*/*.parquet"
    writer.maintain(Upkeep(most_files=3), now_ms=site.clock.now_ms)
    assert len(list(Path(site.path).glob(commits))) == 6
    assert site.orders() == list(range(site.order))
    writer.maintain(Upkeep(most_files=3), now_ms=site.clock.now_ms + LATER_MS)
    assert len(list(Path(site.path).glob(commits))) == 1
    assert site.orders() == list(range(site.order))


def test_days_beyond_the_retention_are_let_go(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    site.clock.now_ms += 5 * 86_400_000
    site.run(10, offset_of=slow)
    site.history.flush()
    writer = HistoryWriter(site.spark, site.path)
    writer.maintain(Upkeep(retention_days=2), now_ms=site.clock.now_ms)
    assert site.orders() == list(range(60, 120))


def test_many_versions_are_summed_up_and_nothing_is_lost(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from warren.history import catalog
    from warren.history.files import Files

    monkeypatch.setattr(catalog, "CHECKPOINT_EVERY", 5)
    log = catalog.HistoryLog(Files(spark, str(tmp_path)))
    for at in range(12):
        entry = catalog.Entry(f"p{at}", "commits", "c", "2026-01-01", 1, 1, at, at, ("order",))
        log.commit(catalog.Version(at, (entry,), recorded={"c": {"kafka": Recorded("id", {0: at})}}))
    again = catalog.HistoryLog(Files(spark, str(tmp_path))).catalog
    assert (len(again.files), again.version, again.recorded) == (12, 12, {"c": {"kafka": Recorded("id", {0: 11})}})
    assert len(list(tmp_path.glob("_log/*.json"))) <= 2 * catalog.CHECKPOINT_EVERY + 2


def test_two_writers_are_told(spark: SparkSession, tmp_path: Path) -> None:
    from warren.history.catalog import HistoryLog, Version
    from warren.history.files import Files

    one, other = (HistoryLog(Files(spark, str(tmp_path))) for _ in range(2))
    one.commit(Version(1))
    with pytest.raises(HistoryError, match="Another Warren has written"):
        other.commit(Version(2))


# -- bad input -------------------------------------------------------------------------------------------------------


def test_a_path_without_history_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="There is no history in"):
        HistoryReader(spark, str(tmp_path))


@pytest.mark.parametrize(
    ("span", "says"),
    [
        (Span("c", T0_MS + 5_000, T0_MS + 5_000), "is empty"),
        (Span("c", T0_MS - 9_000_000, T0_MS - 8_000_000), "before the history begins. It reaches from 2026-01-01"),
        (Span("c", T0_MS + 9_000_000, T0_MS + 9_100_000), "after the history ends"),
        (Span("d", T0_MS, T0_MS + 1), "no history of cluster d. There is one of: c"),
    ],
)
def test_ranges_without_anything_in_them_are_told(site: Site, span: Span, says: str) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    with pytest.raises(HistoryError, match=says):
        site.reader().checked(span)


def test_a_truncated_file_is_told_or_left_out_if_that_is_wanted(site: Site) -> None:
    site.run(10, offset_of=slow)
    site.history.flush()
    site.run(10, offset_of=slow)
    site.history.flush()
    first = min(Path(site.path).glob("commits/*/*/*.parquet"))
    first.write_bytes(first.read_bytes()[:500])
    with pytest.raises(HistoryError, match=r"has 500 bytes instead of .* leave it out with --skip-damaged"):
        site.reader().frame("commits", "c")
    assert site.reader(skips_damaged=True).frame("commits", "c").count() == 60


def test_a_file_with_other_columns_is_read_and_what_is_unknown_is_told(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    import pyarrow.parquet as pq

    site.run(10, offset_of=slow)
    site.history.flush()
    [path] = Path(site.path).glob("commits/*/*/*.parquet")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.drop_columns(["incarnation"]).append_column("colour", table["topic"]), path)
    path.with_name(f".{path.name}.crc").unlink()
    version = max(Path(site.path).glob("_log/*.version.json"))
    document = json.loads(version.read_text())
    for one in document["add"]:
        if one["table"] == "commits":
            one |= {"bytes": path.stat().st_size, "columns": [*one["columns"], "colour"]}
    version.write_text(json.dumps(document))
    version.with_name(f".{version.name}.crc").unlink()
    rows = site.reader().frame("commits", "c").collect()
    assert (len(rows), {row["incarnation"] for row in rows}) == (60, {None})
    assert "colour" in capsys.readouterr().out


def test_a_spool_of_another_format_is_kept_and_those_after_it_are_taken_in(site: Site) -> None:
    site.run(20, offset_of=slow)
    site.crash()
    [spool] = spool_files(site.history._directory("c"))
    foreign = spool.with_name("1-0.spool")  # older than ours
    shutil.copy(FORMATS / "history-spool-v1.spool", foreign)
    site.start()

    assert site.orders() == list(range(site.order))
    assert not foreign.exists()
    assert foreign.with_suffix(".unreadable").read_bytes() == (FORMATS / "history-spool-v1.spool").read_bytes()


def test_a_history_that_an_older_warren_began_can_be_replayed_as_a_whole(site: Site) -> None:
    """Its keyframes lack columns that ours have."""
    site.run(20, offset_of=slow)
    site.crash()
    [spool] = spool_files(site.history._directory("c"))
    shutil.copy(FORMATS / "history-spool-v2.spool", spool.with_name("1-0.spool"))
    site.start()
    reader = site.reader()
    told = replayed_verdicts(reader, Request(reader.checked(Span("c", 0, EVER_MS)))).to_pylist()

    assert {"lag_0", "low_order_0", "lag_at_least_0"} <= set(reader.frame("windows", "c").columns)
    assert {"audit", "billing", *GROUPS} <= {row["group"] for row in told}
