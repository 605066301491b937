"""What templates see of a group is what the answers of v3 say of it."""

from __future__ import annotations

import json
from pathlib import Path

from warren.notify.templates import helper_functions, notification_data, parse_template
from warren.notify.templates.times import named_zone

ANSWERS = Path(__file__).parents[1] / "golden" / "v3"
ZONE = named_zone("Europe/Berlin")
ENCODE = parse_template("{{jsonencoder .Result}}", "t", helper_functions(ZONE))


def answers_about_groups() -> list[str]:
    lines = [line for path in sorted(ANSWERS.glob("*.txt")) for line in path.read_text().splitlines()]
    answers = [line for line in lines if line.startswith("{") and '"totallag"' in line]
    return [answer for answer in answers if "\\ufffd" not in answer]  # there bytes were lost on the way


def test_a_status_is_encoded_to_the_bytes_it_came_from() -> None:
    answers = answers_about_groups()
    assert answers
    for answer in answers:
        data = notification_data("local", "g", "", None, {}, json.loads(answer)["status"], zone=ZONE)
        assert f'"status":{ENCODE.render(data)},"request"' in answer


def test_the_worst_partition_is_the_same_one_as_in_the_list() -> None:
    offset = {"offset": 1, "timestamp": 2, "observedAt": 3, "lag": 4}
    worst = {
        "topic": "t", "partition": 0, "owner": "", "client_id": "", "status": "STOP", "start": offset, "end": offset,
        "current_lag": 4, "complete": 1,
    }  # fmt: skip
    status = {
        "cluster": "c", "group": "g", "status": "ERR", "complete": 1, "partitions": [worst | {"partition": 1}, worst],
        "partition_count": 2, "maxlag": worst, "totallag": 4,
    }  # fmt: skip
    compare = parse_template("{{range .Result.Partitions}}{{eq . $.Result.Maxlag}} {{end}}", "t")
    assert compare.render(notification_data("c", "g", "", None, {}, status)) == "false true "


def test_an_incident_that_there_is_not_started_at_the_zero_time() -> None:
    status = json.loads(answers_about_groups()[0])["status"]
    data = notification_data("c", "g", "", None, {}, status, zone=ZONE)
    assert parse_template("{{.Start}}", "t").render(data) == "0001-01-01 00:00:00 +0000 UTC"


def test_the_start_of_an_incident_is_told_in_the_local_zone() -> None:
    status = json.loads(answers_about_groups()[0])["status"]
    data = notification_data("c", "g", "", 1_751_328_000_007, {}, status, zone=ZONE)
    assert parse_template("{{.Start}}", "t").render(data) == "2025-07-01 02:00:00.007 +0200 CEST"
