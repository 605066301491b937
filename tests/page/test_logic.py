"""The logic of the page without a browser: what vitest runs in web/test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"


def test_all_tests_of_the_pages_logic_pass() -> None:
    """Node.js is the machine's, or the one that was installed beside our Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["npm", "--prefix", str(WEB), "test"],
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
