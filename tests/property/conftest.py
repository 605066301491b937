"""How thoroughly properties are tried: the same examples in every run of `make test`, ever new ones in `make chaos`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

EXAMPLES = 1_000

settings.register_profile("test", max_examples=EXAMPLES, deadline=None, derandomize=True)
settings.register_profile("chaos", max_examples=2 * EXAMPLES, deadline=None)
settings.load_profile("chaos" if "WARREN_TEST_KILLS" in os.environ else "test")

LIMIT_S = 900
"""For one property: thousands of examples take minutes on a slow machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
