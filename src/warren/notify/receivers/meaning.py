"""What the answer of a web server means for a message; the only place where this is decided."""

from __future__ import annotations

import http.client
from datetime import UTC, datetime

from warren.notify.receivers.contract import DELIVERED, Outcome, permanent, retry
from warren.webclient.client import Answer, retry_after_s
from warren.webclient.hiding import Hider

MAX_TOLD = 200
_TRY_AGAIN = (408, 425, 429)


def meaning(answer: Answer, hider: Hider, now: datetime | None = None) -> Outcome:
    """What an answer means for a message."""
    if 200 <= answer.status < 300:
        return DELIVERED
    reason = _reason(answer, hider)
    if answer.status in _TRY_AGAIN or answer.status >= 500:
        return retry(reason, retry_after_s(answer.headers.get("retry-after", ""), now or datetime.now(UTC)))
    return permanent(reason)


def _reason(answer: Answer, hider: Hider) -> str:
    phrase = http.client.responses.get(answer.status, "")
    said = hider.hide(" ".join(answer.body.decode("utf-8", "replace").split()))
    said = said if len(said) <= MAX_TOLD else said[:MAX_TOLD] + "…"
    return f"answered {answer.status} {phrase}".rstrip() + (f": {said}" if said else "")
