"""`warren clusters`, `groups`, `group`, `topics`, `topic`, `incidents` and `explain`: what a running Warren knows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from warren.commands import ask, past, show
from warren.commands.client import Client
from warren.commands.options import DEFAULT_URL, AsJson, Cluster, Token, Url
from warren.commands.replay import explain_at
from warren.serve.v1.words import GroupStatus

EXIT_CODES = {"OK": 0, "WARN": 3, "ERR": 4}

Answer = dict[str, Any]


def list_clusters(*, as_json: AsJson = False, url: Url = DEFAULT_URL, token: Token = "") -> None:
    """Show all clusters: how their groups are, and how well Warren knows them."""
    found = ask.clusters(Client(url, token))
    if as_json:
        show.as_json({"clusters": found})
        return
    titles = ("CLUSTER", "ERR", "WARN", "OK", "TOPICS", "STATE")
    show.table(titles, map(_cluster_row, found), "There are no clusters.")


def _cluster_row(one: Answer) -> list[str]:
    counts = one["groups_by_status"]
    numbers = [show.number(value) for value in (counts["ERR"], counts["WARN"], counts["OK"], one["topic_count"])]
    return [one["name"], *numbers, cluster_state(one)]


def cluster_state(one: Answer) -> str:
    """How well a cluster is known, in words."""
    if one["unreachable_since"]:
        return f"cannot be read for {show.ago(one['unreachable_since'])}: {one['last_error']}"
    if not one["caught_up"]:
        return f"catching up, {show.number(one['behind_records'])} records to go"
    return "up to date" if one["ready"] else "starting"


def list_groups(
    *,
    status: Annotated[list[GroupStatus] | None, typer.Option(help="Only these; may be given several times.")] = None,
    name: Annotated[str, typer.Option(metavar="PART", help="Only groups whose names contain this (or fit *).")] = "",
    topic: Annotated[str, typer.Option(metavar="PART", help="Only groups that read such a topic.")] = "",
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show groups, the worst first, each with the reason."""
    client = Client(url, token)
    wanted: dict[str, Any] = {"status": [one.value for one in status or ()], "name": name, "topic": topic}
    wanted = {key: value for key, value in wanted.items() if value}
    found = [
        {"cluster": one, **each} for one in ask.names(client, cluster) for each in ask.groups(client, one, **wanted)
    ]
    if as_json:
        show.as_json({"groups": found})
        return
    show.table(GROUP_TITLES, map(group_row, found), "No group fits.")


GROUP_TITLES = ("CLUSTER", "GROUP", "STATUS", "LAG", "BEHIND", "SINCE", "WHY")


def group_row(one: Answer) -> list[str]:
    """A group in a list."""
    cause = one["cause"]
    status = cause["status"] if cause and one["status"] == "ERR" else one["status"] or "-"
    reason = why(cause) or one["note"] or ""
    if one["stale_since"]:
        reason = f"nothing new is known for {show.ago(one['stale_since'])}; {reason}"
    lag = [show.number(one["total_lag"]), show.seconds(one["lag_seconds"]), show.ago(one["since"])]
    return [one["cluster"], one["group"], status, *lag, reason]


def why(cause: Answer | None) -> str:
    """The partition that made a group what it is, and what is with it; nothing if there is none."""
    return f"{cause['topic']} {cause['partition']}: {cause['reason']}" if cause else ""


