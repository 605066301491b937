"""The templates that come with Warren work for every group, whatever it is called."""

from __future__ import annotations

import json

import pytest

from warren.notify.templates import SHIPPED, check_template, load_template, notification_data, sample_data
from warren.notify.templates.samples import in_trouble
from warren.notify.templates.times import named_zone
from warren.notify.templates.values import Struct

NAMES = sorted(path.name for path in SHIPPED.glob("*.tmpl"))
AWKWARD = 'a "quoted" \\ name\nwith <lines> & é \u2028'


def awkward_group() -> Struct:
    status = in_trouble() | {"group": AWKWARD}
    return notification_data("local", AWKWARD, "id", 1_767_323_045_678, {}, status, zone=named_zone("UTC"))


def test_there_is_a_template_for_each_kind_of_message() -> None:
    assert NAMES == ["email-close.tmpl", "email-open.tmpl", "http-close.tmpl", "http-open.tmpl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_template_passes_the_check_without_warnings(name: str) -> None:
    assert check_template(load_template(SHIPPED / name), sample_data({})) == ()


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("http")])
@pytest.mark.parametrize("data", [*sample_data({}), awkward_group()])
def test_a_body_is_json(name: str, data: Struct) -> None:
    json.loads(load_template(SHIPPED / name).render(data))


def test_names_arrive_in_a_body_as_they_are() -> None:
    body = json.loads(load_template(SHIPPED / "http-open.tmpl").render(awkward_group()))
    assert body["group"] == AWKWARD
    assert body["text"] == f"{AWKWARD} on local is ERR: 600 unread records, 4 of 5 partitions in trouble"


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("email")])
@pytest.mark.parametrize("data", sample_data({}))
def test_a_mail_begins_with_its_subject_and_an_empty_line(name: str, data: Struct) -> None:
    subject, blank, *body = load_template(SHIPPED / name).render(data).split("\n")
    assert subject.startswith("Subject: [")
    assert blank == ""
    assert body[0].startswith("The consumer group orders on local is ")


def test_a_mail_tells_of_every_partition_in_trouble() -> None:
    mail = load_template(SHIPPED / "email-open.tmpl", named_zone("UTC")).render(awkward_group())
    assert (
        "  orders, partition 1: STOP, 100 unread, read by host, last commit 2026-01-02 03:04:05 UTC at offset 1000\n"
    ) in mail
    assert "it is in trouble since 2026-01-02 03:04:05 UTC.\n" in mail
