"""`warren top` and `warren watch` while Warren comes and goes, and where there is more than fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from starlette.types import Receive, Scope, Send

from tests.support.running import Command, listening
from tests.support.terminal import Terminal
from warren.commands import show

NOW = "2026-01-01T00:00:31.000Z"


class Site:
    """A Warren of one cluster, of which some things cannot be had."""

    def __init__(self) -> None:
        self.groups = ["audit", "billing"]
        self.matching = 2
        self.refused: set[str] = set()
        """What paths end with that are refused."""
        self.changes: list[list[dict[str, Any]] | None] = []
        """What is answered one after the other; None is refused."""
        self.queries: list[dict[str, list[str]]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix("/api/v1/clusters").strip("/")
        answer = None if any(path.endswith(one) for one in self.refused) else self._answer(path, scope["query_string"])
        status = 200 if answer else 503
        body = json.dumps(answer or {"error": {"message": "Starting", "hint": ""}}).encode()
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, path: str, query: bytes) -> dict[str, Any] | None:
        match path.split("/"):
            case [""]:
                return {"clusters": [self._cluster()]}
            case [_, "groups"]:
                return {"matching": self.matching, "groups": [_group(one) for one in self.groups], "next": None}
            case [_, "groups", name]:
                return {**_group(name), "cluster": "local", "by_rule_set": {}, "partitions": [], "members": []}
            case [_, "changes"]:
                self.queries.append(parse_qs(query.decode()))
                found = self.changes.pop(0)
                return None if found is None else {"changes": found}
        return self._cluster()

    def _cluster(self) -> dict[str, Any]:
        known = {"caught_up": True, "ready": True, "unreachable_since": None}
        return {"name": "local", "groups_by_status": {"ERR": 0, "WARN": 0, "OK": 2}, **known}


def _group(name: str) -> dict[str, Any]:
    about = {"cause": None, "note": None, "stale_since": None, "since": None, "lag_seconds": None}
    return {"group": name, "status": "OK", "total_lag": 7, "evaluated_at": NOW, **about}


def change(second: int, was: str, now: str, group: str = "billing") -> dict[str, Any]:
    cause = {"topic": "orders", "partition": 0, "reason": "no commit for 35 s"}
    return {"at": f"2026-01-01T00:00:{second}.000Z", "group": group, "was": was, "now": now, "cause": cause}


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    with listening(site) as url:
        yield url


# -- top -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(url: str, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    terminal = Terminal("top", "--every", getattr(request, "param", "0.5"), "--url", url)
    yield terminal
    terminal.close()


def test_a_warren_that_goes_away_is_told_while_a_group_is_open(site: Site, terminal: Terminal) -> None:
    terminal.read_until("q: quit")
    terminal.press("\r")
    terminal.read_until("audit of local is OK", "esc: back")
    site.refused = {""}
    assert "audit of local is OK" in terminal.read_until("Starting.", "esc: back")


@pytest.mark.parametrize("terminal", ["60"], indirect=True)  # nothing is drawn but what keys bring
def test_a_group_that_cannot_be_opened_does_not_look_like_the_one_before(site: Site, terminal: Terminal) -> None:
    terminal.read_until("q: quit")
    terminal.press("\r")
    terminal.read_until("audit of local is OK", "esc: back")
    site.refused = {"groups/billing"}
    terminal.press("\x1b[Dj\r")  # back, down and enter at once
    assert "audit" not in terminal.read_until("Starting.", "esc: back")


def test_a_key_does_not_hide_that_warren_is_away(site: Site, terminal: Terminal) -> None:
    terminal.read_until("q: quit")
    site.refused = {""}
    terminal.read_until("Starting.")
    terminal.press("s")
    assert "Starting." in terminal.read_until("sorted by lag")


def test_what_there_is_not_is_told_on_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    lines = show.lines_of(lambda: show.table(("A",), [], "There is nothing."))

    assert [line.plain for line in lines] == ["There is nothing."]
    assert capfd.readouterr() == ("", "")


def test_groups_that_are_not_loaded_are_counted(warren: Command, site: Site, url: str) -> None:
    site.groups, site.matching = [f"g{i}" for i in range(1_000)], 2_345
    lines = warren("top", "--url", url).out.splitlines()

    assert lines[0].endswith("up to date; only the worst 1,000 of 2,345 groups are here")
    assert len(lines) == 1_003
    assert json.loads(warren("top", "--json", "--url", url).out)["matching"] == 2_345


def test_long_names_are_whole_in_a_pipe(warren: Command, site: Site, url: str) -> None:
    site.groups = ["long-name-" * 20]

    assert f"local    {site.groups[0]}  OK      7" in warren("top", "--url", url).out


def test_a_cluster_without_groups_says_so(warren: Command, site: Site, url: str) -> None:
    site.groups, site.matching = [], 0
    said = warren("top", "--url", url)

    assert (said.code, said.err) == (0, "There are no groups.\n")


# -- watch -----------------------------------------------------------------------------------------------------------


def watch(warren: Command, url: str, *options: str) -> Any:
    return warren("watch", "billing", "--every", "0.2", "--url", url, *options)


def test_a_restart_of_warren_is_waited_for_and_told_once(warren: Command, site: Site, url: str) -> None:
    site.changes = [[], None, None, [change(40, "OK", "ERR")], None, [change(50, "ERR", "OK")]]
    said = watch(warren, url, "--changes", "2")

    away, again = "Starting. Waiting for it.", "Warren answers again."
    assert said.err.splitlines() == [away, again, away, again]
    assert [line.split("  ")[2] for line in said.out.splitlines()] == ["OK", "OK -> ERR", "ERR -> OK"]
    assert said.code == 0


def test_a_group_that_is_not_there_at_the_start_is_an_error(warren: Command, site: Site, url: str) -> None:
    site.refused = {"groups/billing"}

    assert watch(warren, url, "--cluster", "local") == (1, "", "warren: Starting.\n")


def test_each_change_is_told_once_and_none_of_other_groups(warren: Command, site: Site, url: str) -> None:
    other = change(41, "OK", "WARN", "billing-2")
    site.changes = [
        [other, change(40, "OK", "ERR"), change(31, "WARN", "OK")],
        [change(42, "ERR", "OK"), other, change(40, "OK", "ERR")],
    ]
    said = watch(warren, url, "--changes", "2", "--json")

    told = [json.loads(line) for line in said.out.splitlines()]
    assert [(one["at"][17:19], one["now"]) for one in told] == [("31", "OK"), ("40", "ERR"), ("42", "OK")]
    assert {one["group"] for one in told} == {"billing"}


def test_only_what_is_new_is_asked_for(warren: Command, site: Site, url: str) -> None:
    site.changes = [[change(40, "OK", "ERR")], [change(42, "ERR", "OK")]]
    watch(warren, url, "--changes", "2")

    assert [one["since"] for one in site.queries] == [[NOW], [change(40, "", "")["at"]]]
    assert {one["limit"][0] for one in site.queries} == {"1000"}


def test_it_ends_after_so_many_changes_even_if_more_came_at_once(warren: Command, site: Site, url: str) -> None:
    site.changes = [[change(42, "ERR", "OK"), change(40, "OK", "ERR")]]

    assert len(watch(warren, url, "--changes", "1").out.splitlines()) == 2
