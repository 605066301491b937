"""Templates come out as Go's do, byte for byte; `tests/go/templates` wrote what is expected."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from warren.notify.templates import TemplateError, helper_functions, notification_data, parse_template
from warren.notify.templates.times import named_zone
from warren.notify.templates.values import Struct

GOLDEN = Path(__file__).parents[1] / "golden" / "templates"
CASES: list[dict[str, Any]] = json.loads((GOLDEN / "cases.json").read_text())
EXPECTED: dict[str, dict[str, Any]] = json.loads((GOLDEN / "expected.json").read_text())
ZONE = named_zone("Europe/Berlin")  # the Go program has it, too
ADDRESS = re.compile(rb"0x[0-9a-f]{9,}")


def data_called(name: str) -> Struct:
    one = json.loads((GOLDEN / "data.json").read_text())[name]
    return notification_data(
        one["cluster"], one["group"], one["id"], one["start_ms"], one["extras"], one["status"], zone=ZONE
    )


DATA = {name: data_called(name) for name in ("trouble", "fine", "bare")}


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    """What came of a case, in the words of the Go program."""
    content = (GOLDEN / case["file"]).read_text() if "file" in case else case["template"]
    try:
        template = parse_template(content, "t", {} if case.get("url") else helper_functions(ZONE))
    except TemplateError as error:
        return {"error": "parse", "line": error.line}
    try:
        output = template.execute(DATA[case["data"]]).output
    except TemplateError as error:
        return {"error": "exec", "line": error.line, "column": error.column - 1}
    return shown(output)


def shown(output: bytes) -> dict[str, Any]:
    try:
        return {"output": ADDRESS.sub(b"0xADDRESS", output).decode()}
    except UnicodeDecodeError:
        return {"hex": output.hex()}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_template_does_what_it_does_in_go(case: dict[str, Any]) -> None:
    assert outcome(case) == EXPECTED[case["name"]]
