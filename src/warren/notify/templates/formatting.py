"""printf: a format and its arguments -> text, with Go's complaints where they do not fit. Pure."""

from __future__ import annotations

import re

from warren.notify.templates.printing import NIL, Flags, Printer
from warren.notify.templates.quoting import is_stray_byte
from warren.notify.templates.values import Integer, Value

_MAX_NUMBER = 1_000_000
_FLAGS = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}
_DIGITS = re.compile(r"[0-9]*")
_INDEX = re.compile(r"\[([^\]]*)\]")


def print_format(pattern: bytes, values: list[Value | None]) -> bytes:
    """What printf makes of a format."""
    formatter = _Formatter(pattern.decode("utf-8", "surrogateescape"), values)
    formatter.run()
    return bytes(formatter.printer.out)


class _Formatter:
    def __init__(self, pattern: str, values: list[Value | None]) -> None:
        self.printer = Printer()
        self._pattern = pattern
        self._values = values
        self._at = 0
        self._argument = 0
        self._index_is_good = True
        self._has_indexes = False

    def run(self) -> None:
        while self._at < len(self._pattern):
            percent = self._pattern.find("%", self._at)
            end = percent if percent >= 0 else len(self._pattern)
            self.printer.write(self._pattern[self._at : end].encode("utf-8", "surrogateescape"))
            self._at = end + 1
            if percent >= 0:
                self._directive()
        if not self._has_indexes and self._argument < len(self._values):
            self._extra()

    def _directive(self) -> None:
        self.printer.flags = flags = Flags()
        self._index_is_good = True
        self._read_flags(flags)
        after_index = self._index()
        after_index = self._width(flags, after_index)
        after_index = self._precision(flags, after_index)
        if not after_index:
            self._index()
        if self._at >= len(self._pattern):
            self.printer.write(b"%!(NOVERB)")
            return
        verb = self._pattern[self._at]
        self._at += 1
        self._print("\ufffd" if is_stray_byte(verb) else verb)

    def _print(self, verb: str) -> None:
        if verb == "%":
            self.printer.write(b"%")
        elif not self._index_is_good:
            self._complain(verb, "BADINDEX")
        elif self._argument >= len(self._values):
            self._complain(verb, "MISSING")
        else:
            if verb in "vw":
                self.printer.flags.for_v()
            self._argument += 1
            self.printer.argument(self._values[self._argument - 1], verb)

    def _complain(self, verb: str, what: str) -> None:
        self.printer.write(f"%!{verb}({what})".encode())

    def _read_flags(self, flags: Flags) -> None:
        while self._at < len(self._pattern) and self._pattern[self._at] in _FLAGS:
            setattr(flags, _FLAGS[self._pattern[self._at]], True)
            self._at += 1

    def _index(self) -> bool:
        """Step over the number of an argument in brackets; whether there was a readable one."""
        if not self._pattern.startswith("[", self._at):
            return False
        self._has_indexes = True
        found = _INDEX.match(self._pattern, self._at)
        if not found:
            self._index_is_good = False
            self._at += 1
            return False
        self._at = found.end()
        number = _readable(found[1])
        if number is None or not 1 <= number <= len(self._values):
            self._index_is_good = False
            return number is not None
        self._argument = number - 1
        return True

    def _width(self, flags: Flags, after_index: bool) -> bool:
        if not self._star():
            flags.width = self._number()
            if after_index and flags.width is not None:
                self._index_is_good = False
            return after_index
        flags.width = self._number_argument()
        if flags.width is None:
            self.printer.write(b"%!(BADWIDTH)")
        elif flags.width < 0:
            flags.width, flags.minus, flags.zero = -flags.width, True, False
        return False

    def _precision(self, flags: Flags, after_index: bool) -> bool:
        if self._pattern[self._at : self._at + 1] != "." or self._at + 1 >= len(self._pattern):
            return after_index
        self._at += 1
        if after_index:
            self._index_is_good = False
        after_index = self._index()
        if not self._star():
            flags.precision = self._number() or 0
            return after_index
        flags.precision = self._number_argument()
        if flags.precision is None or flags.precision < 0:
            flags.precision = None
            self.printer.write(b"%!(BADPREC)")
        return False

    def _star(self) -> bool:
        is_star = self._pattern.startswith("*", self._at)
        self._at += is_star
        return is_star

    def _number(self) -> int | None:
        found = _DIGITS.match(self._pattern, self._at)
        assert found is not None  # it fits the empty text, too
        if len(found[0]) > 20 or int(found[0] or 0) // 10 > _MAX_NUMBER:
            self._at = len(self._pattern)  # Go gives up on the format, too
            return None
        self._at = found.end()
        return int(found[0]) if found[0] else None

    def _number_argument(self) -> int | None:
        if self._argument >= len(self._values):
            return None
        value = self._values[self._argument]
        self._argument += 1
        if not isinstance(value, Integer) or abs(value.value) > _MAX_NUMBER:
            return None
        return value.value

    def _extra(self) -> None:
        self.printer.flags = Flags()
        self.printer.write(b"%!(EXTRA ")
        for index, value in enumerate(self._values[self._argument :]):
            self.printer.write(b", " if index else b"")
            if value is None:
                self.printer.write(NIL)
            else:
                self.printer.write(f"{value.type}=".encode())
                self.printer.argument(value, "v")
        self.printer.write(b")")


def _readable(digits: str) -> int | None:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 8 else None
