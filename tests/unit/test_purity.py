"""The deciding parts stay pure: their imports say so."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import warren

SOURCE = Path(warren.__file__).parent
PURE = ("codec", "groups", "windows", "rules")
ALLOWED = {"numpy", "pyarrow", "warren"}
IMPURE_STANDARD = {"os", "time", "logging", "socket", "threading", "subprocess", "asyncio", "random", "datetime"}
DOWNWARDS = {
    "codec": {"codec"},
    "groups": {"groups", "codec"},
    "windows": {"windows", "groups", "codec"},
    "rules": {"rules", "windows", "groups", "codec"},
}


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", [path for name in PURE for path in sorted((SOURCE / name).glob("*.py"))], ids=str)
def test_pure_packages_import_only_each_other_downwards(path: Path) -> None:
    for module in imports_of(path):
        top = module.split(".")[0]
        assert top in ALLOWED | sys.stdlib_module_names - IMPURE_STANDARD, module
        if top == "warren" and module not in ("warren.errors", "warren.model", "warren.patterns"):
            assert module.split(".")[1] in DOWNWARDS[path.parent.name], module


PURE_MODULES = (
    *(f"history/{name}.py" for name in ("tables", "keyframes", "journal", "scribe", "judging")),
    *(f"replay/{name}.py" for name in ("kernel", "heads", "compare", "report")),
    *(
        f"capacity/{name}.py"
        for name in ("grid", "condense", "measure", "measured", "sizing", "findings", "result", "report")
    ),
    *(f"reports/{name}.py" for name in ("page", "plots")),
    "packing.py",
)
BELOW = {"packing", "reports", "history", "replay", "capacity", *DOWNWARDS["rules"]}


@pytest.mark.parametrize("path", [SOURCE / name for name in PURE_MODULES], ids=str)
def test_what_is_written_down_and_replayed_depends_on_nothing_else(path: Path) -> None:
    for module in imports_of(path):
        top = module.split(".")[0]
        assert top in ALLOWED | sys.stdlib_module_names - (IMPURE_STANDARD - {"datetime"}), module
        if top == "warren" and module not in ("warren.errors", "warren.model", "warren.patterns"):
            assert module.split(".")[1] in BELOW, module


@pytest.mark.parametrize(
    "name",
    ["points", "health_points", "choice", "columns", "families", "protobuf", "line_protocol", "documents", "moments"],
)
def test_what_points_are_made_of_neither_reads_nor_asks_the_clock(name: str) -> None:
    allowed = {"columns": {"datetime"}}.get(name, set())
    for module in imports_of(SOURCE / "sinks" / f"{name}.py"):
        top = module.split(".")[0]
        assert top in (ALLOWED | sys.stdlib_module_names) - IMPURE_STANDARD | allowed, module
        assert not module.startswith(("warren.sources", "warren.kafka", "warren.pipeline", "warren.config")), module


@pytest.mark.parametrize("path", sorted((SOURCE / "notify" / "templates").glob("*.py")), ids=str)
def test_templates_neither_read_nor_write_nor_ask_the_clock_but_in_one_place_each(path: Path) -> None:
    """A file is read in `template.py`, and the machine's zone is asked for in `times.py`."""
    allowed = {"template.py": {"pathlib"}, "times.py": {"time", "datetime"}}.get(path.name, set())
    for module in imports_of(path):
        top = module.split(".")[0]
        assert top in ({"numpy", "warren"} | sys.stdlib_module_names) - IMPURE_STANDARD - {"pathlib"} | allowed, module
        if top == "warren":
            assert module.startswith(("warren.notify.templates", "warren.errors", "warren.model", "warren.serve")), (
                module
            )
