"""`make bench`: catch-up speed, commit-to-visible latency, CPU and memory, on a broker of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.load import Load, commit, fill, group_name, topic_name
from benchmarks.process import usage_of
from warren.embedded.broker import Broker, free_port

PASSES = 4
HISTORY_PASSES = 10
LATENCY_SAMPLES = 100
GOAL_RECORDS_PER_S = 500_000

CONFIG = """
[httpserver.default]
address = "{address}"

[cluster.bench]
servers = ["{bootstrap}"]

[consumer.bench]
cluster = "bench"
"""


def main() -> int:
    """Print what was measured; exit code 1 if a result is wrong (not if it is slow)."""
    with tempfile.TemporaryDirectory() as scratch:
        _measure_store(Path(scratch))
    _measure_http()
    load = Load()
    with tempfile.TemporaryDirectory() as scratch, Broker(Path(scratch) / "kafka", report=print) as broker:
        broker.prepare_groups()
        seconds = fill(broker.bootstrap, load)
        _tell("load", f"{load.records:,} commits of {load.group_partitions:,} group-partitions in {seconds:.1f} s")
        _measure_catch_up(broker.bootstrap, Path(scratch) / "catch-up", load)
        _measure_history(broker.bootstrap, Path(scratch) / "history")
        _measure_running(broker.bootstrap, Path(scratch) / "run", load)
    with tempfile.TemporaryDirectory() as scratch, Broker(Path(scratch) / "kafka", report=print) as broker:
        broker.prepare_groups()
        load = Load(commits=27, rebalances=2)
        fill(broker.bootstrap, load)
        share = load.group_records / load.records
        _tell("load", f"{load.records:,} records, {share:.0%} of them about groups and their members")
        _measure_catch_up(broker.bootstrap, Path(scratch) / "catch-up", load)
    _measure_replay()
    return 0


def _measure_store(directory: Path) -> None:
    """The windows alone, at a million group-partitions."""
    command = [sys.executable, "-m", "benchmarks.store", str(directory)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            told |= json.loads(line)
    _tell("store", f"{told['rows']:,} group-partitions x 10 intervals")
    rate = told["rows"] / statistics.median(told["apply_s"])
    _tell("  apply", f"{rate:,.0f} commits/s (goal 1,000,000), the first time {told['first_apply_s']:.1f} s")
    _tell("  memory", f"{told['bytes_per_row']:.0f} bytes a group-partition, heads and names included (goal 400)")
    for what, name in (("one in ten behind", "mixed"), ("all behind", "all_behind")):
        burrow, warren = (statistics.median(told[f"evaluate_{name}{rules}_s"]) for rules in ("", "_warren"))
        _tell(f"  judge everything, {what}", f"{burrow:.2f} s by `burrow` (goal 0.2), {warren:.2f} s by `warren`")
    _tell("  judge and list 100 groups", f"{statistics.median(told['evaluate_and_list_s']):.2f} s")
    _tell("  snapshot", f"{statistics.median(told['save_s']):.1f} s for {told['file_mb']:.0f} MB")
    _tell("  longest wait of a batch", f"{told['longest_wait_s'] * 1000:.0f} ms meanwhile (goal 200)")
    _tell("  new process to first answer", f"{told['restart_s']:.1f} s (goal 5), reading {told['restore_s']:.1f} s")
    shrunk = f"{told['full_mb']:.0f} MB to {told['shrunk_mb']:.0f} MB in {told['expire_s']:.1f} s"
    _tell("  nine of ten groups expire", shrunk)


def _measure_http() -> None:
    """The server alone, over 100,000 group-partitions."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.http"], stdout=subprocess.PIPE, text=True, check=True)
    *asked, scraped = [json.loads(line) for line in done.stdout.splitlines()]
    _tell("HTTP", "over 100,000 group-partitions, 8 connections")
    for one in asked:
        _tell(f"  {one['what']}", f"{one['requests_per_s']:,.0f} requests/s, p99 {one['p99_ms']:.1f} ms")
    size = f"{scraped['cpu_s']:.2f} s of CPU, {scraped['compressed_bytes'] / 1e6:.1f} MB compressed"
    _tell(f"  {scraped['what']}", f"{scraped['scrape_s']:.2f} s (goal 0.3), {size}")


