"""Golden files of the messages of every receiver; `python -m tests.support.receivers.golden` rewrites them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.support.receivers.samples import AT_MS, CASES, MAKERS
from warren.notify.events import Event
from warren.notify.receivers.kafka import Kafka, KafkaSettings
from warren.webclient.client import DEFAULTS

HERE = Path(__file__).parents[2] / "golden" / "receivers"
FORM = "application/x-www-form-urlencoded"


def path_of(receiver: str, case: str) -> Path:
    return HERE / f"{receiver}-{case}.txt"


def _cases_of(receiver: str, most_events: int) -> list[str]:
    wild = ("wild",) if receiver == "http" else ()  # what a template makes of it is not ours
    return [name for name, events in CASES.items() if len(events) <= most_events and name not in wild]


def written(receiver: str, events: Sequence[Event]) -> str:
    """Return a message as its golden file holds it."""
    if receiver == "kafka":
        records = Kafka(KafkaSettings("alerts", {})).build(events, now_ms=AT_MS)
        return "".join(f"{one.key!r} {one.event_key}\n{_pretty(one.value)}" for one in records)
    request = MAKERS[receiver]("https://receiver.example", DEFAULTS).build(events, now_ms=AT_MS)
    if request is None:
        return "nothing\n"
    head = [f"{request.method} {request.url}", f"Content-Type: {request.content_type}"]
    head += [f"{name}: {value}" for name, value in request.headers]
    body = request.body.decode() + "\n" if request.content_type == FORM else _pretty(request.body)
    return "\n".join([*head, "", body])


def all_cases() -> list[tuple[str, str]]:
    makers = {name: make("https://receiver.example", DEFAULTS).most_events for name, make in MAKERS.items()}
    most_events = {**makers, "kafka": Kafka.most_events}
    return [(name, case) for name, most in most_events.items() for case in _cases_of(name, most)]


def _pretty(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), indent=1, ensure_ascii=False) + "\n"
    except ValueError:  # a template of Burrow's writes what it wants
        return body.decode() + "\n"


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, case in all_cases():
        path, text = path_of(name, case), written(name, CASES[case])
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"{path.name} is different")
