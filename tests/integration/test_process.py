"""The process as its owner sees it: signals, exit codes, one sentence for what is wrong."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from tests.support.processes import assert_gone
from tests.support.warren import WarrenProcess, config, run_warren
from warren import __version__
from warren.embedded.broker import Broker


@pytest.mark.long
def test_ctrl_c_stops_everything_within_five_seconds(broker: Broker, tmp_path: Path) -> None:
    with WarrenProcess(tmp_path, config(broker.bootstrap)) as warren:
        started = warren.wait_until_ready().children()
        code, seconds = warren.stop(signal.SIGINT)

    assert code == 0, warren.log()
    assert seconds < 5
    assert_gone(started, within_s=5)


def test_a_wrong_configuration_is_one_message_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text("[storage.x]\nintervals = 0\n")
    done = run_warren("run", "--config-dir", str(tmp_path), cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == (
        f"Reading configuration from {tmp_path}\n"
        "warren: One thing is to be corrected in the configuration:\n"
        "  warren.toml:2: storage.x.intervals: must be at least 1\n"
    )


def test_an_address_in_use_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        (tmp_path / "warren.toml").write_text(f'[httpserver.x]\naddress = "{address}"\n')
        done = run_warren("run", "--config-dir", str(tmp_path), cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == (
        f"Reading configuration from {tmp_path}\n"
        f"warren: The address {address} is in use. Stop what uses it, or choose another one.\n"
    )


def test_an_environment_for_executors_that_is_not_there_is_told(tmp_path: Path) -> None:
    spark = f'[spark]\nmaster = "spark://127.0.0.1:1"\nenvironment = "{tmp_path}/none.tar.gz"\n'
    (tmp_path / "warren.toml").write_text(config("127.0.0.1:1", more=spark))
    done = run_warren("run", "--config-dir", str(tmp_path), cwd=tmp_path)

    assert done.returncode == 1
    assert "warren pack" in done.stderr


def test_the_version_is_told() -> None:
    assert run_warren("--version").stdout == f"warren {__version__}\n"