def _measure_catch_up(bootstrap: str, home: Path, load: Load) -> None:
    command = [sys.executable, "-m", "benchmarks.catch_up", bootstrap, str(home), str(PASSES)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    session, *passes = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(one["records"] >= load.records for one in passes), passes
    _tell("Spark session up", f"{session['session_s']:.1f} s")
    for since, what in (("since_first_read_s", "first to last record"), ("since_query_start_s", "with query start")):
        cold, *warm = [one["records"] / one[since] for one in passes]
        _tell(f"catch-up, {what}", f"cold {cold:,.0f}, warm median {statistics.median(warm):,.0f} records/s")
        print(f"{'':<36} warm passes {', '.join(f'{rate:,.0f}' for rate in warm)} (goal {GOAL_RECORDS_PER_S:,})")


def _measure_history(bootstrap: str, home: Path) -> None:
    """The same catch-up with and without a history, pass by pass; the first two are cold and do not count."""
    command = [sys.executable, "-m", "benchmarks.catch_up", bootstrap, str(home), str(HISTORY_PASSES), "history"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    passes = [json.loads(line) for line in done.stdout.splitlines()][3:]
    kept = [one for one in passes if "history_commits" in one]
    rates = [
        statistics.median(one["records"] / one["since_first_read_s"] for one in of)
        for of in (kept, [one for one in passes if one not in kept])
    ]
    _tell(
        "history",
        f"{rates[0]:,.0f} records/s with it, {rates[1]:,.0f} without: {1 - rates[0] / rates[1]:+.1%} (goal 5%)",
    )
    size, flush_s = kept[-1]["bytes_per_commit"], statistics.median(one["flush_s"] for one in kept)
    commits = kept[-1]["history_commits"]
    _tell("  on disk", f"{size:.1f} bytes a commit (goal 40), {commits:,} commits in Parquet after {flush_s:.1f} s")


def _measure_replay() -> None:
    """A generated history on a Spark cluster of one and of two executors."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.replay"], stdout=subprocess.PIPE, text=True, check=True)
    made, *runs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    _tell(
        "replay",
        f"{made['commits']:,} commits of 50,000 group-partitions, made by Spark in {made['generated_s']:.0f} s",
    )
    for one in runs:
        commits = made["commits"] * one["share"]
        what = f"  {commits / 1e6:.1f} M commits, {one['executors']} executors"
        _tell(what, f"{one['took_s']:.1f} s, {commits / one['took_s']:,.0f} commits/s")


def _measure_running(bootstrap: str, directory: Path, load: Load) -> None:
    directory.mkdir()
    address = f"127.0.0.1:{free_port()}"
    (directory / "warren.toml").write_text(CONFIG.format(address=address, bootstrap=bootstrap))
    started_s = time.monotonic()
    command = [sys.executable, "-m", "warren.cli", "run", "--config-dir", str(directory)]
    environment = {**os.environ, "WARREN_HOME": str(directory / "home")}
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        _wait_until_ready(address)
        _tell("process start to ready", f"{time.monotonic() - started_s:.1f} s with {load.records:,} commits to read")
        _measure_latency(bootstrap, address)
        _measure_idle(process.pid, load)
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(address: str, limit_s: float = 300) -> None:
    deadline_s = time.monotonic() + limit_s
    while time.monotonic() < deadline_s:
        try:
            with urllib.request.urlopen(f"http://{address}/burrow/admin/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    message = "not ready in time"
    raise RuntimeError(message)


def _measure_latency(bootstrap: str, address: str) -> None:
    """From the moment a commit is acknowledged until /lag shows it, at moments spread over the trigger interval."""
    seconds = []
    for sample in range(LATENCY_SAMPLES):
        offset = 1_000 + sample
        commit(bootstrap, group_name(0), topic_name(0), 0, offset)
        started_s = time.monotonic()
        while _committed(address) != offset:
            time.sleep(0.005)
        seconds.append(time.monotonic() - started_s)
        time.sleep(0.037 * (sample % 27))
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99) - 1]
    _tell(
        "commit visible in /lag", f"p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, max {ordered[-1] * 1000:.0f} ms"
    )


def _committed(address: str) -> int:
    with urllib.request.urlopen(f"http://{address}/v3/kafka/bench/consumer/{group_name(0)}/lag", timeout=30) as answer:
        return int(json.load(answer)["status"]["partitions"][0]["end"]["offset"])


def _measure_idle(pid: int, load: Load, seconds: float = 30.0) -> None:
    before = usage_of(pid)
    time.sleep(seconds)
    after = usage_of(pid)
    _tell("idle CPU", f"{(after.cpu_s - before.cpu_s) / seconds:.3f} cores over {seconds:.0f} s")
    _tell(
        "memory, whole tree (PSS)",
        f"{after.pss_mb:,.0f} MB in {after.processes} processes at {load.group_partitions:,} group-partitions",
    )


def _tell(what: str, figure: str) -> None:
    print(f"{what:<36} {figure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
