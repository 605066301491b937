"""Layout of the test suite: helpers live in tests/support, not in test modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def imports_from_test_modules(source: str) -> list[str]:
    """Return what a module imports from modules that pytest collects (`test_*`) or loads itself (`conftest`)."""
    imported = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = f"tests.{node.module or ''}" if node.level else str(node.module)
            imported += [f"{module}.{alias.name}" for alias in node.names]
    return sorted(filter(_is_in_test_module, imported))


def _is_in_test_module(name: str) -> bool:
    package, *rest = name.split(".")
    return package == "tests" and any(part.startswith("test_") or part == "conftest" for part in rest)


@pytest.mark.parametrize(
    "source",
    [
        "from tests.unit.test_v1 import ms",
        "from tests.unit import test_v1",
        "import tests.unit.test_v1",
        "from tests.page.conftest import Open",
        "from .conftest import Open",
        "from . import test_v1",
        "def late():\n    from tests.unit.test_v1 import ms",
    ],
)
def test_an_import_from_a_test_module_is_found(source: str) -> None:
    assert imports_from_test_modules(source)


@pytest.mark.parametrize("source", ["from tests.support.waiting import eventually", "from starlette import testclient"])
def test_an_import_from_any_other_module_is_allowed(source: str) -> None:
    assert imports_from_test_modules(source) == []


def test_no_module_imports_from_a_test_module_or_a_conftest() -> None:
    imports = {
        str(path.relative_to(TESTS)): imports_from_test_modules(path.read_text("utf-8"))
        for path in sorted(TESTS.rglob("*.py"))
    }

    assert {path: names for path, names in imports.items() if names} == {}
