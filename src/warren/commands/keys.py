"""Keys of a terminal, one by one, without waiting for a whole line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from warren.commands.walk import Key

_SEQUENCES = {
    "\x1b[A": Key.UP,
    "\x1b[B": Key.DOWN,
    "\x1b[C": Key.ENTER,
    "\x1b[D": Key.BACK,
    "\x1bOA": Key.UP,
    "\x1bOB": Key.DOWN,
    "\x1bOC": Key.ENTER,
    "\x1bOD": Key.BACK,
    "\x1b[5~": Key.PAGE_UP,
    "\x1b[6~": Key.PAGE_DOWN,
    "\x1b[H": Key.HOME,
    "\x1b[F": Key.END,
    "\x1b[1~": Key.HOME,
    "\x1b[4~": Key.END,
    "\x1b": Key.BACK,
    "\r": Key.ENTER,
    "\n": Key.ENTER,
    "\x7f": Key.ERASE,
    "\b": Key.ERASE,
    "\x06": Key.PAGE_DOWN,
    "\x02": Key.PAGE_UP,
}
READ_BYTES = 1_024


def keys_in(text: str) -> Iterator[str]:
    """What was pressed; sequences that are not known are left out."""
    while text:
        found = max((one for one in _SEQUENCES if text.startswith(one)), key=len, default=text[0])
        if found == "\x1b" and len(text) > 1:  # some other sequence: it ends with a letter or a tilde
            end = next((i for i, letter in enumerate(text[2:], 2) if letter.isalpha() or letter == "~"), len(text) - 1)
            text = text[end + 1 :]
            continue
        yield _SEQUENCES.get(found, found)
        text = text[len(found) :]


class Keyboard:
    """What is pressed in a terminal; where there is none nothing ever is."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def pressed(self, wait_s: float) -> list[str]:
        """The keys of the next moment; none after `wait_s`."""
        if self._descriptor is None:
            select.select([], [], [], wait_s)
            return []
        if not select.select([self._descriptor], [], [], wait_s)[0]:
            return []
        data = os.read(self._descriptor, READ_BYTES)
        return list(keys_in(data.decode("utf-8", "ignore"))) if data else ["q"]


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """The terminal's, which is as it was afterwards."""
    try:
        import termios
        import tty
    except ImportError:  # not a system with such terminals
        yield Keyboard(None)
        return
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keyboard(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
