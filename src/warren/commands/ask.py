"""What the commands ask a running Warren, with the cluster found where it is not named."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from warren.commands.client import Client, ClientError, in_path, in_query

API = "/api/v1"
PAGE = 1_000
MOST_CHANGES = 1_000
"""Warren remembers no more."""

Answer = dict[str, Any]


def clusters(client: Client) -> list[Answer]:
    """All of them."""
    found: list[Answer] = client.ask("GET", f"{API}/clusters", has=("clusters",))["clusters"]
    return found


def cluster(client: Client, name: str) -> Answer:
    """One by its name."""
    return client.ask("GET", f"{API}/clusters/{in_path(name)}", has=("name",))


def names(client: Client, cluster: str) -> list[str]:
    """The one that is named, or all."""
    return [cluster] if cluster else [one["name"] for one in clusters(client)]


def groups(client: Client, cluster: str, **wanted: Any) -> Iterator[Answer]:
    """The groups of a cluster, worst first, page by page."""
    query = in_query(**wanted, limit=PAGE)
    while query:
        page = _groups_page(client, cluster, query)
        yield from page["groups"]
        query = page["next"] or ""


def worst_groups(client: Client, cluster: str) -> Answer:
    """The first page of them; `matching` is how many there are on all pages."""
    return _groups_page(client, cluster, in_query(limit=PAGE))


def _groups_page(client: Client, cluster: str, query: str) -> Answer:
    return client.ask("GET", f"{API}/clusters/{in_path(cluster)}/groups{query}", has=("matching", "groups", "next"))


def group(client: Client, cluster: str, name: str, query: str = "") -> Answer:
    """One group, of the cluster that is named or of the only one that has it."""
    return _the_one(client, cluster, f"groups/{in_path(name)}{query}", f"group `{name}`")


def topics(client: Client, cluster: str) -> Iterator[Answer]:
    """The topics of a cluster."""
    query = in_query(limit=PAGE)
    while query:
        page = client.ask("GET", f"{API}/clusters/{in_path(cluster)}/topics{query}", has=("topics", "next"))
        yield from page["topics"]
        query = page["next"] or ""


def topic(client: Client, cluster: str, name: str) -> Answer:
    """One topic, found like a group."""
    return _the_one(client, cluster, f"topics/{in_path(name)}", f"topic `{name}`")


def partition(client: Client, cluster: str, group_name: str, topic_name: str, number: int) -> Answer:
    """One partition of a group, with its window."""
    path = f"groups/{in_path(group_name)}/topics/{in_path(topic_name)}/partitions/{number}"
    return client.ask("GET", f"{API}/clusters/{in_path(cluster)}/{path}", has=("window",))


def changes_after(client: Client, cluster: str, name: str, moment: str) -> list[Answer]:
    """The changes of a group's status after a moment, oldest first."""
    query = in_query(group=name, since=moment, limit=MOST_CHANGES)
    answer = client.ask("GET", f"{API}/clusters/{in_path(cluster)}/changes{query}", has=("changes",))
    # What the API selects has the name as a part, and is of that moment or later.
    return [one for one in reversed(answer["changes"]) if one["group"] == name and one["at"] > moment]


def incidents(client: Client, **wanted: Any) -> Answer:
    """Incidents, newest first."""
    return client.ask("GET", f"{API}/incidents{in_query(**wanted)}", has=("incidents",))


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
