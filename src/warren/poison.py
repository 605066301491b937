"""Tells of records that could not be decoded: not each of them, for one bad client may write thousands."""

from __future__ import annotations

import structlog

from warren.windows.rows import CommitBatch

log = structlog.get_logger()

TOLD_EVERY_MS = 60_000

_told_ms: dict[tuple[str, str, str], int] = {}
_untold: dict[tuple[str, str, str], int] = {}


def tell_poison(cluster: str, consumer: str, batch: CommitBatch, now_ms: int) -> None:
    """At most one line a minute for each kind; it counts those that were not told, and shows one of them."""
    for kind, records in batch.skipped.items():
        key = (cluster, consumer, kind)
        _untold[key] = _untold.get(key, 0) + records
        if 0 <= now_ms - _told_ms.get(key, -TOLD_EVERY_MS) < TOLD_EVERY_MS:
            continue
        example = next((one for one in batch.poison if one.kind == kind), None)
        where = example._asdict() if example else {"kind": kind}
        log.warning(
            "records could not be decoded", cluster=cluster, consumer=consumer, records=_untold.pop(key), **where
        )
        _told_ms[key] = now_ms
