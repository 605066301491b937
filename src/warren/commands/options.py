"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from warren.errors import WarrenError

DEFAULT_URL = "http://127.0.0.1:8000"

Url = Annotated[str, typer.Option(envvar="WARREN_URL", help="Where Warren is.")]
Token = Annotated[
    str, typer.Option(envvar="WARREN_TOKEN", help="A token that its configuration accepts.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Cluster = Annotated[str, typer.Option(metavar="NAME", help="Of this cluster; not needed where names are clear.")]


class UsageError(WarrenError):
    """What was given on the command line makes no sense; it is the exit code 2 of all commands."""
