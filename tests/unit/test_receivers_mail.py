"""Burrow's `email`, against a real SMTP server."""

from __future__ import annotations

import socket
from email.message import EmailMessage
from typing import Any

import pytest

from tests.support.certificates import Authority
from tests.support.receivers import mail_server as mail_server_module
from tests.support.receivers.mail_server import Mail, mail_server
from tests.support.receivers.samples import AT_MS, CLOSED, OPENED
from warren.embedded.broker import free_port
from warren.errors import ConfigError, UnsendableError
from warren.notify.events import Event
from warren.notify.receivers import mail
from warren.notify.receivers.contract import DELIVERED, Outcome, Result
from warren.notify.receivers.mail import Email, EmailSettings, read_letter
from warren.webclient.connection import Trust

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH")  # of the server: it is what is tested

TEXT = "Subject: Lag of grüße\n\nGroup grüße\n.\n.dots\n" + "long " * 300 + "\nend\n"


def settings(port: int, text: str = TEXT, **more: Any) -> EmailSettings:
    given: dict[str, Any] = {
        "server": "127.0.0.1",
        "port": port,
        "from_address": "Warren <warren@example.com>",
        "to": "a@example.com, b@example.com",
        "opened": lambda event: text,
        **more,
    }
    return EmailSettings(**given)


def send(port: int, text: str = TEXT, event: Event = OPENED, **more: Any) -> Outcome:
    return Email(settings(port, text, **more)).deliver([event], "key-1", now_ms=AT_MS)


def sent(text: str = TEXT, **more: Any) -> Mail:
    with mail_server() as (port, postbox):
        assert send(port, text, **more) == DELIVERED
    [found] = postbox.mails
    return found


def text_of(message: EmailMessage) -> str:
    return str(message.get_content()).replace("\r\n", "\n")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("mail"), "authority")


LOGIN = {"auth_type": "plain", "username": "user", "password": "mail-secret-password"}


def test_a_mail_arrives_whole() -> None:
    found = sent().message

    assert found["Subject"] == "Lag of grüße"
    assert found["From"] == "Warren <warren@example.com>"
    assert found["To"] == "a@example.com, b@example.com"
    assert found["Date"] == "Mon, 16 Nov 2026 09:32:00 +0000"
    assert text_of(found) == TEXT.partition("\n\n")[2]


def test_a_mail_goes_to_all_recipients() -> None:
    found = sent()

    assert (found.sender, found.recipients) == ("warren@example.com", ["a@example.com", "b@example.com"])


def test_a_mail_is_quoted_printable_utf_8_of_lines_that_every_server_takes() -> None:
    found = sent()

    assert found.message["Content-Type"] == 'text/plain; charset="utf-8"'
    assert found.message["Content-Transfer-Encoding"] == "quoted-printable"
    assert found.content.isascii()
    assert max(len(line) for line in found.content.split(b"\r\n")) <= 78


def test_a_repeat_has_the_same_message_id() -> None:
    first, second, other = (
        Email(settings(1)).build([event], now_ms=at_ms)["Message-ID"]
        for event, at_ms in ((OPENED, AT_MS), (OPENED, AT_MS + 9), (OPENED._replace(key="x"), AT_MS))
    )

    assert first == second != other
    assert first.endswith("@example.com>")


@pytest.mark.parametrize(
    "head",
    [
        'Content-Type: text/html; charset="UTF-8"\nMIME-version: 1.0\n\n',
        'MIME-version: 1.0\nContent-Type: text/html; charset="UTF-8"\n\n',
        "content-type:text/html\n\n",
        "\nContent-Type: text/html\n\n",  # a line that a directive of the template has left behind
        "Content-Type: text/html; charset=iso-8859-1\r\n\r\n",
    ],
)
def test_headers_of_a_template_are_understood(head: str) -> None:
    found = sent(f"Subject: x\n{head}<b>ü</b>\n").message

    assert found["Content-Type"] == 'text/html; charset="utf-8"'
    assert found.get_all("MIME-Version") == ["1.0"]
    assert text_of(found) == "<b>ü</b>\n"


def test_a_line_of_the_body_that_looks_like_a_header_stays_in_the_body() -> None:
    assert read_letter("Subject: x\n\nhello\nContent-Type: text/html\n").body == "hello\nContent-Type: text/html\n"


def test_a_body_needs_no_blank_line_before_it() -> None:
    assert read_letter("Subject: x\nhello") == ("x", "plain", "hello")


@pytest.mark.parametrize("text", ["", "hello", "subject: x\n\nhello", "\nSubject: x\n", "Subject:x\n"])
def test_a_text_without_a_subject_is_refused_with_a_reason(text: str) -> None:
    outcome = send(1, text)

    assert outcome.result is Result.PERMANENT
    assert "does not begin with 'Subject:'" in outcome.reason


def test_a_kind_that_is_no_text_is_refused() -> None:
    with pytest.raises(UnsendableError, match="neither text/plain nor text/html"):
        read_letter("Subject: x\nContent-Type: application/pdf\n\n")


def test_a_subject_cannot_bring_headers_along() -> None:
    found = sent("Subject: x\rBcc: evil@example.com\n\nhello").message

    assert found["Bcc"] is None


def test_the_close_of_an_incident_has_its_own_text() -> None:
    with mail_server() as (port, postbox):
        send(port, event=CLOSED, closed=lambda event: "Subject: over\n\nover\n")

    assert postbox.mails[0].message["Subject"] == "over"


