"""What people read about an event: one line, a few lines, or facts with their names. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from warren.model import Status
from warren.notify.events import Event, Turn

SMS_LENGTH = 160
MANY_OWNERS = 5

_UNREADABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_BREAKS = re.compile(r"[\r\n\t\u2028\u2029\x85]+")
_MARKDOWN = re.compile(r"([\\`*_\[\]()~#>|])")
_GSM_SPECIAL = "[]{}~|^\\"
"""Of what is left of ASCII these take two places each in a text message."""
_NOT_GSM = re.compile(r"[^\n -_a-~]")
"""One other character makes a text message of 160 places one of 70."""


class Fact(NamedTuple):
    """Something about an event, and what it is."""

    name: str
    value: str


# -- words -------------------------------------------------------------------------------------------------------


def headline(event: Event) -> str:
    """Which group is how, in one line."""
    return f"Group {one_line(event.group)} of {one_line(event.cluster)} {_is_how(event)}"


def headlines(events: Sequence[Event]) -> str:
    """The same of one event or of several."""
    if len(events) == 1:
        return headline(events[0])
    clusters = sorted({one_line(event.cluster) for event in events})
    each = ", ".join(f"{one_line(event.group)} {_is_how(event)}" for event in events)
    return f"{len(events)} changes in {', '.join(clusters)}: {each}"


def subject(events: Sequence[Event], limit: int) -> str:
    """A headline and the worst of it, at most so long."""
    if len(events) > 1:
        return cut(headlines(events), limit)
    event = events[0]
    behind = f" ({place(event)}, {behind_by(event)})" if event.cause and event.now > Status.OK else ""
    return cut(headline(event) + behind, limit)


def facts(event: Event) -> list[Fact]:
    """Everything that is known and that people want to know, in the order in which they do."""
    found = [Fact("Status", f"{event.now.name} (before: {event.was.name})")]
    if cause := event.cause:
        found += [Fact("Partition", place(event)), Fact("Rule", one_line(cause.rule))]
        found += [Fact("Reason", one_line(cause.reason)), Fact("Behind", behind_by(event))]
        if cause.since_ms is not None:
            found.append(Fact("Since", since(cause.since_ms, event.at_ms)))
    found.append(Fact("Group lag", records(event.total_lag)))
    if event.owners:
        found.append(Fact("Owner", owners(event)))
    if event.opened_ms is not None and event.turn is not Turn.OPENED:
        found.append(Fact("Incident since", since(event.opened_ms, event.at_ms)))
    return found


def paragraph(event: Event) -> str:
    """A headline, facts and a link, line by line."""
    lines = [headline(event), *(f"{fact.name}: {fact.value}" for fact in facts(event))]
    return "\n".join([*lines, *([event.link] if event.link else [])])


def text_message(events: Sequence[Event]) -> str:
    """What fits into one text message."""
    text = _NOT_GSM.sub("?", subject(events, 10 * SMS_LENGTH).replace("…", "...").replace("`", "'"))
    if sms_length(text) <= SMS_LENGTH:
        return text
    while sms_length(text) > SMS_LENGTH - 3:
        text = text[:-1]
    return text + "..."


def sms_length(text: str) -> int:
    """The places that a text takes in a text message."""
    return len(text) + sum(text.count(character) for character in _GSM_SPECIAL)


def severity(event: Event) -> str:
    """How bad it is, in the words that most receivers know."""
    if event.now <= Status.OK:
        return "info"
    return "warning" if event.now == Status.WARN else "critical"


def identity(event: Event, limit: int) -> str:
    """What stays the same for a receiver as long as a group is in trouble.

    Not the id of the incident: when another Warren takes over it has one of its own, and must end what this one began.
    """
    name = f"{event.cluster}/{event.group}"
    shown = one_line(name)
    if shown == name and len(name) <= limit:
        return name
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{shown[: limit - len(mark) - 1]}-{mark}"


def place(event: Event) -> str:
    """The partition that made the group what it is."""
    return f"{one_line(event.cause.topic)}/{event.cause.partition}" if event.cause else ""


def behind_by(event: Event) -> str:
    """How far the partition is behind, in records and, if it is known, in time."""
    if event.cause is None:
        return ""
    seconds = event.cause.lag_seconds
    return records(event.cause.lag_records) + (f", {duration(seconds)}" if seconds is not None else "")


def owners(event: Event) -> str:
    """Who reads the partitions."""
    named = ", ".join(one_line(owner) for owner in event.owners[:MANY_OWNERS])
    more = len(event.owners) - MANY_OWNERS
    return f"{named} and {more} more" if more > 0 else named


def records(count: int) -> str:
    """A number of records."""
    return "1 record" if count == 1 else f"{count:,} records"


def since(start_ms: int, now_ms: int) -> str:
    """A moment, and how long ago it was."""
    return f"{moment(start_ms)} ({duration((now_ms - start_ms) / 1000)})"


def moment(at_ms: int) -> str:
    """A moment, for people."""
    return f"{_utc(at_ms):%Y-%m-%d %H:%M:%S} UTC"


def timestamp(at_ms: int) -> str:
    """A moment, for machines."""
    return _utc(at_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def duration(seconds: float) -> str:
    """The two largest units of a time that has passed."""
    left = max(round(seconds), 0)
    found = []
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            found.append(f"{count} {name}")
    return " ".join(found[:2]) or "0 s"


def _utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _is_how(event: Event) -> str:
    now = event.now.name
    match event.turn:
        case Turn.CLOSED:
            return "is gone" if event.now is Status.NOTFOUND else f"is {now} again (was {event.was.name})"
        case Turn.WORSENED | Turn.IMPROVED:
            return f"is {now} (was {event.was.name})"
        case Turn.REMINDER:
            return f"is still {now}"
    return f"is {now}"


# -- spellings ---------------------------------------------------------------------------------------------------


def readable(text: str) -> str:
    """Text that everybody can encode: bytes that are no UTF-8 and control characters are shown as unknown ones."""
    return _UNREADABLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """A name or reason, in one line."""
    return readable(_LINE_BREAKS.sub(" ", text))


def cut(text: str, limit: int) -> str:
    """Text of at most so many characters, with a sign where some are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def for_slack(text: str) -> str:
    """As Slack wants it in mrkdwn; nothing in a name is then a link, a mention or a channel.

    Signs for bold and the like have no escape there, and are left as they are: people copy names.
    """
    return html.escape(text, quote=False)


def for_telegram(text: str) -> str:
    """As Telegram wants it in HTML."""
    return html.escape(text, quote=False)


def for_card(text: str) -> str:
    """As adaptive cards want it, which read some Markdown."""
    return _MARKDOWN.sub(r"\\\1", text)
