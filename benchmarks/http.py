"""How many requests a live server answers, and how long a scrape takes, over a store of 100,000 group-partitions.

The server runs in a process of its own, without Kafka and Spark; `wrk` asks it. Prints JSON lines.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
import urllib.request

import psutil
import pyarrow as pa

from benchmarks.store import INTERVALS, PARTITIONS, STEP_MS, commits, heads, new_state
from tests.support.programs import WRK
from warren.app import now_ms
from warren.clusters.state import ClusterState
from warren.config.load import for_bootstrap
from warren.embedded.broker import free_port
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.windows.rows import COMMIT_ROWS, RowKind

PAIRS = range(100_000 // PARTITIONS)
WIDE_TOPICS = 1_000 // PARTITIONS
WIDE = "wide"
"""A group with 1,000 partitions."""

SECONDS = 4
CONNECTIONS = 8
SCRAPES = 5
SCRAPE_PAUSE_S = 1.1
"""A page is kept for a second; each of these is made anew."""

PATHS = {
    "lag of 1,000 partitions": f"/v3/kafka/bench/consumer/{WIDE}/lag",
    "consumer list": "/v3/kafka/bench/consumer",
    "topic": "/v3/kafka/bench/topic/topic-00001",
    "metrics, kept": "/metrics",
}


def main() -> None:
    """Start a server, ask it, end it."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "benchmarks.http", "--serve", address]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        try:
            _wait_until_up(address)
            for name, path in PATHS.items():
                tell(what=name, **ask(f"http://{address}{path}"))
            tell(what="metrics, made anew", **scrape(f"http://{address}/metrics", psutil.Process(server.pid)))
        finally:
            server.terminate()


def serve(address: str) -> None:
    """Answer until the process that started this one ends."""
    config = for_bootstrap("127.0.0.1:1", address)
    listener = HttpListener(config.listeners["default"])
    site = make_app({"bench": filled()}, lambda: config, now_ms)
    listener.start(site, site.at_once)
    sys.stdin.read()


def filled() -> ClusterState:
    """A cluster whose windows are full."""
    state = new_state()
    for step in range(INTERVALS):
        at_ms = now_ms() - (INTERVALS - step) * STEP_MS
        state.apply_head_rows(heads(at_ms - 1, step), now_ms=at_ms)
        state.apply_commit_rows("bench", commits(step, at_ms, PAIRS), now_ms=at_ms)
        state.apply_commit_rows("bench", wide_commits(step, at_ms), now_ms=at_ms)
    state.apply_head_rows(heads(now_ms(), INTERVALS), now_ms=now_ms())
    return state


def wide_commits(step: int, at_ms: int) -> pa.Table:
    """A commit of each partition of the wide group."""
    each = range(PARTITIONS)
    rows: list[dict[str, object]] = [
        {
            "kind": RowKind.COMMIT, "source_partition": 1, "group": WIDE, "topic": f"topic-{topic:05}",
            "partition": list(each), "offset": [900 * (step + 1) for _ in each], "timestamp_ms": [at_ms for _ in each],
            "order": [step * 1_000 + topic * PARTITIONS + partition for partition in each],
        }
        for topic in range(WIDE_TOPICS)
    ]  # fmt: skip
    rows.append({"kind": RowKind.POSITION, "partition": [1], "offset": [(step + 1) * 1_000]})
    return pa.Table.from_pylist(rows, COMMIT_ROWS)


def ask(url: str) -> dict[str, float]:
    """Requests a second, and how long the slowest in a hundred took."""
    command = [
        str(WRK.path()),
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{SECONDS}s",
        "--latency",
        "-H",
        "Accept-Encoding: gzip",
        url,
    ]
    done = subprocess.run(command, env=WRK.environment(), capture_output=True, text=True, check=True)
    assert "Non-2xx" not in done.stdout, done.stdout
    [rate] = re.findall(r"Requests/sec: +([\d.]+)", done.stdout)
    [(slowest, unit)] = re.findall(r"99% +([\d.]+)(\w+)", done.stdout)
    in_ms = {"us": 0.001, "ms": 1, "s": 1_000, "m": 60_000}
    return {"requests_per_s": float(rate), "p99_ms": float(slowest) * in_ms[unit]}


def scrape(url: str, server: psutil.Process) -> dict[str, float]:
    """As Prometheus asks: compressed, and not more often than a page is kept."""
    seconds, size, used_s = [], 0, _cpu_s(server)
    for _ in range(SCRAPES):
        time.sleep(SCRAPE_PAUSE_S)
        started_s = time.perf_counter()
        request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            size = len(answer.read())
        seconds.append(time.perf_counter() - started_s)
    cpu_s = (_cpu_s(server) - used_s) / SCRAPES
    return {"scrape_s": statistics.median(seconds), "cpu_s": cpu_s, "compressed_bytes": size}


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _wait_until_up(address: str, limit_s: float = 60) -> None:
    deadline_s = time.monotonic() + limit_s
    while time.monotonic() < deadline_s:
        try:
            with urllib.request.urlopen(f"http://{address}/burrow/admin", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    message = "the server did not come up"
    raise RuntimeError(message)


def tell(**figures: object) -> None:
    """One JSON line."""
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