def test_tls_is_used_when_the_server_offers_it(authority: Authority) -> None:
    with mail_server(starttls=authority.sign("server")) as (port, postbox):
        assert send(port, trust=Trust(extra_ca=str(authority.pem))) == DELIVERED

    assert postbox.mails[0].is_private


def test_a_certificate_of_an_unknown_authority_is_not_trusted(authority: Authority) -> None:
    with mail_server(starttls=authority.sign("server")) as (port, postbox):
        outcome = send(port)

    assert (outcome.result, postbox.mails) == (Result.RETRY, [])
    assert "its certificate is not trusted" in outcome.reason


def test_any_certificate_is_taken_without_verification(authority: Authority) -> None:
    with mail_server(starttls=authority.sign("server")) as (port, _):
        assert send(port, trust=Trust(noverify=True)) == DELIVERED


def test_tls_begins_at_once_on_its_port(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server(tls=authority.sign("server")) as (port, postbox):
        monkeypatch.setattr(mail, "TLS_AT_ONCE", port)
        assert send(port, trust=Trust(extra_ca=str(authority.pem))) == DELIVERED

    assert len(postbox.mails) == 1


def test_the_port_of_tls_is_465() -> None:
    assert mail.TLS_AT_ONCE == 465


@pytest.mark.parametrize(("kind", "mechanism"), [("plain", "PLAIN"), ("PLAIN", "PLAIN"), ("CramMD5", "CRAM-MD5")])
def test_a_user_logs_in(kind: str, mechanism: str, authority: Authority) -> None:
    with mail_server(starttls=authority.sign("server"), wants_login=True) as (port, postbox):
        assert send(port, trust=Trust(noverify=True), **{**LOGIN, "auth_type": kind}) == DELIVERED

    assert postbox.logins == [mechanism]


@pytest.mark.parametrize("kind", ["plain", "crammd5"])
def test_a_password_can_have_any_character(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_server_module, "PASSWORD", "pässwörd".encode())
    with mail_server(wants_login=True) as (port, _):
        assert send(port, auth_type=kind, username="user", password="pässwörd") == DELIVERED


def test_a_wrong_password_is_refused_for_good_and_not_told(authority: Authority) -> None:
    with mail_server(wants_login=True) as (port, _):
        outcome = send(port, **{**LOGIN, "password": "wrong-secret"})

    assert (outcome.result, outcome.reason[:12]) == (Result.PERMANENT, "answered 535")
    assert "wrong-secret" not in outcome.reason


def test_a_login_that_the_server_wants_and_is_not_configured_is_refused() -> None:
    with mail_server(wants_login=True) as (port, _):
        assert send(port).result is Result.PERMANENT


def test_a_password_is_not_sent_in_the_clear_but_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server(wants_login=True) as (port, postbox):
        monkeypatch.setattr(mail, "_is_here", lambda server: False)
        outcome = send(port, **LOGIN)

    assert (outcome.result, postbox.logins) == (Result.PERMANENT, [])
    assert "the password is not sent" in outcome.reason


@pytest.mark.parametrize(("server", "is_here"), [("localhost", True), ("127.0.0.1", True), ("::1", True), ("x", False)])
def test_this_machine_has_some_names(server: str, is_here: bool) -> None:
    assert mail._is_here(server) is is_here


@pytest.mark.parametrize(("answer", "result"), [("451 later", Result.RETRY), ("554 never", Result.PERMANENT)])
def test_an_answer_to_the_mail_tells_whether_to_try_again(answer: str, result: Result) -> None:
    with mail_server() as (port, postbox):
        postbox.content_answer = answer
        outcome = send(port)

    assert (outcome.result, outcome.reason) == (result, f"answered {answer[:3]}: {answer[4:]}")


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        (("550 no", "550 no"), Result.PERMANENT),
        (("550 no", "450 later"), Result.RETRY),
        (("450 later", "550 no"), Result.RETRY),
    ],
)
def test_when_nobody_is_reached_it_is_tried_again_if_that_can_help(answers: tuple[str, str], result: Result) -> None:
    with mail_server() as (port, postbox):
        postbox.recipient_answers = dict(zip(("a@example.com", "b@example.com"), answers, strict=True))

        assert send(port).result is result


def test_a_recipient_who_is_refused_is_told_of() -> None:
    with mail_server() as (port, postbox):
        postbox.recipient_answers = {"a@example.com": "550 no"}
        outcome = send(port)

    assert outcome == DELIVERED._replace(reason="refused for a@example.com")
    assert postbox.mails[0].recipients == ["b@example.com"]


def test_a_server_that_is_away_is_tried_again() -> None:
    outcome = send(free_port())

    assert outcome.result is Result.RETRY
    assert "connection refused" in outcome.reason


def test_a_server_that_says_nothing_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        outcome = send(listener.getsockname()[1])  # the server never answers: only the timeout ends this

    assert outcome.result is Result.RETRY
    assert "timed out" in outcome.reason


@pytest.mark.parametrize("more", [{"auth_type": "digest"}, {"to": " , "}, {"from_address": ""}])
def test_settings_that_make_no_sense_are_refused_at_once(more: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Email(settings(25, **more))


def test_no_secret_is_in_the_words_for_the_settings() -> None:
    assert "mail-secret-password" not in repr(settings(25, **LOGIN))
