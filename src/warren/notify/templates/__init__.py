"""Go's text/template with Burrow's data and helpers, so that templates written for Burrow work as they are.

lexer -> parser -> execute; what values are, how they compare and how they print is in the other modules. Pure but for
`load_template`, which reads a file, and the zone of the machine. Where it differs from Go on purpose:

- `.Id` is taken for `.ID`, with a warning: Burrow's own close template has it, and fails with it.
- `.Start` is printed without the reading of the monotonic clock (` m=+12.3`), and `.Order` is 0.
- The topics that `topicsbystatus` lists are sorted.
- In a file with definitions it is the text around them that is executed; Burrow takes any of them.
- There are no complex numbers, and of the methods of times only those in `methods.py`; none is about durations.
- At most 1 MB of text, 100 levels, 1,000,000 steps.
"""

from __future__ import annotations

from warren.notify.templates.data import notification_data
from warren.notify.templates.errors import Problem, TemplateError
from warren.notify.templates.helpers import helper_functions
from warren.notify.templates.samples import sample_data
from warren.notify.templates.template import SHIPPED, Template, check_template, load_template, parse_template

__all__ = [
    "SHIPPED",
    "Problem",
    "Template",
    "TemplateError",
    "check_template",
    "helper_functions",
    "load_template",
    "notification_data",
    "parse_template",
    "sample_data",
]
