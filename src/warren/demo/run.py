"""`warren demo`, from start to end: the stage is set, shown until it is enough, and cleared."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from warren.cli import on_stop_signals
from warren.demo.screen import open_screen, say
from warren.demo.stage import CLUSTER, Stage
from warren.errors import SetupError
from warren.machine.cache import locked
from warren.machine.logs import configure_logging

REFRESH_S = 1.0
READY_POLL_S = 0.1


def run_demo(home: Path, http: str) -> None:
    """Run the demo until Ctrl-C or SIGTERM."""
    directory = home / "demo"
    interrupt = Interrupt()
    on_stop_signals(interrupt)
    try:
        with own(directory), logs_in(directory / "warren.log"):
            stage = Stage(directory, http)
            try:
                play(stage, directory)
            finally:
                interrupt.is_allowed = False
                say("Stopping.")
                stage.stop()
    except KeyboardInterrupt:
        pass
    except OSError as error:
        message = f"The demo cannot use {directory}: {error.strerror or error}."
        raise SetupError(message) from error


class Interrupt:
    """A request to stop breaks off whatever the demo is doing, except clearing up."""

    def __init__(self) -> None:
        self.is_allowed = True

    def __call__(self) -> None:
        if self.is_allowed:
            raise KeyboardInterrupt


def play(stage: Stage, directory: Path) -> None:
    """Start everything and show it, until interrupted or something is amiss."""
    started_s = time.monotonic()
    say("Starting Kafka and Warren.")
    bootstrap = stage.start_kafka_and_warren()
    say(f"Kafka answers on {bootstrap} after {time.monotonic() - started_s:.0f} s.")
    say("Starting a shop with six consumer groups, four of them in trouble.")
    stage.start_workload(bootstrap)
    while not stage.is_ready:
        stage.check()
        time.sleep(READY_POLL_S)
    say(f"Warren is ready after {time.monotonic() - started_s:.0f} s. Logs are in {directory}.")
    introduce(stage.url, stage.history)
    with open_screen() as screen:
        while True:
            stage.check()
            screen.show(stage.verdicts())
            time.sleep(REFRESH_S)


def introduce(url: str, history: Path) -> None:
    """Say where to look."""
    warren = sys.argv[0] if Path(sys.argv[0]).name == "warren" else "warren"
    say(f"\nOpen {url}/ in a browser, or try:\n", style="bold")
    say(f"  {warren} explain orders-stalled --url {url}")
    say(f"  {warren} top --url {url}")
    for path in ("orders-slow/lag", "orders-stopped/status"):
        say(f"  curl {url}/v3/kafka/{CLUSTER}/consumer/{path}")
    say("\nAnd after a few minutes, for what other rules would have said:\n")
    say(f"  {warren} replay --history {history} --from 10m --rules warren")
    say("\nEach group needs half a minute to show its state. Ctrl-C stops everything.\n")


@contextmanager
def own(directory: Path) -> Iterator[None]:
    """Two demos in one directory would remove each other's data."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(directory / "lock", wait=False))
        except BlockingIOError as error:
            message = f"Another demo is running in {directory}."
            raise SetupError(message, hint="Stop it, or set WARREN_HOME to another directory.") from error
        yield


@contextmanager
def logs_in(path: Path) -> Iterator[None]:
    """Send Warren's log, and whatever Spark and its processes say on standard error, to a file.

    The terminal is the demo's; standard error is itself again afterwards, for the sentence that says what went wrong.
    """
    log = path.open("w", buffering=1)  # not closed before the process ends: Spark's threads may still write to it
    standard_error = os.dup(2)
    os.dup2(log.fileno(), 2)
    configure_logging(stream=log)
    try:
        yield
    finally:
        os.dup2(standard_error, 2)
        os.close(standard_error)
