"""Measurements of one group over a day, as capacity planning takes them from the history."""

from __future__ import annotations

from dataclasses import replace

from warren.capacity.measured import NOTHING, Measured

DAY_S, HOUR_S = 86_400.0, 3_600.0

BUSY = replace(
    Measured.from_row(NOTHING),
    group="billing",
    topic="orders",
    partitions=4,
    read=4,
    members=4,
    owned=4,
    seconds=DAY_S,
    produced=1_000.0 * DAY_S,
    consumed=1_000.0 * DAY_S,
    produce_peak=12_000.0,
    peak_hour=12_000.0,
    window_s=(60.0, HOUR_S, DAY_S),
    window_records=(12_000.0 * 60, 12_000.0 * HOUR_S, 1_000.0 * DAY_S),
    capacity=2_100.0,
    capacity_steps=50,
    highest=2_150.0,
    lag_max=500_000.0,
    lag_max_ms=1_767_225_600_000,
    hot_share=0.25,
    slow_share=0.25,
)
"""1,000 records/s on average, with one hour of 12,000 records/s; four partitions and four members."""
