"""A broker with everything that guards one: TLS, certificates of clients, passwords, tokens and access lists."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qs

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.support.certificates import Authority
from warren.embedded.broker import HOST, Broker, free_port

PLAIN_PASSWORD, SCRAM_PASSWORD, TOKEN_SECRET = "plain-s3cret", "scram-s3cret", "token-s3cret"
SECRETS = (PLAIN_PASSWORD, SCRAM_PASSWORD, TOKEN_SECRET)

_JAAS = "org.apache.kafka.common.security"


class Tokens:
    """Gives a token to whoever knows the secret, as a server for OAuth does."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                login = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
                allowed = TOKEN_SECRET in (login.partition(":")[2], *form.get("client_secret", []))
                body = json.dumps({"access_token": _token("watcher"), "expires_in": 600}) if allowed else "{}"
                self.send_response(200 if allowed else 401)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((HOST, free_port()), Handler)
        self.url = f"http://{HOST}:{self._server.server_address[1]}/token"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _token(subject: str) -> str:
    """A token that nobody has signed; the broker is told to take those."""
    now_s = int(time.time())
    parts = ({"alg": "none"}, {"sub": subject, "iat": now_s, "exp": now_s + 600, "scope": "kafka"})
    return ".".join([*(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts), ""])


class SecuredBroker:
    """One broker with a listener for each way in; the plain one is for whoever sets it up."""

    def __init__(self, directory: Path, version: str = "4.3.1") -> None:
        self.authority = Authority(directory, "test-ca")
        self.client_pem, self.client_key = self.authority.sign("lagmon")
        self.tokens = Tokens()
        self._plain, self._sasl, self._mtls, self._oauth, controller = (free_port() for _ in range(5))
        ports = {"PLAINTEXT": self._plain, "SASL": self._sasl, "MTLS": self._mtls, "OAUTH": self._oauth}
        self._broker = Broker(
            directory / "kafka", version, self._plain, overrides=_settings(directory, self.authority, ports, controller)
        )

    @property
    def bootstrap(self) -> str:
        """For the setting up: nothing is asked for."""
        return f"{HOST}:{self._plain}"

    @property
    def sasl(self) -> str:
        """Passwords over TLS."""
        return f"localhost:{self._sasl}"

    @property
    def mtls(self) -> str:
        """Certificates of clients."""
        return f"localhost:{self._mtls}"

    @property
    def oauth(self) -> str:
        """Tokens over TLS."""
        return f"localhost:{self._oauth}"

    def allow(self, principals: Iterable[str], topics: dict[str, Sequence[AclOperation]]) -> None:
        """Let these do so much with topics, and nothing else."""
        bindings = [
            _binding(ResourceType.TOPIC, topic, f"User:{name}", operation)
            for name in principals
            for topic, operations in topics.items()
            for operation in operations
        ]
        admin = self._admin()  # it must live until it has answered
        for one in admin.create_acls(bindings).values():
            one.result(30)

    def __enter__(self) -> SecuredBroker:
        self._broker.start()
        self._broker.prepare_groups()
        password = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        user = UserScramCredentialUpsertion("scrambled", password, SCRAM_PASSWORD.encode())
        admin = self._admin()
        for one in admin.alter_user_scram_credentials([user]).values():
            one.result(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._broker.stop()
        self.tokens.close()

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})


def _binding(kind: ResourceType, name: str, principal: str, operation: AclOperation) -> AclBinding:
    return AclBinding(kind, name, ResourcePatternType.LITERAL, principal, "*", operation, AclPermissionType.ALLOW)


def _settings(directory: Path, authority: Authority, ports: dict[str, int], controller: int) -> dict[str, str]:
    pem, key = authority.sign("localhost")
    store = directory / "broker-store.pem"
    store.write_text(key.read_text() + pem.read_text() + authority.pem.read_text())
    hosts = {name: HOST if name == "PLAINTEXT" else "localhost" for name in ports}
    listeners = [f"{name}://{HOST}:{port}" for name, port in ports.items()]
    protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_SSL,MTLS:SSL,OAUTH:SASL_SSL"
    plain_login = f'{_JAAS}.plain.PlainLoginModule required user_plainly="{PLAIN_PASSWORD}";'
    oauth, unsecured = "listener.name.oauth.oauthbearer.sasl", f"{_JAAS}.oauthbearer.internals.unsecured"
    return {
        "listeners": ",".join([*listeners, f"CONTROLLER://{HOST}:{controller}"]),
        "advertised.listeners": ",".join(f"{name}://{hosts[name]}:{port}" for name, port in ports.items()),
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listener.security.protocol.map": protocols,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.pem),
        "listener.name.mtls.ssl.client.auth": "required",
        "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.sasl.plain.sasl.jaas.config": plain_login,
        "listener.name.sasl.scram-sha-512.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;",
        "listener.name.oauth.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{oauth}.jaas.config": f"{_JAAS}.oauthbearer.OAuthBearerLoginModule required;",
        f"{oauth}.server.callback.handler.class": f"{unsecured}.OAuthBearerUnsecuredValidatorCallbackHandler",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
