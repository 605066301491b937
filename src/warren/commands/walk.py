"""A list of groups that one walks through with keys: what each key does. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

Answer = dict[str, Any]


class Key(StrEnum):
    """Keys that are no letters."""

    UP = "up"
    DOWN = "down"
    PAGE_UP = "page up"
    PAGE_DOWN = "page down"
    HOME = "home"
    END = "end"
    ENTER = "enter"
    BACK = "back"
    ERASE = "erase"


SAME = {"k": Key.UP, "j": Key.DOWN, "g": Key.HOME, "G": Key.END, "l": Key.ENTER, "h": Key.BACK}
"""Letters for those who are used to them."""

SORTS = ("severity", "lag", "name")
_ORDER = {"ERR": 0, "WARN": 1, "OK": 2}


@dataclass(frozen=True)
class Walk:
    """Where one is. The chosen group stays the chosen one, wherever the list moves it."""

    rows: tuple[Answer, ...] = ()
    chosen: tuple[str, str] | None = None
    """Cluster and group."""
    room: int = 20
    """So many rows fit on the screen."""
    sort: str = SORTS[0]
    only_trouble: bool = False
    filter: str = ""
    is_typing: bool = False
    is_open: bool = False
    """Whether the chosen group is shown, not the list."""
    scroll: int = 0
    """Lines of the group that are above the screen."""
    is_over: bool = field(default=False)

    @property
    def shown(self) -> list[Answer]:
        """The rows that fit the filter, sorted."""
        found = [one for one in self.rows if self.filter.lower() in one["group"].lower()]
        if self.only_trouble:
            found = [one for one in found if one["status"] in ("WARN", "ERR")]
        return sorted(found, key=lambda one: _sort_key(one, self.sort))

    @property
    def place(self) -> int:
        """Of the chosen row among the shown; 0 if it is not among them."""
        names = [_name(one) for one in self.shown]
        return names.index(self.chosen) if self.chosen in names else 0

    @property
    def page(self) -> list[Answer]:
        """The rows on the screen: a part of the shown with the chosen one in it."""
        first = max(0, min(self.place - self.room // 2, len(self.shown) - self.room))
        return self.shown[first : first + self.room]

    @property
    def group(self) -> Answer | None:
        """The chosen row; None if nothing is shown."""
        shown = self.shown
        return shown[self.place] if shown else None

    @property
    def opened(self) -> tuple[str, str] | None:
        """Cluster and group of the one that is shown; None if it is the list."""
        return self.chosen if self.is_open else None

    def after(self, key: str) -> Walk:
        """Where one is after a key."""
        if self.is_typing:
            return self._typed(key)
        key = SAME.get(key, key)
        if key == "q":
            return replace(self, is_over=True)
        if self.is_open:
            return self._in_group(key)
        match key:
            case "/":
                return replace(self, is_typing=True)
            case "s":
                return replace(self, sort=SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)])
            case "e":
                return replace(self, only_trouble=not self.only_trouble)
            case Key.ENTER if self.group is not None:
                return replace(self, is_open=True, scroll=0, chosen=_name(self.group))
            case Key.BACK:
                return replace(self, filter="")
        return self._moved(key)

    def _typed(self, key: str) -> Walk:
        match key:
            case Key.ENTER:
                return replace(self, is_typing=False)
            case Key.BACK:
                return replace(self, is_typing=False, filter="")
            case Key.ERASE:
                return replace(self, filter=self.filter[:-1])
        return replace(self, filter=self.filter + key) if len(key) == 1 and key.isprintable() else self

    def _in_group(self, key: str) -> Walk:
        if key in (Key.BACK, Key.ERASE):
            return replace(self, is_open=False)
        return replace(self, scroll=max(self.scroll + self._steps(key), 0))

    def _moved(self, key: str) -> Walk:
        shown = self.shown
        if not shown:
            return self
        place = min(max(self.place + self._steps(key), 0), len(shown) - 1)
        return replace(self, chosen=_name(shown[place]))

    def _steps(self, key: str) -> int:
        far = 1 << 30
        steps = {Key.UP: -1, Key.DOWN: 1, Key.PAGE_UP: -self.room, Key.PAGE_DOWN: self.room}
        return {**steps, Key.HOME: -far, Key.END: far}.get(key, 0)  # type: ignore[call-overload,no-any-return]


def _name(one: Answer) -> tuple[str, str]:
    return one["cluster"], one["group"]


def _sort_key(one: Answer, by: str) -> tuple[Any, ...]:
    lag, name = -(one["total_lag"] or 0), _name(one)
    if by == "name":
        return (one["group"], one["cluster"])
    return (lag, name) if by == "lag" else (_ORDER.get(one["status"], 3), lag, name)
