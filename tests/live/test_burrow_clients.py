"""Programs that people have pointed at Burrow, pointed at Warren: nothing but the address may need to change."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.asked import Asked
from tests.support.line_protocol import Point, points
from tests.support.programs import TELEGRAF

pytestmark = pytest.mark.long  # it takes minutes to build telegraf

# As in the lag dashboards that telegraf and Burrow are used for; only the output is another one.
CONFIG = """
[agent]
omit_hostname = true

[[inputs.burrow]]
servers = ["http://{address}"]
clusters_include = ["test"]
topics_exclude = ["__consumer_offsets"]
groups_exclude = ["console-*"]

[[outputs.file]]
files = ["{output}"]
data_format = "influx"
"""

STATUS_CODES = {"OK": 1, "ERR": 4, "STOP": 5}


@pytest.fixture(scope="module")
def gathered(asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """What telegraf writes when it has asked once."""
    directory = tmp_path_factory.mktemp("telegraf")
    config, output = directory / "telegraf.conf", directory / "output"
    config.write_text(CONFIG.format(address=asked.warren.address, output=output))
    command = [str(TELEGRAF.path()), "--config", str(config), "--once"]
    # Its exit code is 1 when any single group could not be had, so what it wrote is what counts.
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert output.exists(), done.stderr
    return points(output.read_text())


def one(gathered: list[Point], name: str, **tags: str) -> Point:
    [found] = [point for point in gathered if point.name == name and tags.items() <= point.tags.items()]
    return found


def end_of(asked: Asked, group: str, partition: int) -> dict[str, int]:
    status = asked.warren.get(f"/v3/kafka/test/consumer/{group}/lag")["status"]
    [found] = [at["end"] for at in status["partitions"] if at["partition"] == partition]
    return dict(found)


def test_telegraf_has_the_group_that_is_behind(asked: Asked, gathered: list[Point]) -> None:
    point = one(gathered, "burrow_group", group=asked.behind)

    assert point.tags == {"cluster": "test", "group": asked.behind}
    assert point.fields == {
        "status": "ERR",
        "status_code": STATUS_CODES["ERR"],
        "partition_count": 2,
        "offset": 5 + 10,
        "total_lag": 15,
        "lag": 15,
        "timestamp": max(end_of(asked, asked.behind, partition)["timestamp"] for partition in (0, 1)),
    }


def test_telegraf_has_the_group_that_is_not_behind(asked: Asked, gathered: list[Point]) -> None:
    point = one(gathered, "burrow_group", group=asked.level)

    assert point.tags == {"cluster": "test", "group": asked.level}
    assert point.fields == {
        "status": "OK",
        "status_code": STATUS_CODES["OK"],
        "partition_count": 2,
        "offset": 20 + 10,
        "total_lag": 0,
        "lag": 0,
        "timestamp": max(end_of(asked, asked.level, partition)["timestamp"] for partition in (0, 1)),
    }


def test_telegraf_has_the_partition_that_is_behind(asked: Asked, gathered: list[Point]) -> None:
    point = one(gathered, "burrow_partition", group=asked.behind, partition="0")

    assert point.tags == {"cluster": "test", "group": asked.behind, "topic": asked.topic, "partition": "0"}
    assert point.fields == {
        "status": "STOP",
        "status_code": STATUS_CODES["STOP"],
        "lag": 15,
        "offset": 5,
        "timestamp": end_of(asked, asked.behind, 0)["timestamp"],
    }


def test_telegraf_has_the_owner_of_a_partition_as_a_tag(asked: Asked, gathered: list[Point]) -> None:
    point = one(gathered, "burrow_partition", group=asked.level, partition="1")

    expected = {"cluster": "test", "group": asked.level, "topic": asked.topic, "partition": "1"}
    assert point.tags == {**expected, "owner": "/127.0.0.1"}
    assert point.fields == {
        "status": "OK",
        "status_code": STATUS_CODES["OK"],
        "lag": 0,
        "offset": 10,
        "timestamp": end_of(asked, asked.level, 1)["timestamp"],
    }


def test_telegraf_has_the_ends_of_the_topic(asked: Asked, gathered: list[Point]) -> None:
    for partition, end in (("0", 20), ("1", 10)):
        point = one(gathered, "burrow_topic", topic=asked.topic, partition=partition)
        assert point.tags == {"cluster": "test", "topic": asked.topic, "partition": partition}
        assert point.fields == {"offset": end}


def test_telegraf_leaves_out_what_it_was_told_to(asked: Asked, gathered: list[Point]) -> None:
    assert asked.console not in {point.tags.get("group") for point in gathered}
    assert "__consumer_offsets" not in {point.tags["topic"] for point in gathered if point.name == "burrow_topic"}


def test_telegraf_has_nothing_but_the_three_measurements(gathered: list[Point]) -> None:
    assert {point.name for point in gathered} == {"burrow_group", "burrow_partition", "burrow_topic"}


def test_telegraf_has_a_group_with_a_space_in_its_name(asked: Asked, gathered: list[Point]) -> None:
    point = one(gathered, "burrow_group", group=asked.spaced)

    assert point.fields["total_lag"] == 1
