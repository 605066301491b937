"""The planning process of a stream ends quietly when Spark has gone, and with an error when something else is wrong."""

from __future__ import annotations

import subprocess
import sys

PLANNING = """
from warren.sources.heads import HeadsOptions, HeadsReader
reader = HeadsReader(HeadsOptions({{}}, 1, 1))
try:
    raise {error}
finally:
    reader.stop()
"""


def plan_until(error: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PLANNING.format(error=error)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_planning_ends_quietly_when_spark_closes_the_connection() -> None:
    done = plan_until("EOFError")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_planning_that_fails_for_another_reason_says_so() -> None:
    done = plan_until("ValueError('no such topic')")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: no such topic"
