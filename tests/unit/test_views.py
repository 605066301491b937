"""What the commands that ask a running Warren say, in a pipe and for programs."""

from __future__ import annotations

import json

import pytest

from tests.support.example_cluster import ms
from tests.support.running import Command, RunningWarren
from warren.commands import show
from warren.model import Status
from warren.notify.events import Cause, Turn
from warren.notify.incidents import Incident, Step

CAUSE = Cause("orders", 0, "stopped", "no commit for 6 s", ms(30), 310, 27.9)


def test_clusters_are_told_with_their_groups_by_status(warren: Command, running: RunningWarren) -> None:
    assert warren("clusters", "--url", running.url).out.splitlines() == [
        "CLUSTER  ERR  WARN  OK  TOPICS  STATE",
        "local    3    1     2   3       up to date",
    ]


def test_the_worst_groups_come_first_with_their_reasons(warren: Command, running: RunningWarren) -> None:
    lines = warren("groups", "--status", "ERR", "--status", "WARN", "--url", running.url).out.splitlines()

    assert [line.split()[1:3] for line in lines] == [
        ["GROUP", "STATUS"],
        ["settling", "STOP"],
        ["newcomer", "STOP"],
        ["billing", "STOP"],
        ["reporting", "WARN"],
    ]
    assert lines[4].endswith("orders 0: lag did not fall in 3 commits: 30 then, 130 at the last commit, 180 now")


def test_groups_are_told_to_programs_with_their_cluster(warren: Command, running: RunningWarren) -> None:
    said = warren("groups", "--name", "report", "--json", "--url", running.url)

    assert [(one["cluster"], one["group"]) for one in json.loads(said.out)["groups"]] == [("local", "reporting")]


def test_no_group_that_fits_is_no_output(warren: Command, running: RunningWarren) -> None:
    said = warren("groups", "--name", "nothing-like-it", "--url", running.url)

    assert (said.code, said.out, said.err) == (0, "", "No group fits.\n")


def test_a_group_is_told_with_both_verdicts_and_its_partitions(warren: Command, running: RunningWarren) -> None:
    lines = warren("group", "reporting", "--url", running.url).out.splitlines()

    assert lines[0] == "reporting of local is WARN, 180 records behind"
    assert lines[2].startswith("  by the rules of warren: WARN; orders 0: lag climbs")
    assert lines[5].split()[:7] == ["orders", "0", "WARN", "220", "400", "180", "48"]


@pytest.mark.parametrize(("group", "code"), [("reporting", 3), ("billing", 4), ("team a/ü %2F", 0)])
def test_scripts_can_ask_how_a_group_is(warren: Command, running: RunningWarren, group: str, code: int) -> None:
    assert warren("group", group, "--exit-code", "--url", running.url).code == code


def test_a_group_that_nobody_has_is_told(warren: Command, running: RunningWarren) -> None:
    said = warren("group", "nope", "--url", running.url)

    assert (said.code, said.out) == (1, "")
    assert "No cluster has a group `nope`" in said.err


def test_a_verdict_is_explained_by_its_rule_and_commits(warren: Command, running: RunningWarren) -> None:
    lines = warren("explain", "billing", "--url", running.url).out.splitlines()

    assert lines[1] == "Because orders 0 is STOP: no commit for 35 s, window spans 20 s, lag 300."
    assert lines[2] == "The rule is `stopped` of the rule set `burrow`."
    assert [line.split()[2:] for line in lines[6:9]] == [["100", "50"], ["100", "150"], ["100", "250"]]
    assert lines[9] == "Now it ends at 400, so 300 records are unread; the last commit was 35 s ago."


def test_topics_are_told_with_their_readers(warren: Command, running: RunningWarren) -> None:
    assert "local    2           4       orders" in warren("topics", "--url", running.url).out
    lines = warren("topic", "orders", "--url", running.url).out.splitlines()
    assert lines[2].split() == ["0", "0", "400", "10.0"]
    assert lines[6].split() == ["billing", "STOP", "300", "1", "min"]


def test_incidents_are_told_with_how_long_they_lasted(warren: Command, running: RunningWarren) -> None:
    opened = Step(ms(30), Turn.OPENED, Status.ERR, CAUSE, 310)
    closed = Step(ms(95), Turn.CLOSED, Status.OK, None, 0)
    incidents = running.alerts.incidents
    for steps in ((opened,), (opened, closed)):
        incidents.write(Incident("i", "local", "billing", ms(30), Status.ERR, steps, ms(95)))
    [line] = warren("incidents", "--url", running.url).out.splitlines()[1:]

    assert line.split()[2:10] == ["1", "min", "5", "s", "local", "billing", "ERR", "closed"]
    assert line.endswith("orders 0: no commit for 6 s")


def test_the_live_view_is_plain_in_a_pipe(warren: Command, running: RunningWarren) -> None:
    lines = warren("top", "--url", running.url).out.splitlines()

    assert lines[0] == "local  3 ERR, 1 WARN, 2 OK; up to date"
    assert lines[1] == ""
    assert lines[2].split() == ["CLUSTER", "GROUP", "STATUS", "LAG", "BEHIND", "SINCE", "WHY"]
    assert lines[3:] == warren("groups", "--url", running.url).out.splitlines()[1:]


def test_the_worst_groups_are_told_to_programs_with_their_clusters(warren: Command, running: RunningWarren) -> None:
    told = json.loads(warren("top", "--json", "--url", running.url).out)

    assert [one["name"] for one in told["clusters"]] == ["local"]
    assert (len(told["groups"]), told["matching"]) == (6, 6)
    assert (told["groups"][0]["cluster"], told["groups"][0]["status"]) == ("local", "ERR")


@pytest.mark.parametrize("command", ["groups", "top", "topics", "incidents"])
def test_a_cluster_that_is_not_there_is_told(warren: Command, running: RunningWarren, command: str) -> None:
    said = warren(command, "--cluster", "nowhere", "--url", running.url)

    assert (said.code, said.out) == (1, "")
    assert said.err == "warren: There is no cluster `nowhere`. Known are `local`.\n"


@pytest.mark.parametrize("command", [["clusters"], ["groups"], ["group", "g"], ["explain", "g"], ["topics"], ["top"]])
def test_a_server_that_is_away_is_told_with_what_to_do(warren: Command, command: list[str]) -> None:
    said = warren(*command, "--url", "http://127.0.0.1:1")

    assert (said.code, said.out) == (1, "")
    assert "Warren is not reachable at http://127.0.0.1:1" in said.err
    assert "--url or WARREN_URL tells where it is." in said.err


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (7200, "2 h"), (90_061, "1 d 1 h"), (None, "-")],
)
def test_durations_have_two_units(value: float | None, text: str) -> None:
    assert show.seconds(value) == text


def test_names_cannot_send_commands_to_a_terminal() -> None:
    assert show.plain("a\x1b[2J\nb") == "a\\x1b[2J\\nb"
