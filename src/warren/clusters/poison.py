"""Tells of records that could not be decoded: not each of them, for one bad client may write thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import structlog

from warren.windows.rows import Poison

log = structlog.get_logger()

TOLD_EVERY_MS = 60_000


class PoisonLog:
    """At most one line a minute for each kind; it counts those that were not told, and shows one of them."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._told_ms: dict[tuple[str, str], int] = {}
        self._untold: Counter[tuple[str, str]] = Counter()

    def tell(self, consumer: str, skipped: Mapping[str, int], poison: Sequence[Poison], *, now_ms: int) -> None:
        """Tell of what a consumer module has met in a batch: how many of each kind, and some of them."""
        for kind, records in skipped.items():
            key = (consumer, kind)
            self._untold[key] += records
            if 0 <= now_ms - self._told_ms.get(key, -TOLD_EVERY_MS) < TOLD_EVERY_MS:
                continue
            example = next((one for one in poison if one.kind == kind), None)
            where = example._asdict() if example else {"kind": kind}
            untold = self._untold.pop(key)
            log.warning(
                "records could not be decoded", cluster=self._cluster, consumer=consumer, records=untold, **where
            )
            self._told_ms[key] = now_ms
