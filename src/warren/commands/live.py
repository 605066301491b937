"""`warren top` and `warren watch`: what changes, as it changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, NamedTuple

import typer
from rich.live import Live
from rich.text import Text

from warren.commands import ask, show
from warren.commands.client import Client, ClientError
from warren.commands.keys import Keyboard, keyboard
from warren.commands.options import DEFAULT_URL, AsJson, Cluster, Token, Url
from warren.commands.views import GROUP_TITLES, cluster_state, group_row, say_group, why
from warren.commands.walk import Walk

Answer = dict[str, Any]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.2, help="How often to look.")]
LIST_KEYS = "arrows or j k: walk   enter: open   /: filter   e: only trouble   s: sort   q: quit"
GROUP_KEYS = "arrows or j k: scroll   left or esc: back   q: quit"


def top(
    *,
    every: Interval = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and end.")] = False,
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show the worst groups of all clusters, live, and walk through them with keys; q or Ctrl-C ends it.

    In a pipe, and with --json, they are shown once.
    """
    client = Client(url, token)
    look = _look(client, cluster)
    if as_json or once or not show.console.is_terminal:
        _say(look, as_json)
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
    """All clusters and the worst of their groups at one moment."""

    clusters: list[Answer]
    pages: list[Answer]
    """Of groups, one for each cluster."""

    @property
    def rows(self) -> tuple[Answer, ...]:
        """The groups of all clusters."""
        both = zip(self.clusters, self.pages, strict=True)
        return tuple({"cluster": one["name"], **each} for one, page in both for each in page["groups"])

    @property
    def head(self) -> list[Text]:
        """A line for each cluster."""
        both = zip(self.clusters, self.pages, strict=True)
        return [Text.assemble((show.plain(one["name"]), "bold"), f"  {_counts(one, page)}") for one, page in both]


class _Seen(NamedTuple):
    """What was heard last, and what went wrong since."""

    look: _Look
    detail: list[Text]
    """Of the group that is open."""
    failure: str = ""


class _Screen(NamedTuple):
    live: Live
    keys: Keyboard
    every_s: float


def _say(look: _Look, as_json: bool) -> None:
    shown = Walk(look.rows).shown
    if as_json:
        matching = sum(page["matching"] for page in look.pages)
        show.as_json({"clusters": look.clusters, "matching": matching, "groups": shown})
        return
    for one in look.head:
        show.line(one)
    show.line("")
    show.table(GROUP_TITLES, map(group_row, shown), "There are no groups.")


def _walk_through(client: Client, cluster: str, screen: _Screen, look: _Look) -> None:
    walk, seen = Walk(look.rows), _Seen(look, [])
    next_s = time.monotonic() + screen.every_s
    while not walk.is_over:
        walk = replace(walk, room=max(show.console.height - len(seen.look.head) - 4, 3))
        screen.live.update(_drawn(walk, seen), refresh=True)
        before = walk.opened
        for key in screen.keys.pressed(max(next_s - time.monotonic(), 0)):
            walk = walk.after(key)
        is_due, is_other = time.monotonic() >= next_s, walk.opened not in (None, before)
        if is_other:
            seen = seen._replace(detail=[])
        if is_due or is_other:
            seen = _seen_now(client, cluster if is_due else None, walk.opened, seen)
            walk = replace(walk, rows=seen.look.rows)
        if is_due:
            next_s = time.monotonic() + screen.every_s


def _seen_now(client: Client, cluster: str | None, opened: tuple[str, str] | None, before: _Seen) -> _Seen:
    """The group that is open, and the clusters if there is one to look at ("" is all of them), as they are now."""
    try:
        look = before.look if cluster is None else _look(client, cluster)
        return _Seen(look, _detail(client, *opened) if opened else [])
    except ClientError as error:  # it may be away for a moment; what is on the screen must not look like now
        return before._replace(failure=show.plain(error))


def _drawn(walk: Walk, seen: _Seen) -> Any:
    failure = [Text(seen.failure, "red")] if seen.failure else []
    if walk.is_open:
        most = max(len(seen.detail) - walk.room, 0)
        body = seen.detail[min(walk.scroll, most) :]
        return show.together(*failure, *body[: walk.room + 1], Text(), Text(GROUP_KEYS, "dim"))
    typed = Text(f"/{walk.filter}_" if walk.is_typing else f"/{walk.filter}" if walk.filter else "", "bold")
    keys = Text(f"{LIST_KEYS}   sorted by {walk.sort}", "dim")
    return show.together(*(failure or seen.look.head), typed, _list(walk), keys)


def _list(walk: Walk) -> Any:
    page, chosen = walk.page, walk.group
    shown = [[show.plain(cell) for cell in group_row(one)] for one in page]
    return show.rich_table(GROUP_TITLES, shown, page.index(chosen) if chosen else None)


def _detail(client: Client, cluster: str, group: str) -> list[Text]:
    """One group as `warren group` shows it."""
    found = ask.group(client, cluster, group)
    return show.lines_of(lambda: say_group(found))


def _look(client: Client, cluster: str) -> _Look:
    found = [ask.cluster(client, cluster)] if cluster else ask.clusters(client)
    return _Look(found, [ask.worst_groups(client, one["name"]) for one in found])


def _counts(one: Answer, page: Answer) -> str:
    counts, here = one["groups_by_status"], len(page["groups"])
    told = f"{counts['ERR']} ERR, {counts['WARN']} WARN, {counts['OK']} OK; {cluster_state(one)}"
    if here < page["matching"]:
        told += f"; only the worst {here:,} of {page['matching']:,} groups are here"
    return show.plain(told)


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
    try:
        for one in islice(_changes(client, found, every), changes or None):
            _tell(one, as_json)
    except KeyboardInterrupt:
        return


def _changes(client: Client, found: Answer, every_s: float) -> Iterator[Answer]:
    """Each change after what was found, without an end; a Warren that is away is waited for."""
    last, is_away = found["evaluated_at"], False
    while True:
        time.sleep(every_s)
        try:
            changes = ask.changes_after(client, found["cluster"], found["group"], last)
        except ClientError as error:
            if not is_away:
                typer.echo(f"{show.plain(error)} Waiting for it.", err=True)
            is_away = True
            continue
        if is_away:
            typer.echo("Warren answers again.", err=True)
        is_away = False
        for one in changes:
            last = one["at"]
            yield one


def _now(found: Answer) -> Answer:
    now = {"at": found["evaluated_at"], "group": found["group"], "was": None, "now": found["status"]}
    return {**now, "cause": ask.cause_of(found)}


def _tell(one: Answer, as_json: bool) -> None:
    if as_json:
        show.as_json_line(one)
        return
    turn = f"{one['was']} -> {one['now']}" if one["was"] else one["now"] or "not judged"
    show.line(show.plain(f"{show.clock(one['at'])}  {one['group']}  {turn}  {why(one['cause'])}").rstrip())
