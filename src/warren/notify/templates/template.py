"""Templates: read once, checked against samples, executed for each message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from warren.notify.templates import nodes
from warren.notify.templates.builtins import BUILTINS
from warren.notify.templates.errors import Problem, Source, TemplateError
from warren.notify.templates.execute import Rendered, execute
from warren.notify.templates.helpers import helper_functions
from warren.notify.templates.parser import parse
from warren.notify.templates.times import MACHINE_ZONE
from warren.notify.templates.values import Function, Value, Zone, to_bytes

SHIPPED = Path(__file__).parents[1] / "shipped"
"""Where the templates are that come with Warren."""


@dataclass(frozen=True)
class Template:
    """A template that was read without a mistake."""

    source: Source
    trees: Mapping[str, nodes.Body]
    functions: Mapping[str, Function]

    @property
    def name(self) -> str:
        """The name of its file, or what its text was called."""
        return self.source.name

    def execute(self, data: Value) -> Rendered:
        """The bytes that Go would write, and warnings."""
        return execute(self.source, self.trees, self.functions, data)

    def render(self, data: Value) -> str:
        """The text; bytes that are no UTF-8 become replacement characters."""
        return self.execute(data).output.decode("utf-8", "replace")


def parse_template(content: str | bytes, name: str, functions: Mapping[str, Function] | None = None) -> Template:
    """Read a template; without `functions` it has those that every template has, as templates of URLs do."""
    all_functions = BUILTINS | dict(functions or {})
    raw = content if isinstance(content, bytes) else to_bytes(content)
    source = Source(name, raw.decode("utf-8", "surrogateescape"))
    return Template(source, parse(source, all_functions), all_functions)


def load_template(path: Path, zone: Zone = MACHINE_ZONE) -> Template:
    """Read the template of a message from a file; it has Burrow's helpers."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TemplateError(
            str(path), 0, 0, f"the file cannot be read: {error.strerror}", problem=Problem.SYNTAX
        ) from error
    return parse_template(content, str(path), helper_functions(zone))


def check_template(template: Template, samples: Iterable[Value]) -> tuple[str, ...]:
    """Execute a template with samples: mistakes that show with every group are raised, others returned as warnings."""
    warnings: dict[str, None] = {}
    for data in samples:
        try:
            warnings |= dict.fromkeys(template.execute(data).warnings)
        except TemplateError as error:
            if error.problem is not Problem.DATA:
                raise
            warnings[f"{error} With some groups nothing can be sent."] = None
    return tuple(warnings)
