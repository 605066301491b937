"""Which tests run in the same lane, and what lanes take first.

`make test` runs two pytest processes, each with brokers and a Spark session of its own. A lane takes a group as a
whole: a module, or a directory whose tests share something that takes long to start.
"""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadScopeScheduling

SHARING: Final = ("tests/live", "tests/page")
"""Directories whose tests share a Warren, or a browser and the demo's groups."""
OLD_KAFKA = "[3.9.2"
"""Tests of that version have another broker and another Warren."""
HEAVIEST_FIRST: Final = (
    "tests/live", "tests/page", "tests/integration", "tests/live 3.9.2", "tests/spark", "tests/property", "tests/unit",
)  # fmt: skip
"""Groups and directories: small ones at the end fill the lane that is free.

What `tests/live` shares ends with the last test of the directory in a row, so the two versions stay apart.
"""


def group_of(nodeid: str) -> str:
    """Return the group of a test: its module, or its directory if the tests there share something."""
    module = nodeid.partition("::")[0]
    directory = module.rpartition("/")[0]
    if directory not in SHARING:
        return module
    return f"{directory} 3.9.2" if OLD_KAFKA in nodeid else directory


def rank(nodeid: str) -> tuple[int, str]:
    """Return a sort key: groups stay together, the heaviest first."""
    group = group_of(nodeid)
    place = group if group in HEAVIEST_FIRST else group.rpartition("/")[0]
    return HEAVIEST_FIRST.index(place), group


class Lanes(LoadScopeScheduling):
    """Gives a lane that is free the next group."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