def show_group(
    group: Annotated[str, typer.Argument(metavar="GROUP")],
    *,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 3 if it is WARN, 4 if it is ERR.")] = False,
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show one group: its verdict, partitions and members."""
    found = ask.group(Client(url, token), cluster, group)
    if as_json:
        show.as_json(found)
    else:
        say_group(found)
    if exit_code:
        raise typer.Exit(EXIT_CODES.get(found["status"] or "OK", 0))


def say_group(found: Answer) -> None:
    """One group with its partitions and members."""
    show.heading(verdict(found))
    for name, one in (found["by_rule_set"] or {}).items():
        show.line(show.plain(f"  by the rules of {name}: {one['status']}; {one['reason']}"))
    if found["note"]:
        show.line(show.plain(f"  {found['note']}"))
    show.line("")
    titles = ("TOPIC", "PARTITION", "STATUS", "COMMITTED", "END", "LAG", "BEHIND", "OWNER", "WHY")
    show.table(titles, map(_partition_row, found["partitions"]), "It has no partitions.")
    if found["members"]:
        show.line("")
        rows = [[one["member_id"], one["client_id"], one["host"], _assigned(one)] for one in found["members"]]
        show.table(("MEMBER", "CLIENT", "HOST", "READS"), rows, "")


def verdict(found: Answer) -> str:
    """A group in one sentence."""
    status = found["status"] or "not judged"
    since = f" for {show.ago(found['since'])}" if found["since"] else ""
    lag = f", {show.number(found['total_lag'])} records behind" if found["total_lag"] else ""
    return show.plain(f"{found['group']} of {found['cluster']} is {status}{since}{lag}")


def _partition_row(one: Answer) -> list[str]:
    offsets = [show.number(one[name]) for name in ("committed_offset", "end_offset", "lag")]
    behind = show.seconds(one["lag_seconds_at_least"] if one["lag_seconds"] is None else one["lag_seconds"])
    owner = one["owner"] or {}
    where = [one["topic"], str(one["partition"]), one["status"]]
    return [*where, *offsets, behind, owner.get("host") or "-", one["reason"]]


def _assigned(member: Answer) -> str:
    return ", ".join(
        f"{one['topic'] or one['topic_id']} {','.join(map(str, one['partitions']))}" for one in member["assigned"]
    )


def explain(
    group: Annotated[str, typer.Argument(metavar="GROUP")],
    *,
    cluster: Cluster = "",
    at: Annotated[str, typer.Option(metavar="MOMENT", help="As it was then: 2026-11-16T03:00Z, 03:00, or 6h.")] = "",
    history: past.HistoryPath = "",
    config_dir: past.ConfigDir = None,
    master: past.Master = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show why a group is what it is: the partition, the rule, and the commits that it was judged by.

    With --at it is read from the history, and no Warren has to run.
    """
    if at:
        explain_at(group, at, past.Where(history, config_dir, cluster, master, as_json))
        return
    client = Client(url, token)
    found = ask.group(client, cluster, group)
    worst = ask.cause_of(found)
    window = worst and ask.partition(client, found["cluster"], group, worst["topic"], worst["partition"])
    if as_json:
        show.as_json({"group": found, "partition": window})
        return
    show.heading(verdict(found))
    if window is None:
        show.line(show.plain(found["note"] or "There is no commit to judge it by."))
        return
    _say_window(window)


def _say_window(window: Answer) -> None:
    where = f"{window['topic']} {window['partition']}"
    show.line(show.plain(f"Because {where} is {window['status']}: {window['reason']}."))
    show.line(f"The rule is `{window['rule']}` of the rule set `{window['rule_set']}`.")
    for one in window["conditions"]:
        show.line(show.plain(f"Besides: {one['reason']}."))
    show.line("")
    show.line(f"The commits in its window ({len(window['window'])} of {window['window_size']}):")
    rows = [
        [show.clock(one["committed_at"]), show.number(one["offset"]), show.number(one["lag"])]
        for one in window["window"]
    ]
    show.table(("COMMITTED AT", "OFFSET", "LAG THEN"), rows, "There is none.")
    now = f"Now it ends at {show.number(window['end_offset'])}, so {show.number(window['lag'])} records are unread"
    show.line(f"{now}; the last commit was {show.seconds(window['commit_age_seconds'])} ago.")


def list_topics(*, cluster: Cluster = "", as_json: AsJson = False, url: Url = DEFAULT_URL, token: Token = "") -> None:
    """Show topics, and how many groups read each."""
    client = Client(url, token)
    found = [{"cluster": one, **each} for one in ask.names(client, cluster) for each in ask.topics(client, one)]
    if as_json:
        show.as_json({"topics": found})
        return
    rows = [[one["cluster"], str(one["partition_count"]), str(one["group_count"]), one["topic"]] for one in found]
    show.table(("CLUSTER", "PARTITIONS", "GROUPS", "TOPIC"), rows, "There are no topics.")


def show_topic(
    topic: Annotated[str, typer.Argument(metavar="TOPIC")],
    *,
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show one topic: where its partitions begin and end, how fast they grow, and who reads it."""
    found = ask.topic(Client(url, token), cluster, topic)
    if as_json:
        show.as_json(found)
        return
    show.heading(show.plain(f"{found['topic']} of {found['cluster']}"))
    show.table(("PARTITION", "START", "END", "PER SECOND", "STATE"), map(_topic_row, found["partitions"]), "")
    show.line("")
    rows = [
        [one["group"], one["status"], show.number(one["total_lag"]), show.seconds(one["lag_seconds"])]
        for one in found["readers"]
    ]
    show.table(("GROUP", "STATUS", "LAG", "BEHIND"), rows, "No group reads it.")


def _topic_row(one: Answer) -> list[str]:
    state = "" if one["has_leader"] else "has no leader"
    if one["open_transaction_since"]:
        state = f"a transaction is open for {show.ago(one['open_transaction_since'])}"
    offsets = [show.number(one["log_start"]), show.number(one["end_offset"]), show.rate(one["produced_per_second"])]
    return [str(one["partition"]), *offsets, state]


def list_incidents(
    *,
    group: Annotated[str, typer.Option(metavar="NAME", help="Only of this group.")] = "",
    is_open: Annotated[bool, typer.Option("--open", help="Only those that are not over.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="So many at most.")] = 50,
    cluster: Cluster = "",
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    token: Token = "",
) -> None:
    """Show incidents, the newest first."""
    state = "open" if is_open else ""
    found = ask.incidents(Client(url, token), cluster=cluster, group=group, state=state, limit=limit)
    if as_json:
        show.as_json(found)
        return
    titles = ("OPENED", "LASTED", "CLUSTER", "GROUP", "WORST", "STATE", "WHY")
    show.table(titles, map(_incident_row, found["incidents"]), "There are no incidents.")


def _incident_row(one: Answer) -> list[str]:
    lasted = show.ago(one["opened_at"]) if one["closed_at"] is None else _between(one["opened_at"], one["closed_at"])
    about = [one["cluster"], one["group"], one["worst"], one["state"]]
    return [show.clock(one["opened_at"]), lasted, *about, why(one["steps"][0]["cause"])]


def _between(start: str, end: str) -> str:
    from datetime import datetime

    return show.ago(start, datetime.fromisoformat(end))
