"""Plots as SVG inside a page: lanes of trouble over time, and lines over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

WIDTH, LEFT, RIGHT = 1_000, 190, 30
LANE_HEIGHT, LANE_GAP, AXIS_HEIGHT = 16, 6, 24
PLOT_HEIGHT = 160
_STEPS_MS = [minutes * 60_000 for minutes in (1, 5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080)]
MOST_TICKS = 8


class Bar(NamedTuple):
    """A time in a lane; its kind is a class of the page's style, and its words tell the same without colour."""

    from_ms: int
    to_ms: int
    kind: str
    words: str


class Lane(NamedTuple):
    """What happened to one thing."""

    name: str
    bars: Sequence[Bar]


class Line(NamedTuple):
    """Values over time; None where there is none."""

    name: str
    at_ms: Sequence[int]
    values: Sequence[float | None]


def lanes(of: Sequence[Lane], from_ms: int, to_ms: int) -> str:
    """Lanes under each other, over one axis."""
    height = len(of) * (LANE_HEIGHT + LANE_GAP) + AXIS_HEIGHT
    scale = _Scale(from_ms, to_ms)
    parts = [part for row, lane in enumerate(of) for part in _lane(lane, row * (LANE_HEIGHT + LANE_GAP), scale)]
    return _svg(height, "times of trouble", [*parts, *_axis(scale, height - AXIS_HEIGHT)])


def _lane(lane: Lane, top: int, scale: _Scale) -> Iterator[str]:
    yield f"<text x='{LEFT - 8}' y='{top + 12}' text-anchor='end'>{escape(_short(lane.name))}</text>"
    yield f"<rect class='lane' x='{LEFT}' y='{top}' width='{scale.width}' height='{LANE_HEIGHT}'/>"
    for bar in lane.bars:
        x, end = scale.x(bar.from_ms), scale.x(bar.to_ms)
        # the worse kind is taller: what it is can be told without colour
        inset = 0 if bar.kind == "ERR" else LANE_HEIGHT // 4
        yield (
            f"<rect class='{escape(bar.kind)}' x='{x:.1f}' y='{top + inset}' width='{max(end - x, 1.5):.1f}' "
            f"height='{LANE_HEIGHT - 2 * inset}'><title>{escape(bar.words)}</title></rect>"
        )


def chart(title: str, say: Callable[[float], str], of: Sequence[Line]) -> str:
    """Lines over time with one scale, whose highest value is said."""
    moments = [at for line in of for at in line.at_ms]
    known = [value for line in of for value in line.values if value is not None]
    if not moments or not known:
        return f"<p class='soft'>{escape(title)}: nothing is known.</p>"
    scale, highest = _Scale(min(moments), max(moments)), max(*known, 0.0, 1e-9)
    top = PLOT_HEIGHT - AXIS_HEIGHT
    parts = [_polyline(line, scale, highest, kind) for line, kind in zip(of, ("", "second", "third"), strict=False)]
    names = ", ".join(
        f"{line.name} ({style})" for line, style in zip(of, ("blue", "orange", "dashed green"), strict=False)
    )
    legend = f"<p class='soft'>{escape(title)}: {escape(names)}</p>"
    label = f"<text x='{LEFT - 8}' y='12' text-anchor='end'>{escape(say(highest))}</text>"
    zero = f"<text x='{LEFT - 8}' y='{top}' text-anchor='end'>0</text>"
    return legend + _svg(PLOT_HEIGHT, title, [label, zero, *parts, *_axis(scale, top)])


def _polyline(line: Line, scale: _Scale, highest: float, kind: str) -> str:
    top = PLOT_HEIGHT - AXIS_HEIGHT
    path, is_drawing = [], False
    for at, value in zip(line.at_ms, line.values, strict=True):
        if value is None:
            is_drawing = False
            continue
        path.append(f"{'L' if is_drawing else 'M'}{scale.x(at):.1f},{4 + (top - 4) * (1 - value / highest):.1f}")
        is_drawing = True
    return f"<path class='line {kind}' d='{' '.join(path)}'><title>{escape(line.name)}</title></path>"


class _Scale(NamedTuple):
    from_ms: int
    to_ms: int

    @property
    def width(self) -> int:
        return WIDTH - LEFT - RIGHT

    def x(self, at_ms: int) -> float:
        share = (at_ms - self.from_ms) / max(self.to_ms - self.from_ms, 1)
        return LEFT + min(max(share, 0.0), 1.0) * self.width


def _axis(scale: _Scale, top: int) -> Iterator[str]:
    span_ms = scale.to_ms - scale.from_ms
    step_ms = next((one for one in _STEPS_MS if span_ms / one <= MOST_TICKS), _STEPS_MS[-1])
    first = -(-scale.from_ms // step_ms) * step_ms
    yield f"<line class='axis' x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{top}' y2='{top}'/>"
    for at in range(first, scale.to_ms + 1, step_ms):
        x, moment = scale.x(at), datetime.fromtimestamp(at / 1000, UTC)
        words = f"{moment:%H:%M}" if step_ms < 86_400_000 and moment.hour + moment.minute else f"{moment:%d %b}"
        yield f"<line class='axis' x1='{x:.1f}' x2='{x:.1f}' y1='{top}' y2='{top + 5}'/>"
        yield f"<text x='{x:.1f}' y='{top + 18}' text-anchor='middle'>{words}</text>"


def _svg(height: int, what: str, parts: Sequence[str]) -> str:
    inside = "".join(parts)
    return f"<svg viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{escape(what)}'>{inside}</svg>"


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:13]}…{name[-13:]}"
