"""`warren silence` and `warren template` against a real listener."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.support.alerts import NOW_S
from tests.support.example_cluster import iso, ms
from tests.support.running import TOKEN, Command, RunningWarren, listening
from tests.support.terminal import Terminal
from warren.model import Status
from warren.notify.events import Turn
from warren.notify.incidents import Incident, Step
from warren.notify.silences import Scope as Meant
from warren.notify.silences import Silence

# -- silences --------------------------------------------------------------------------------------------------------


def test_a_silence_is_added(warren: Command, running: RunningWarren) -> None:
    options = ("--cluster", "loc", "--group", "^b", "--topic", "o", "--for", "2m", "--comment", "disk", "--by", "ann")
    said = warren("silence", "add", *options, "--url", running.url)

    [added] = running.alerts.silences.all()
    assert added == Silence(added.id, Meant("loc", "^b", "o"), ms(NOW_S), ms(NOW_S + 120), "ann", "disk")
    assert said == (0, f"Silence {added.id} holds until {iso(NOW_S + 120)}.\n", "")


def test_a_silence_is_added_in_the_name_of_the_user(
    warren: Command, running: RunningWarren, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "bob")
    warren("silence", "add", "--group", "a", "--for", "1h", "--url", running.url)

    assert [one.by for one in running.alerts.silences.all()] == ["bob"]


def test_scripts_learn_the_id_of_a_silence_and_that_it_is_removed(warren: Command, running: RunningWarren) -> None:
    added = json.loads(warren("silence", "add", "--group", "a", "--for", "9m", "--json", "--url", running.url).out)
    assert added["until"] == iso(NOW_S + 540)

    removed = warren("silence", "remove", added["id"], "--json", "--url", running.url)
    assert (json.loads(removed.out)["id"], running.alerts.silences.all()) == (added["id"], [])


def test_silences_are_listed_as_a_table(warren: Command, running: RunningWarren) -> None:
    running.alerts.silences.add(Silence("one", Meant(group="^b"), ms(0), ms(90), "ann", "disk"))

    assert warren("silence", "list", "--url", running.url) == (
        0,
        "ID   STATE   FROM                      UNTIL                     CLUSTER  GROUP  TOPIC  BY   COMMENT\n"
        f"one  active  {iso(0)}  {iso(90)}           ^b            ann  disk\n",
        "",
    )


def test_silences_are_listed_in_colours_in_a_terminal(running: RunningWarren) -> None:
    running.alerts.silences.add(Silence("one", Meant(group="^b"), ms(0), ms(90), "ann", "disk"))

    terminal = Terminal("silence", "list", "--url", running.url)
    said = terminal.read_until("COMMENT", "disk")
    terminal.close()
    assert "\x1b[2mCOMMENT" in said


def test_what_others_have_written_cannot_command_a_terminal(warren: Command, running: RunningWarren) -> None:
    running.alerts.silences.add(Silence("one", Meant(group="a"), ms(0), ms(90), "", "two\nlines \x1b[2J"))

    assert warren("silence", "list", "--url", running.url).out.endswith("two\\nlines \\x1b[2J\n")


def test_silences_are_listed_for_programs(warren: Command, running: RunningWarren) -> None:
    running.alerts.silences.add(Silence("one", Meant(group="a"), ms(0), ms(90), "", ""))

    said = warren("silence", "list", "--json", "--url", running.url)
    assert [one["id"] for one in json.loads(said.out)["silences"]] == ["one"]


def test_without_silences_nothing_goes_into_a_pipe(warren: Command, running: RunningWarren) -> None:
    assert warren("silence", "list", "--url", running.url) == (0, "", "There are no silences.\n")


def test_a_silence_is_removed(warren: Command, running: RunningWarren) -> None:
    running.alerts.silences.add(Silence("one", Meant(group="a"), ms(0), ms(90), "", ""))

    assert warren("silence", "remove", "one", "--url", running.url) == (0, "Silence one is removed.\n", "")
    assert running.alerts.silences.all() == []


def test_the_address_may_come_from_the_environment(
    warren: Command, running: RunningWarren, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARREN_URL", f"{running.url}/")

    assert warren("silence", "list").code == 0


def test_the_token_may_come_from_the_environment(
    warren: Command, guarded: RunningWarren, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", TOKEN)

    assert warren("silence", "add", "--group", "a", "--for", "1h", "--url", guarded.url).code == 0


# -- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_silence_that_is_not_there_is_told(warren: Command, running: RunningWarren) -> None:
    said = warren("silence", "remove", "a/b", "--url", running.url)

    message = "warren: There is no silence `a/b`. /api/v1/silences lists the known ones.\n"
    assert said == (1, "", message)


def test_a_silence_that_makes_no_sense_is_told(warren: Command, running: RunningWarren) -> None:
    said = warren("silence", "add", "--group", "(", "--for", "1h", "--url", running.url)

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("warren: Field `group` is '(': it is not a regular expression")


def test_a_token_that_is_missing_is_told(warren: Command, guarded: RunningWarren) -> None:
    said = warren("silence", "remove", "one", "--url", guarded.url)

    assert said.err.startswith(
        "warren: Without --token or WARREN_TOKEN this is not accepted: A token is needed. Send it"
    )
    assert said.code == 1


@pytest.mark.parametrize("token", ["wrong-battery", "wrong\nbattery", "wrong-bättery"])
def test_a_token_that_is_wrong_is_told_but_not_shown(warren: Command, guarded: RunningWarren, token: str) -> None:
    said = warren("silence", "remove", "one", "--url", guarded.url, "--token", token)

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "token" in said.err
    assert "wrong" not in said.err


def test_a_warren_that_does_not_run_is_told(warren: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else can
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = warren("silence", "list", "--url", url)

    assert said.code == 1
    assert said.err.startswith(f"warren: Warren is not reachable at {url}: ")


def test_somebody_who_hangs_up_is_told(warren: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        said = warren("silence", "list", "--url", f"http://127.0.0.1:{server.getsockname()[1]}")
        thread.join()

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "is not reachable" in said.err


def answering(status: int, body: bytes, **headers: str) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    return app


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>", "is not Warren: it speaks no JSON."),
        (200, b"\xff", "is not Warren: it speaks no JSON."),
        (200, b"[]", "is not Warren: its answer has another form."),
        (200, b"{}", "is not Warren: its answer has another form."),
        (502, b"<html>", "answers 502 Bad Gateway."),
        (500, b"[]", "answers 500 Internal Server Error."),
    ],
)
def test_an_answer_that_is_not_warrens_is_told(warren: Command, status: int, body: bytes, message: str) -> None:
    with listening(answering(status, body)) as url:
        said = warren("silence", "list", "--url", url)

    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert message in said.err


def test_a_token_is_never_taken_elsewhere(warren: Command) -> None:
    heard: list[bytes] = []

    async def elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
        heard.append(scope["raw_path"])

    with listening(elsewhere) as there, listening(answering(302, b"", location=f"{there}/x")) as url:
        said = warren("silence", "list", "--url", url, "--token", TOKEN)

    assert (said.code, heard) == (1, [])


@pytest.mark.parametrize("url", ["", "warren:8000", "ftp://warren", "http://", "http://x:port", "http://[", "http://ü"])
def test_an_address_that_is_none_is_told(warren: Command, url: str) -> None:
    assert warren("silence", "list", "--url", url) == (
        1,
        "",
        "warren: The URL of Warren is wrong. It should be like http://127.0.0.1:8000.\n",
    )


def test_a_password_in_an_address_is_not_shown(warren: Command) -> None:
    said = warren("silence", "list", "--url", "http://me:s3cret@127.0.0.1:1")

    assert said.code == 1
    assert "s3cret" not in said.err


# -- templates -------------------------------------------------------------------------------------------------------


@pytest.fixture
def template(tmp_path: Path) -> str:
    path = tmp_path / "message.tmpl"
    path.write_text("{{.Cluster}}/{{.Group}} is {{.Result.Status}} for {{.Extras.team}}, incident {{.ID}}\n")
    return str(path)


@pytest.mark.parametrize(
    ("sample", "status"), [("trouble", "ERR"), ("ok", "OK"), ("closed", "OK"), ("unknown", "WARN")]
)
def test_a_template_is_shown_with_a_sample(warren: Command, template: str, sample: str, status: str) -> None:
    said = warren("template", "render", template, "--sample", sample, "--extras", "team=a=b")

    assert said.out.startswith(f"local/orders is {status} for a=b, incident ")
    assert said.code == 0


def test_a_template_is_shown_with_a_group_in_trouble_if_nothing_else_is_said(warren: Command, template: str) -> None:
    assert warren("template", "render", template).out.startswith("local/orders is ERR")


def test_a_template_is_shown_with_a_real_group(warren: Command, template: str, running: RunningWarren) -> None:
    named = ("--cluster", "local", "--group", "billing", "--extras", "team=x", "--url", running.url)

    assert warren("template", "render", template, *named) == (0, "local/billing is ERR for x, incident \n", "")


def test_a_real_group_in_trouble_is_shown_with_its_incident(
    warren: Command, tmp_path: Path, running: RunningWarren
) -> None:
    opened = Step(ms(10), Turn.OPENED, Status.ERR, None, 0)
    running.alerts.incidents.write(Incident("i-1", "local", "billing", ms(10), Status.ERR, (opened,)))
    template = tmp_path / "message.tmpl"
    template.write_text("{{.ID}} {{.Start.Unix}}")
    named = ("--cluster", "local", "--group", "billing", "--url", running.url)

    assert warren("template", "render", str(template), *named).out == f"i-1 {ms(10) // 1000}"


def test_a_group_that_is_not_there_is_told(warren: Command, template: str, running: RunningWarren) -> None:
    said = warren("template", "render", template, "--cluster", "local", "--group", "none", "--url", running.url)

    assert said == (1, "", f"warren: Warren at {running.url} knows no group `none` in a cluster `local`.\n")


def test_a_mistake_in_a_template_is_told_with_its_place(warren: Command, tmp_path: Path) -> None:
    template = tmp_path / "message.tmpl"
    template.write_text("{{.Nothing}}")
    said = warren("template", "render", str(template))

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"warren: {template}:1:")


def test_a_template_that_is_not_there_is_told(warren: Command) -> None:
    said = warren("template", "render", "nowhere.tmpl")

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "nowhere.tmpl" in said.err


@pytest.mark.parametrize(
    "options",
    [("--group", "g"), ("--cluster", "c"), ("--sample", "ok", "--cluster", "c", "--group", "g"), ("--extras", "team")],
    ids=" ".join,
)
def test_options_that_make_no_sense_together_are_told(warren: Command, template: str, options: tuple[str, ...]) -> None:
    said = warren("template", "render", template, *options)

    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
