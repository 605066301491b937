"""SMTP server that records the mails it receives."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from warren.embedded.broker import free_port

USER, PASSWORD = b"user", b"mail-secret-password"


class Mail(NamedTuple):
    """Recorded mail."""

    sender: str
    recipients: list[str]
    content: bytes
    is_private: bool

    @property
    def message(self) -> EmailMessage:
        found = message_from_bytes(self.content, policy=policy.default)
        assert isinstance(found, EmailMessage)
        return found


class Postbox:
    """Handler of the server: records mails, or answers recipients and contents as a test sets it."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.recipient_answers: dict[str, str] = {}
        self.content_answer = "250 OK"
        self.logins: list[str] = []

    async def handle_RCPT(  # as it is called
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.recipient_answers:
            return self.recipient_answers[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.content_answer.startswith("250"):
            content = envelope.content
            assert isinstance(content, bytes)
            private = session.ssl is not None
            self.mails.append(Mail(envelope.mail_from or "", list(envelope.rcpt_tos), content, private))
        return self.content_answer

    async def auth_CRAM__MD5(self, server: SMTP, arguments: list[str]) -> AuthResult:
        """Authenticate by CRAM-MD5, which aiosmtpd does not implement."""
        challenge = b"<1.2@test>"
        given = await server.challenge_auth(challenge)
        assert isinstance(given, bytes)
        user, _, digest = given.rpartition(b" ")
        expected = hmac.new(PASSWORD, challenge, "md5").hexdigest().encode()
        self.logins.append("CRAM-MD5")
        return AuthResult(success=(user, digest) == (USER, expected), handled=False, auth_data=user)


@contextmanager
def mail_server(
    *,
    starttls: tuple[Path, Path] | None = None,
    tls: tuple[Path, Path] | None = None,
    wants_login: bool = False,
) -> Iterator[tuple[int, Postbox]]:
    """Run a server on a free port of 127.0.0.1 while the block runs; return the port and the postbox."""
    postbox = Postbox()

    def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        postbox.logins.append(mechanism)
        is_right = isinstance(data, LoginPassword) and (data.login, data.password) == (USER, PASSWORD)
        return AuthResult(success=is_right, handled=False, auth_data=data)  # True would send no answer

    settings: dict[str, Any] = {"hostname": "127.0.0.1", "port": free_port()}
    settings |= {"authenticator": authenticate, "auth_required": wants_login, "auth_require_tls": False}
    if starttls:
        settings |= {"tls_context": _context(starttls)}
    if tls:
        settings |= {"ssl_context": _context(tls)}
    controller = Controller(postbox, **settings)
    controller.start()
    try:
        yield settings["port"], postbox
    finally:
        controller.stop()


def _context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context
