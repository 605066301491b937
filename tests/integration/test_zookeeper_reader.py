"""Our own reader of ZooKeeper against a real server, and whole looks at what consumers leave there."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from tests.support.certificates import Authority
from tests.support.kafka import unique
from tests.support.servers import ZooKeeper
from tests.support.waiting import eventually
from warren.errors import SourceError
from warren.sources.looking import Looker
from warren.sources.zookeeper import ConsumersPlace
from warren.sources.zookeeper_tree import ZooKeeperOptions
from warren.sources.zookeeper_wire import NO_AUTH, NO_NODE, Children, Login, Node, Refused, ZooKeeperReader

NOBODY = "127.0.0.1:1"


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    with ZooKeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


@pytest.fixture(scope="module")
def client(zookeeper: ZooKeeper) -> Iterator[KazooClient]:
    client = KazooClient(hosts=zookeeper.address, timeout=20)
    client.start(60)
    yield client
    client.stop()
    client.close()


@pytest.fixture
def root(client: KazooClient) -> str:
    """A chroot of its own, with one group."""
    root = f"/{unique('root')}"
    client.create(f"{root}/consumers/g/offsets/t/0", b"5", makepath=True)
    return root


def options(zookeeper: ZooKeeper, root: str, *, auth: str = "", servers: list[str] | None = None) -> ZooKeeperOptions:
    return ZooKeeperOptions(servers or [zookeeper.address], root, 20, 0.1, Login(auth))


def test_what_kazoo_has_written_is_read_in_the_order_that_was_asked_for(
    zookeeper: ZooKeeper, client: KazooClient, root: str
) -> None:
    many = [f"{root}/n{number}" for number in range(1_200)]
    for start in range(0, len(many), 400):
        transaction = client.transaction()
        for path in many[start : start + 400]:
            transaction.create(path, path.encode())
        transaction.commit()
    with ZooKeeperReader(zookeeper.address, 20, Login()) as reader:
        reader.sync("/")
        found, [below] = reader.nodes([*many, f"{root}/absent"]), reader.children([root])

    assert [one.data.decode() for one in found if isinstance(one, Node)] == many
    assert found[-1] == Refused(NO_NODE)
    assert isinstance(below, Children)
    assert len(below.names) == 1_201
    stat = client.exists(many[0])
    assert isinstance(found[0], Node)
    assert (found[0].stat.mzxid, found[0].stat.mtime_ms) == (stat.mzxid, stat.mtime)


def test_a_node_with_an_acl_is_read_with_the_login_and_refused_without(
    zookeeper: ZooKeeper, client: KazooClient, root: str
) -> None:
    path = f"{root}/consumers/g/offsets/t/0"
    client.set_acls(path, [make_digest_acl("warren", "secret", read=True)])
    answers = []
    for login in (Login("warren:secret"), Login("warren:wrong"), Login()):
        with ZooKeeperReader(zookeeper.address, 20, login) as reader:
            answers += reader.nodes([path])

    assert isinstance(answers[0], Node)
    assert answers[1:] == [Refused(NO_AUTH), Refused(NO_AUTH)]


def test_a_server_that_is_away_is_left_for_one_that_answers(zookeeper: ZooKeeper, root: str) -> None:
    place = ConsumersPlace(options(zookeeper, root, servers=[NOBODY, zookeeper.address, NOBODY]))

    assert [one[:4] for one in place.look(0).commits] == [("g", "t", 0, 5)]


@pytest.fixture
def tls_port(zookeeper: ZooKeeper, authority: Authority) -> Iterator[int]:
    """A port that speaks TLS, in front of ZooKeeper."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign("server"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server, context, zookeeper.port), daemon=True).start()
        yield server.getsockname()[1]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


def _serve(server: socket.socket, context: ssl.SSLContext, port: int) -> None:
    while True:
        try:
            with context.wrap_socket(server.accept()[0], server_side=True) as outside:
                _pass_on(outside, port)
        except ssl.SSLError:
            continue  # a client that does not trust us
        except OSError:
            return


def _pass_on(outside: ssl.SSLSocket, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as inside:
        while outside.pending() or select.select([outside, inside], [], [], 30)[0]:
            if outside.pending() or outside in select.select([outside], [], [], 0)[0]:
                if not (data := outside.recv(65_536)):
                    return
                inside.sendall(data)
            if inside in select.select([inside], [], [], 0)[0]:
                outside.sendall(inside.recv(65_536))


def test_a_server_with_tls_is_read_if_its_certificate_is_trusted(
    zookeeper: ZooKeeper, root: str, tls_port: int, authority: Authority
) -> None:
    asked = options(zookeeper, root, servers=[f"127.0.0.1:{tls_port}"])
    trusting = asked._replace(login=Login(tls=True, cafile=str(authority.pem)))

    assert [one[:4] for one in ConsumersPlace(trusting).look(0).commits] == [("g", "t", 0, 5)]
    with pytest.raises(SourceError, match="certificate verify failed"):
        ConsumersPlace(asked._replace(login=Login(tls=True))).look(0)


def test_when_no_server_answers_all_are_told(zookeeper: ZooKeeper, root: str) -> None:
    place = ConsumersPlace(options(zookeeper, root, servers=[NOBODY]))

    with pytest.raises(SourceError, match=r"ZooKeeper 127\.0\.0\.1:1 cannot be read: .*refused"):
        place.look(0)


def test_a_commit_of_the_same_offset_has_another_order_and_a_node_made_anew_has_a_later_one(
    zookeeper: ZooKeeper, client: KazooClient, root: str
) -> None:
    place, path = ConsumersPlace(options(zookeeper, root)), f"{root}/consumers/g/offsets/t/0"
    orders = [place.look(0).commits[0].order, place.look(0).commits[0].order]
    client.set(path, b"5")
    orders.append(place.look(0).commits[0].order)
    client.delete(path)
    client.create(path, b"5")
    orders.append(place.look(0).commits[0].order)

    assert orders[0] == orders[1] < orders[2] < orders[3]


def test_a_tree_that_is_made_anew_is_another_place(zookeeper: ZooKeeper, client: KazooClient, root: str) -> None:
    place = ConsumersPlace(options(zookeeper, root))
    before = place.look(0).place_id
    client.delete(f"{root}/consumers", recursive=True)
    without = place.look(0)
    client.create(f"{root}/consumers/g/offsets/t/0", b"1", makepath=True)

    assert (without.place_id, without.commits) == ("", [])
    assert place.look(0).place_id not in ("", before)


def test_sessions_end_with_their_looks(zookeeper: ZooKeeper, root: str, client: KazooClient) -> None:
    place = ConsumersPlace(options(zookeeper, root))
    for _ in range(5):
        place.look(0)

    eventually(
        lambda: str(client.command(b"cons")).count("sid=0x") <= 2
    )  # kazoo's own, and maybe one that is just going


def test_looks_go_on_until_one_fails_and_that_is_raised_to_who_asks(zookeeper: ZooKeeper, root: str) -> None:
    place = ConsumersPlace(options(zookeeper, root))
    broken = threading.Event()

    class Breaking:
        def look(self, looked_ms: int) -> object:
            if broken.is_set():
                message = "It is gone."
                raise SourceError(message)
            return place.look(looked_ms)

    looker = Looker(Breaking(), 0.05)  # type: ignore[arg-type]
    eventually(lambda: (look := looker.newest()) and look.number >= 2)
    broken.set()

    def raises() -> bool:
        try:
            looker.newest()
        except SourceError:
            return True
        return False

    eventually(raises)
