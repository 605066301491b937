"""Time limits of properties."""

from __future__ import annotations

from pathlib import Path

import pytest

LIMIT_S = 1_500
"""For one property: thousands of examples take minutes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
