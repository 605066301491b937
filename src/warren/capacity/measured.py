"""What is measured of one group and one topic: the columns of Spark's answer, and the same as an object. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_WHOLE, _REAL, _REALS, _WHOLES = pa.int64(), pa.float64(), pa.list_(pa.float64()), pa.list_(pa.int64())

MEASURED = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partitions", _WHOLE),
        ("read", _WHOLE),
        ("members", _WHOLE),
        ("owned", _WHOLE),
        ("seconds", _REAL),
        ("produced", _REAL),
        ("consumed", _REAL),
        ("produce_p95", _REAL),
        ("produce_peak", _REAL),
        ("produce_peak_ms", _WHOLE),
        ("peak_hour", _REAL),
        ("peak_hour_ms", _WHOLE),
        ("consume_peak", _REAL),
        ("window_s", _REALS),
        ("window_records", _REALS),
        ("day_peaks", _REALS),
        ("capacity", _REAL),
        ("capacity_steps", _WHOLE),
        ("highest", _REAL),
        ("lag_last", _REAL),
        ("lag_max", _REAL),
        ("lag_max_ms", _WHOLE),
        ("lag_s_max", _REAL),
        ("lag_s_is_least", pa.bool_()),
        ("kept_s", _REAL),
        ("lost", _REAL),
        ("rewinds", _WHOLE),
        ("hot_partition", _WHOLE),
        ("hot_share", _REAL),
        ("slow_partition", _WHOLE),
        ("slow_share", _REAL),
        ("lag_mean", _REAL),
        ("series_ms", _WHOLES),
        ("series_produced", _REALS),
        ("series_consumed", _REALS),
        ("series_lag", _REALS),
    ]
)
SERIES = tuple(name for name in MEASURED.names if name.startswith("series_"))
"""Columns for plots only: many numbers."""

_UNKNOWN = ("members", "peak_hour", "peak_hour_ms", "capacity", "kept_s")
_ZERO: dict[pa.DataType, Any] = {_WHOLE: 0, _REAL: 0.0, _REALS: [], _WHOLES: [], pa.bool_(): False, pa.string(): ""}
NOTHING = {field.name: None if field.name in _UNKNOWN else _ZERO[field.type] for field in MEASURED}
"""Of a topic whose ends are not known."""


@dataclass(frozen=True)
class Measured:
    """One group and topic over a time; rates are records a second, of the partitions that the group has read."""

    group: str
    topic: str
    partitions: int
    """Of the topic, at the end."""
    read: int
    """That the group has committed to."""
    members: int | None
    """At the last time when there were some; None if nobody told."""
    owned: int
    """Partitions of all topics that the members owned then."""
    seconds: float
    produced: float
    consumed: float
    produce_p95: float
    produce_peak: float
    """In the busiest step."""
    produce_peak_ms: int
    peak_hour: float | None
    """None if the time is shorter than an hour."""
    peak_hour_ms: int | None
    consume_peak: float
    window_s: tuple[float, ...]
    window_records: tuple[float, ...]
    """The most that came within any window of that length."""
    day_peaks: tuple[float | None, ...]
    """The peak hour of each whole day, counted back from the end; the oldest first. None where a hole may hide it."""
    capacity: float | None
    """Of one consumer while it had a backlog; None if there was none."""
    capacity_steps: int
    """How many steps of single consumers that was seen in."""
    highest: float
    """The most that one consumer did for five minutes, with a backlog or without."""
    lag_last: float
    lag_max: float
    lag_max_ms: int
    lag_s_max: float
    lag_s_is_least: bool
    """What it waited for is older than the history, so the lag was even longer."""
    kept_s: float | None
    """How old records are at least when the log lets them go; None if that was not seen."""
    lost: float
    """Records that the log let go before the group had read them."""
    rewinds: int
    hot_partition: int
    hot_share: float
    slow_partition: int
    slow_share: float
    lag_mean: float

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Measured:
        """From a row of Spark's answer, with or without the series."""
        values: dict[str, Any] = {name: value for name, value in row.items() if name not in SERIES}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**(values | lists))

    @property
    def produce_mean(self) -> float:
        """Over the whole time."""
        return self.produced / self.seconds if self.seconds else 0.0

    @property
    def consume_mean(self) -> float:
        """Over the whole time."""
        return self.consumed / self.seconds if self.seconds else 0.0
