"""`warren top` and `warren watch`: what changes, as it changes."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.text import Text

from warren.commands import ask, show
from warren.commands.client import Client, ClientError
from warren.commands.options import DEFAULT_URL, AsJson, Cluster, Token, Url
from warren.commands.views import GROUP_TITLES, cluster_state, group_row

Answer = dict[str, Any]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.2, help="How often to look.")]
MOST_CHANGES = 100


def top(
    *,
    every: Interval = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and end.")] = False,
    cluster: Cluster = "",
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show the worst groups of all clusters, live; Ctrl-C ends it."""
    client = Client(url, token)
    if once or not show.console.is_terminal:
        show.console.print(_screen(client, cluster))
        return
    with Live(_screen(client, cluster), console=show.console, screen=True, auto_refresh=False) as live:
        try:
            while True:
                time.sleep(every)
                live.update(_screen_or_why(client, cluster), refresh=True)
        except KeyboardInterrupt:
            return


def _screen_or_why(client: Client, cluster: str) -> Any:
    """Warren may be away for a moment; what is on the screen then must not look like now."""
    try:
        return _screen(client, cluster)
    except ClientError as error:
        return Text(str(error), "red")


def _screen(client: Client, cluster: str) -> Any:
    found = [one for one in ask.clusters(client) if cluster in ("", one["name"])]
    head = [Text.assemble((one["name"], "bold"), f"  {show.plain(_counts(one))}") for one in found]
    room = max(show.console.height - len(head) - 3, 5) if show.console.is_terminal else ask.PAGE
    rows: list[Answer] = []
    for one in found:
        page = client.ask("GET", f"{ask.API}/clusters/{one['name']}/groups?limit={room}", has=("groups",))
        rows += [{"cluster": one["name"], **each} for each in page["groups"]]
    rows.sort(key=_badness)
    shown = [[show.plain(cell) for cell in group_row(one)] for one in rows[:room]]
    return show.together(*head, Text(), show.rich_table(GROUP_TITLES, shown))


def _counts(one: Answer) -> str:
    counts = one["groups_by_status"]
    return f"{counts['ERR']} ERR, {counts['WARN']} WARN, {counts['OK']} OK; {cluster_state(one)}"


def _badness(one: Answer) -> tuple[int, int]:
    order = {"ERR": 0, "WARN": 1, "OK": 2}
    return order.get(one["status"], 3), -(one["total_lag"] or 0)


def watch(
    group: Annotated[str, typer.Argument(metavar="GROUP")],
    *,
    every: Interval = 2.0,
    changes: Annotated[int, typer.Option(min=0, help="End after so many changes; 0: never.")] = 0,
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Tell each change of a group's status in a line; Ctrl-C ends it."""
    client = Client(url, token)
    found = ask.group(client, cluster, group)
    _tell(_now(found), as_json)
    last, told = _newest(client, found["cluster"], group), 0
    try:
        while not changes or told < changes:
            time.sleep(every)
            for one in _since(client, found["cluster"], group, last):
                last, told = one["at"], told + 1
                _tell(one, as_json)
    except KeyboardInterrupt:
        return


def _now(found: Answer) -> Answer:
    now = {"at": found["evaluated_at"], "group": found["group"], "was": None, "now": found["status"]}
    return {**now, "cause": ask.cause_of(found)}


def _newest(client: Client, cluster: str, group: str) -> str:
    return next((str(one["at"]) for one in ask.changes(client, cluster, group, MOST_CHANGES)), "")


def _since(client: Client, cluster: str, group: str, last: str) -> list[Answer]:
    """The changes after the last one that was told, oldest first."""
    found = ask.changes(client, cluster, group, MOST_CHANGES)
    return [one for one in reversed(found) if one["at"] > last]


def _tell(one: Answer, as_json: bool) -> None:
    if as_json:
        show.as_json_line(one)
        return
    cause = one["cause"]
    why = f"{cause['topic']} {cause['partition']}: {cause['reason']}" if cause else ""
    turn = f"{one['was']} -> {one['now']}" if one["was"] else one["now"] or "not judged"
    show.line(show.plain(f"{show.clock(one['at'])}  {one['group']}  {turn}  {why}").rstrip())
