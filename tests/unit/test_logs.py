"""What Warren lets libraries write into its log."""

from __future__ import annotations

import io
import logging
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError

from warren.machine.logs import configure_logging


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, filters, level = root.handlers[:], root.filters[:], root.level
    configure_logging(stream=stream)
    yield stream
    root.handlers[:], root.filters[:] = handlers, filters
    root.setLevel(level)


@pytest.fixture
def dying_jvm_port() -> Iterator[int]:
    """The port of a gateway that resets the connection in the middle of a call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_reset_a_call, args=[server])
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def _reset_a_call(server: socket.socket) -> None:
    connection, _ = server.accept()
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_call_that_the_end_of_the_jvm_breaks_off_leaves_no_traceback_in_the_log(
    log: io.StringIO, dying_jvm_port: int
) -> None:
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=dying_jvm_port))

    with pytest.raises(Py4JError):
        gateway.jvm.System.nanoTime()

    assert log.getvalue() == ""


def test_an_error_of_a_library_is_in_the_log(log: io.StringIO) -> None:
    logging.getLogger("kazoo").error("session expired")

    assert "session expired" in log.getvalue()
