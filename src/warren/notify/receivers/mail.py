"""Burrow's `email`: text whose first line is the subject, sent by SMTP."""

from __future__ import annotations

import hmac
import re
import smtplib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.policy import SMTP
from email.utils import getaddresses, parseaddr
from hashlib import sha256
from ipaddress import ip_address
from typing import NamedTuple

from warren.errors import ConfigError, UnsendableError
from warren.notify.events import Event, Turn
from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver, Result, permanent, retry
from warren.notify.words import one_line, readable
from warren.webclient.client import told
from warren.webclient.connection import SYSTEM, Deadline, Trust, cut_off_at
from warren.webclient.hiding import secrets_of_login

CONNECT_S = 10.0
TLS_AT_ONCE = 465
LOGGED_IN = 235
GO_ON = 334
SUBJECT = "Subject: "
AUTH_TYPES = ("", "plain", "crammd5")

_HEADER = re.compile(r"(content-type|mime-version):(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class EmailSettings:
    """The server, who writes to whom, and the templates."""

    server: str
    port: int
    from_address: str
    to: str
    """Addresses with commas between them."""
    opened: Callable[[Event], str]
    closed: Callable[[Event], str] | None = None
    auth_type: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    trust: Trust = SYSTEM
    timeout_s: float = 30.0
    """For everything after the connection is there."""


class Letter(NamedTuple):
    """What a template has made."""

    subject: str
    kind: str
    """`plain` or `html`."""
    body: str


class Email(Receiver[EmailMessage]):
    """Readers of e-mail; templates are of one group, so it takes one event at a time."""

    def __init__(self, settings: EmailSettings) -> None:
        if settings.auth_type.lower() not in AUTH_TYPES:
            message = f"auth-type {settings.auth_type!r} is not known."
            raise ConfigError(message, hint="Write plain, crammd5, or nothing.")
        self._settings = settings
        settings.trust.check()
        self._to = [address for _, address in getaddresses([settings.to]) if address]
        self._from = parseaddr(settings.from_address)[1]
        if not self._to or not self._from:
            message = "An e-mail needs an address in both `from` and `to`."
            raise ConfigError(message)

    def build(self, events: Sequence[Event], *, now_ms: int) -> EmailMessage:
        """What the template says, with the headers that belong to a mail."""
        [event] = events
        render = self._settings.closed if event.turn is Turn.CLOSED else self._settings.opened
        if render is None:
            message = "There is no template-close."
            raise UnsendableError(message)
        letter, mail = read_letter(render(event)), EmailMessage(policy=SMTP)
        try:
            mail["Subject"] = letter.subject
            mail["From"], mail["To"] = self._settings.from_address, ", ".join(self._to)
            mail["Date"] = datetime.fromtimestamp(now_ms / 1000, UTC)
            mail["Message-ID"] = self._message_id(event)
        except (ValueError, MessageError) as error:
            message = "The subject or an address cannot be a header of an e-mail."
            raise UnsendableError(message) from error
        mail.set_content(letter.body, subtype=letter.kind, charset="utf-8", cte="quoted-printable")
        return mail

    def send(self, message: EmailMessage, key: str) -> Outcome:
        """One conversation with the server."""
        place = f"{self._settings.server}:{self._settings.port}"
        try:  # an error of SMTP is one of the system, too, so these come first
            with self._connected() as smtp:
                refused = smtp.send_message(message, self._from, self._to)
        except smtplib.SMTPResponseException as error:
            return _meaning(error.smtp_code, error.smtp_error)
        except smtplib.SMTPRecipientsRefused as error:
            return _meaning_of_all([_meaning(*answer) for answer in error.recipients.values()])
        except smtplib.SMTPNotSupportedError as error:
            return permanent(f"{place}: {error}")
        except smtplib.SMTPException as error:
            return retry(f"{place}: {error}")
        except TimeoutError:
            return retry(f"{place}: no answer in time")
        except OSError as error:
            return retry(f"{place}: {told(error)}")
        return DELIVERED._replace(reason=f"refused for {', '.join(refused)}") if refused else DELIVERED

    def secrets(self) -> Iterable[str]:
        """The password."""
        return secrets_of_login(self._settings.username, self._settings.password)

    def _message_id(self, event: Event) -> str:
        """From the event, so that whoever gets it twice sees one."""
        domain = self._from.rpartition("@")[2] or "warren"
        return f"<{sha256(event.key.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}@{domain}>"

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """A server that is ready for a mail."""
        smtp = self._open()
        try:
            assert smtp.sock is not None
            with cut_off_at(Deadline(self._settings.timeout_s), smtp.sock):
                is_private = self._start_tls(smtp)
            with cut_off_at(Deadline(self._settings.timeout_s), smtp.sock):  # another one: TLS wraps it
                self._log_in(smtp, is_private)
                yield smtp
                _say_goodbye(smtp)
        finally:
            smtp.close()

    def _open(self) -> smtplib.SMTP:
        server, port = self._settings.server, self._settings.port
        if port == TLS_AT_ONCE:
            return smtplib.SMTP_SSL(server, port, timeout=CONNECT_S, context=self._settings.trust.context())
        return smtplib.SMTP(server, port, timeout=CONNECT_S)

    def _start_tls(self, smtp: smtplib.SMTP) -> bool:
        """Go over to TLS if the server can; whether nobody listens now."""
        smtp.ehlo_or_helo_if_needed()
        if isinstance(smtp, smtplib.SMTP_SSL):
            return True
        if not smtp.has_extn("starttls"):
            return False
        smtp.starttls(context=self._settings.trust.context())
        smtp.ehlo()
        return True

    def _log_in(self, smtp: smtplib.SMTP, is_private: bool) -> None:
        kind = self._settings.auth_type.lower()
        if not kind:
            return
        if not smtp.has_extn("auth"):
            message = "the server has no logins"
            raise smtplib.SMTPNotSupportedError(message)
        if kind == "crammd5":
            _log_in_by_challenge(smtp, self._settings.username, self._settings.password)
        elif is_private or _is_here(self._settings.server):
            _log_in_plainly(smtp, self._settings.username, self._settings.password)
        else:
            message = "the password is not sent, since the server has no TLS"
            raise smtplib.SMTPNotSupportedError(message)


# The library's own logins take passwords in ASCII only.


def _log_in_plainly(smtp: smtplib.SMTP, username: str, password: str) -> None:
    _check_login(*smtp.docmd("AUTH", f"PLAIN {_base64(f'{chr(0)}{username}{chr(0)}{password}'.encode())}"))


def _log_in_by_challenge(smtp: smtplib.SMTP, username: str, password: str) -> None:
    code, challenge = smtp.docmd("AUTH", "CRAM-MD5")
    if code == GO_ON:
        digest = hmac.new(password.encode(), _unbase64(challenge), "md5").hexdigest()
        code, challenge = smtp.docmd(_base64(f"{username} {digest}".encode()))
    _check_login(code, challenge)


def _check_login(code: int, said: bytes) -> None:
    if code != LOGGED_IN:
        raise smtplib.SMTPAuthenticationError(code, said)


def _unbase64(data: bytes) -> bytes:
    try:
        return b64decode(data)
    except ValueError as error:
        message = "what the server wants for a login cannot be read"
        raise smtplib.SMTPException(message) from error


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def read_letter(text: str) -> Letter:
    """The parts of what a template has made; lines before the body may say of which kind it is."""
    text = readable(text.replace("\r\n", "\n"))
    if not text.startswith(SUBJECT):
        message = f"The template's text does not begin with {SUBJECT.strip()!r} and a blank, so nothing can be sent."
        raise UnsendableError(message)
    first, _, rest = text.partition("\n")
    headers, body = _split_headers(rest.split("\n"))
    return Letter(one_line(first.removeprefix(SUBJECT)).strip(), _kind(headers.get("content-type", "text/plain")), body)


def _split_headers(lines: list[str]) -> tuple[dict[str, str], str]:
    """Header lines at the beginning, also after blank ones, which templates leave behind; and the body."""
    headers: dict[str, str] = {}
    start = 0
    for number, line in enumerate(lines):
        found = _HEADER.fullmatch(line)
        if found:
            headers[found[1].lower()], start = found[2].strip(), number + 1
        elif line.strip():
            break
    if start < len(lines) and not lines[start].strip():
        start += 1  # the blank line between headers and body
    return headers, "\n".join(lines[start:])


def _kind(content_type: str) -> str:
    """`plain` or `html`; the text is always sent as UTF-8, whatever charset it names."""
    header = Message()
    header["Content-Type"] = content_type
    if header.get_content_type() not in ("text/plain", "text/html"):
        message = "The template's Content-Type is neither text/plain nor text/html."
        raise UnsendableError(message)
    return header.get_content_subtype()


def _meaning(code: int, said: bytes | str) -> Outcome:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    reason = f"answered {code}: {' '.join(text.split())}"
    return permanent(reason) if 500 <= code < 600 else retry(reason)


def _meaning_of_all(outcomes: Sequence[Outcome]) -> Outcome:
    """Nobody was reached; it is worth another attempt if one of them can be."""
    return next((one for one in outcomes if one.result is Result.RETRY), outcomes[0])


def _say_goodbye(smtp: smtplib.SMTP) -> None:
    """The mail is taken already; a server that is gone by now does not change that."""
    with suppress(smtplib.SMTPException, OSError):
        smtp.quit()


def _is_here(server: str) -> bool:
    try:
        return ip_address(server).is_loopback
    except ValueError:
        return server == "localhost"
