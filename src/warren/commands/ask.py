"""What the commands ask a running Warren, with the cluster found where it is not named."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from warren.commands.client import Client, ClientError, in_path

API = "/api/v1"
PAGE = 1_000

Answer = dict[str, Any]


def clusters(client: Client) -> list[Answer]:
    """All of them."""
    found: list[Answer] = client.ask("GET", f"{API}/clusters", has=("clusters",))["clusters"]
    return found


def names(client: Client, cluster: str) -> list[str]:
    """The one that is named, or all."""
    return [cluster] if cluster else [one["name"] for one in clusters(client)]


def groups(client: Client, cluster: str, **wanted: Any) -> Iterator[Answer]:
    """The groups of a cluster, worst first, page by page."""
    query = f"?{urlencode({**wanted, 'limit': PAGE}, doseq=True)}"
    while query:
        page = client.ask("GET", f"{API}/clusters/{in_path(cluster)}/groups{query}", has=("groups",))
        yield from page["groups"]
        query = page["next"] or ""


def group(client: Client, cluster: str, name: str, query: str = "") -> Answer:
    """One group, of the cluster that is named or of the only one that has it."""
    return _the_one(client, cluster, f"groups/{in_path(name)}{query}", f"group `{name}`")


def topics(client: Client, cluster: str) -> Iterator[Answer]:
    """The topics of a cluster."""
    query = f"?limit={PAGE}"
    while query:
        page = client.ask("GET", f"{API}/clusters/{in_path(cluster)}/topics{query}", has=("topics",))
        yield from page["topics"]
        query = page["next"] or ""


def topic(client: Client, cluster: str, name: str) -> Answer:
    """One topic, found like a group."""
    return _the_one(client, cluster, f"topics/{in_path(name)}", f"topic `{name}`")


def partition(client: Client, cluster: str, group_name: str, topic_name: str, number: int) -> Answer:
    """One partition of a group, with its window."""
    path = f"groups/{in_path(group_name)}/topics/{in_path(topic_name)}/partitions/{number}"
    return client.ask("GET", f"{API}/clusters/{in_path(cluster)}/{path}", has=("window",))


def changes(client: Client, cluster: str, name: str, limit: int) -> list[Answer]:
    """The latest changes of a group's status, newest first."""
    query = urlencode({"group": name, "limit": limit})
    answer = client.ask("GET", f"{API}/clusters/{in_path(cluster)}/changes?{query}", has=("changes",))
    return [one for one in answer["changes"] if one["group"] == name]


def incidents(client: Client, **wanted: Any) -> Answer:
    """Incidents, newest first."""
    query = urlencode({name: value for name, value in wanted.items() if value})
    return client.ask("GET", f"{API}/incidents?{query}", has=("incidents",))


def cause_of(found: Answer) -> Answer | None:
    """The partition that made a group what it is, by its own rule set; None if there is nothing to judge it by."""
    by_rule_set = found["by_rule_set"]
    cause: Answer | None = by_rule_set[found["rule_set"]]["cause"] if by_rule_set else None
    return cause


def _the_one(client: Client, cluster: str, path: str, what: str) -> Answer:
    if cluster:
        return client.ask("GET", f"{API}/clusters/{in_path(cluster)}/{path}", has=("cluster",))
    found = [answer for name in names(client, "") if (answer := _if_there(client, name, path))]
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"No cluster has a {what}."
        raise ClientError(message, hint="`warren groups` and `warren topics` show what there is.")
    there = ", ".join(one["cluster"] for one in found)
    message = f"There is a {what} in several clusters: {there}."
    raise ClientError(message, hint="Name one with --cluster.")


def _if_there(client: Client, cluster: str, path: str) -> Answer | None:
    try:
        return client.ask("GET", f"{API}/clusters/{in_path(cluster)}/{path}", has=("cluster",))
    except ClientError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return None
        raise
