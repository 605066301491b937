"""What lies in the repository is whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = ("<" * 7 + " ", ">" * 7 + " ")


def test_no_file_has_marks_of_a_merge_that_was_not_finished() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]
    assert texts
    for path in texts:
        lines = path.read_text("utf-8", "replace").splitlines()
        assert not [line for line in lines if line.startswith(MARKS)], path
