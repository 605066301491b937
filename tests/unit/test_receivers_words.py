"""What people read."""

from __future__ import annotations

import pytest

from tests.support.receivers.samples import AT_MS, CLOSED, LONG, OPENED, OTHER, REMINDER, REPORT, WILD, WORSENED
from warren.model import Status
from warren.notify import words
from warren.notify.events import Event


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (OPENED, "Group payments_v2 of prod is ERR"),
        (WORSENED, "Group payments_v2 of prod is ERR (was WARN)"),
        (REMINDER, "Group payments_v2 of prod is still ERR"),
        (CLOSED, "Group payments_v2 of prod is OK again (was ERR)"),
        (CLOSED._replace(now=Status.NOTFOUND, cause=None), "Group payments_v2 of prod is gone"),
        (REPORT, "Group payments_v2 of prod is OK"),
    ],
)
def test_a_headline_says_which_group_is_how(event: Event, text: str) -> None:
    assert words.headline(event) == text


def test_what_a_receiver_knows_a_group_by_outlives_the_warren_that_told_it() -> None:
    of_another = OPENED._replace(incident="0f3a", key="0f3a-1")

    assert words.identity(OPENED, 255) == words.identity(of_another, 255) == "prod/payments_v2"


@pytest.mark.parametrize(("one", "another"), [("a" * 300, "a" * 301), ("\udcff", "\udcfe"), ("a\nb", "a b")])
def test_groups_that_look_alike_are_not_taken_for_each_other(one: str, another: str) -> None:
    found = {words.identity(OPENED._replace(group=name), 255) for name in (one, another)}

    assert len(found) == 2
    assert max(map(len, found)) <= 255


def test_a_subject_says_where_and_how_far_behind() -> None:
    assert words.subject([OPENED], 200) == "Group payments_v2 of prod is ERR (orders/3, 1,204 records, 12 min 15 s)"


def test_several_events_have_one_subject() -> None:
    assert words.subject([OPENED, OTHER], 200) == "2 changes in prod: payments_v2 is ERR, audit is WARN"


def test_a_paragraph_has_everything() -> None:
    assert words.paragraph(WORSENED) == (
        "Group payments_v2 of prod is ERR (was WARN)\n"
        "Status: ERR (before: WARN)\n"
        "Partition: orders/3\n"
        "Rule: stopped\n"
        "Reason: no commit for 12 min while 1,204 records wait\n"
        "Behind: 1,204 records, 12 min 15 s\n"
        "Since: 2026-11-16 09:20:00 UTC (12 min)\n"
        "Group lag: 5,000 records\n"
        "Owner: 10.0.0.7\n"
        "Incident since: 2026-11-16 09:31:00 UTC (1 min)\n"
        "https://warren.example/groups/prod/payments_v2"
    )


def test_a_group_that_is_gone_has_no_partition() -> None:
    names = [fact.name for fact in words.facts(CLOSED._replace(cause=None, owners=[]))]

    assert names == ["Status", "Group lag", "Incident since"]


def test_many_owners_are_counted() -> None:
    assert words.owners(OPENED._replace(owners=list("abcdefgh"))) == "a, b, c, d, e and 3 more"


def test_a_name_never_breaks_a_line() -> None:
    assert "\n" not in words.headline(WILD)
    assert len(words.paragraph(WILD).split("\n")) == len(words.paragraph(OPENED).split("\n"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.4, "0 s"), (59, "59 s"), (60, "1 min"), (735, "12 min 15 s"), (90_061, "1 d 1 h"), (-3, "0 s")],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_one_record_is_not_many() -> None:
    assert (words.records(0), words.records(1), words.records(2000)) == ("0 records", "1 record", "2,000 records")


@pytest.mark.parametrize("events", [[OPENED], [WILD], [LONG], [OPENED, OTHER, WILD], [LONG] * 20])
def test_a_text_message_is_one(events: list[Event]) -> None:
    text = words.text_message(events)

    assert words.sms_length(text) <= 160
    assert text.isascii()
    assert "`" not in text


def test_a_text_message_that_is_too_long_ends_with_dots() -> None:
    text = words.text_message([LONG])

    assert text.endswith("...")
    assert len(text) == 160


def test_signs_that_take_two_places_are_counted_twice() -> None:
    assert words.sms_length("[a]") == 5


@pytest.mark.parametrize(("event", "word"), [(OPENED, "critical"), (OTHER, "warning"), (CLOSED, "info")])
def test_severity(event: Event, word: str) -> None:
    assert words.severity(event) == word


def test_nothing_in_a_name_is_a_mention_in_slack() -> None:
    assert words.for_slack("<!channel> & <@U1>") == "&lt;!channel&gt; &amp; &lt;@U1&gt;"


def test_nothing_in_a_name_is_html_in_telegram() -> None:
    assert words.for_telegram('<a href="x">&') == '&lt;a href="x"&gt;&amp;'


def test_nothing_in_a_name_is_markdown_in_a_card() -> None:
    assert words.for_card("*a* [b](c) _d_ \\") == r"\*a\* \[b\]\(c\) \_d\_ \\"


def test_times_are_for_people_and_for_machines() -> None:
    assert words.moment(AT_MS) == "2026-11-16 09:32:00 UTC"
    assert words.timestamp(AT_MS + 7) == "2026-11-16T09:32:00.007Z"


def test_what_cannot_be_encoded_is_shown_as_unknown() -> None:
    assert words.readable("a\udcff\x00b") == "a\ufffd\ufffdb"
