"""`warren silence` and `warren template`: silences of a running Warren, and what a template makes of a group."""

from __future__ import annotations

import getpass
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warren.commands import ask, show
from warren.commands.client import Client, ClientError, in_path
from warren.commands.durations import duration_ms
from warren.commands.options import DEFAULT_URL, AsJson, Token, Url, UsageError

if TYPE_CHECKING:
    from warren.notify.templates.values import Struct

SILENCES = "/api/v1/silences"
COLUMNS = ("id", "state", "from", "until", "cluster", "group", "topic", "by", "comment")

silence_commands = typer.Typer(help="Silences: nobody is told while they hold.", no_args_is_help=True)
template_commands = typer.Typer(help="Templates of messages.", no_args_is_help=True)


# -- silences --------------------------------------------------------------------------------------------------------


@silence_commands.command("add")
def add_silence(
    *,
    duration: Annotated[str, typer.Option("--for", metavar="TIME", help="How long, such as 30m, 2h or 1d12h.")],
    cluster: Annotated[str, typer.Option(metavar="RE", help="Clusters in which this is found.")] = "",
    group: Annotated[str, typer.Option(metavar="RE", help="Groups in which this is found.")] = "",
    topic: Annotated[str, typer.Option(metavar="RE", help="Groups that read a topic in which this is found.")] = "",
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who; you if nobody is named.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """From now on nobody is told about the groups that fit all patterns."""
    wanted = {"cluster": cluster, "group": group, "topic": topic, "duration_s": duration_ms(duration, "--for") // 1000}
    wanted |= {"comment": comment, "by": _user() if by is None else by}
    added = Client(url, token).ask("POST", SILENCES, wanted, has=COLUMNS)
    if as_json:
        show.as_json(added)
        return
    show.line(show.plain(f"Silence {added['id']} holds until {added['until']}."))


@silence_commands.command("list")
def list_silences(
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show silences that hold, will hold, or have held lately."""
    answer = Client(url, token).ask("GET", SILENCES, has=("silences",))
    if as_json:
        show.as_json(answer)
        return
    rows = [[one[name] for name in COLUMNS] for one in answer["silences"]]
    show.table([name.upper() for name in COLUMNS], rows, "There are no silences.")


@silence_commands.command("remove")
def remove_silence(
    silence_id: Annotated[str, typer.Argument(metavar="ID", help="As `warren silence list` shows it.")],
    *,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """End a silence at once."""
    removed = Client(url, token).ask("DELETE", f"{SILENCES}/{in_path(silence_id)}", has=COLUMNS)
    if as_json:
        show.as_json(removed)
        return
    show.line(show.plain(f"Silence {removed['id']} is removed."))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # nobody: a container may have no name for its user
        return ""


# -- templates -------------------------------------------------------------------------------------------------------


class Sample(StrEnum):
    """The samples that templates are tried with, in their order there."""

    TROUBLE = "trouble"
    OK = "ok"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@template_commands.command("render")
def render_template(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The template.")],
    *,
    sample: Annotated[Sample | None, typer.Option(help="Made-up data; trouble if no group is named.")] = None,
    cluster: Annotated[str, typer.Option(help="The cluster of a real group.")] = "",
    group: Annotated[str, typer.Option(help="A real group, as a running Warren sees it now.")] = "",
    extras: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="As in the configuration; may be given several times.")
    ] = None,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show what would be sent."""
    from warren.notify.templates.template import load_template

    if sample and (cluster or group):
        _misused("--sample is made up, and --group is real.", "Give one of them.")
    if bool(cluster) != bool(group):
        _misused("A real group needs --cluster and --group.", "Give both, or --sample.")
    template = load_template(file)
    by_name = _extras(extras or [])
    of_group = _real(Client(url, token), cluster, group, by_name) if group else _made_up(sample, by_name)
    rendered = template.execute(of_group)
    typer.echo(rendered.output, nl=False)
    for warning in rendered.warnings:
        typer.echo(f"Warning: {warning}", err=True)


def _misused(message: str, hint: str) -> None:
    raise UsageError(message, hint=hint)


def _extras(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            _misused(f"--extras {pair!r} has no value.", "It should be like --extras channel=ops.")
    return dict(pair.split("=", 1) for pair in pairs)


def _made_up(sample: Sample | None, extras: dict[str, str]) -> Struct:
    from warren.notify.templates.samples import sample_data

    return dict(zip(Sample, sample_data(extras), strict=True))[sample or Sample.TROUBLE]


def _real(client: Client, cluster: str, group: str, extras: dict[str, str]) -> Struct:
    """What a message about a group would be made of now: its status, and the incident if one is open."""
    from warren.notify.templates.data import notification_data

    status = _status(client, cluster, group)
    incident = _open_incident(client, cluster, group)
    incident_id, opened_ms = (incident["id"], _milliseconds(incident["opened_at"])) if incident else ("", None)
    return notification_data(cluster, group, incident_id, opened_ms, extras, status)


def _status(client: Client, cluster: str, group: str) -> dict[str, Any]:
    path = f"/v3/kafka/{in_path(cluster)}/consumer/{in_path(group)}/status"
    try:
        found: dict[str, Any] = client.ask("GET", path, has=("status",))["status"]
    except ClientError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        message = f"Warren at {client.url} knows no group `{group}` in a cluster `{cluster}`."
        raise ClientError(message, status=error.status) from error
    return found


def _open_incident(client: Client, cluster: str, group: str) -> Any:
    found = ask.incidents(client, cluster=cluster, group=group, state="open", limit=1)["incidents"]
    return found[0] if found else None


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
