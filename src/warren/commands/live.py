"""`warren top` and `warren watch`: what changes, as it changes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import typer
from rich.live import Live
from rich.text import Text

from warren.commands import ask, show
from warren.commands.client import Client, ClientError, in_path
from warren.commands.keys import Keyboard, keyboard
from warren.commands.options import DEFAULT_URL, AsJson, Cluster, Token, Url
from warren.commands.views import GROUP_TITLES, cluster_state, group_row, say_group
from warren.commands.walk import Walk

Answer = dict[str, Any]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.2, help="How often to look.")]
MOST_CHANGES = 100
LIST_KEYS = "arrows or j k: walk   enter: open   /: filter   e: only trouble   s: sort   q: quit"
GROUP_KEYS = "arrows or j k: scroll   left or esc: back   q: quit"


def top(
    *,
    every: Interval = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and end.")] = False,
    cluster: Cluster = "",
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show the worst groups of all clusters, live, and walk through them with keys; q or Ctrl-C ends it."""
    client = Client(url, token)
    look = _look(client, cluster)
    if once or not show.console.is_terminal:
        walk = Walk(look.rows, room=len(look.rows))
        show.console.print(show.together(*look.head, Text(), _list(walk, is_walked=False)))
        return
    with (
        keyboard() as keys,
        Live(console=show.console, screen=True, auto_refresh=False, vertical_overflow="crop") as live,
    ):
        try:
            _walk_through(client, cluster, _Screen(live, keys, every), look)
        except KeyboardInterrupt:
            return


class _Look(NamedTuple):
    """All clusters and their groups at one moment."""

    head: list[Text]
    rows: tuple[Answer, ...]


class _Screen(NamedTuple):
    live: Live
    keys: Keyboard
    every_s: float


def _walk_through(client: Client, cluster: str, screen: _Screen, look: _Look) -> None:
    walk, failure = Walk(look.rows), ""
    detail: list[Text] = []
    next_s = time.monotonic() + screen.every_s
    while not walk.is_over:
        walk = replace(walk, room=max(show.console.height - len(look.head) - 4, 3))
        screen.live.update(_drawn(walk, look, detail, failure), refresh=True)
        was_open = walk.is_open
        for key in screen.keys.pressed(max(next_s - time.monotonic(), 0)):
            walk = walk.after(key)
        is_due = time.monotonic() >= next_s
        try:
            if is_due:
                look = _look(client, cluster)
                walk = replace(walk, rows=look.rows)
            if walk.is_open and walk.group and (is_due or not was_open):
                detail = _detail(client, walk.group)
            failure = ""
        except ClientError as error:  # it may be away for a moment; what is on the screen must not look like now
            failure = str(error)
        if is_due:
            next_s = time.monotonic() + screen.every_s


def _drawn(walk: Walk, look: _Look, detail: list[Text], failure: str) -> Any:
    lines = [Text(failure, "red")] if failure else look.head
    if walk.is_open:
        most = max(len(detail) - walk.room, 0)
        body: list[Any] = detail[min(walk.scroll, most) :]
        return show.together(*body[: walk.room + 2], Text(), Text(GROUP_KEYS, "dim"))
    typed = Text(f"/{walk.filter}_" if walk.is_typing else f"/{walk.filter}" if walk.filter else "", "bold")
    return show.together(
        *lines, typed, _list(walk, is_walked=True), Text(f"{LIST_KEYS}   sorted by {walk.sort}", "dim")
    )


def _list(walk: Walk, *, is_walked: bool) -> Any:
    shown = [[show.plain(cell) for cell in group_row(one)] for one in walk.page]
    chosen = walk.page.index(walk.group) if is_walked and walk.group in walk.page else None
    return show.rich_table(GROUP_TITLES, shown, chosen)


def _detail(client: Client, row: Answer) -> list[Text]:
    """One group as `warren group` shows it."""
    found = ask.group(client, row["cluster"], row["group"])
    return show.lines_of(lambda: say_group(found))


def _look(client: Client, cluster: str) -> _Look:
    found = [one for one in ask.clusters(client) if cluster in ("", one["name"])]
    head = [Text.assemble((one["name"], "bold"), f"  {show.plain(_counts(one))}") for one in found]
    rows: list[Answer] = []
    for one in found:
        path = f"{ask.API}/clusters/{in_path(one['name'])}/groups?limit={ask.PAGE}"
        rows += [{"cluster": one["name"], **each} for each in client.ask("GET", path, has=("groups",))["groups"]]
    return _Look(head, tuple(rows))


def _counts(one: Answer) -> str:
    counts = one["groups_by_status"]
    return f"{counts['ERR']} ERR, {counts['WARN']} WARN, {counts['OK']} OK; {cluster_state(one)}"


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
