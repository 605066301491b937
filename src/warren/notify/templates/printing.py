"""Values as text by a verb with flags, as Go's fmt writes them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from warren.notify.templates import floats, layouts, methods, quoting
from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.times import UTC_ZONE, ZERO_S, clock
from warren.notify.templates.values import (
    INT64,
    UINT64,
    GoType,
    Integer,
    Kind,
    List,
    Moment,
    Pointer,
    Real,
    Struct,
    Table,
    Text,
    Truth,
    Value,
)

MAX_OUTPUT_BYTES = 16_000_000
NIL = b"<nil>"
_SOME_ADDRESS = 0xC000008000
"""Of what has no address here; in Go it is another one each time."""
_LOCATION = GoType("*time.Location", Kind.POINTER)
_BASES = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES = {"b": "0b", "x": "0x", "X": "0X"}


@dataclass(slots=True)
class Flags:
    """What stands between % and the verb."""

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    width: int | None = None
    precision: int | None = None
    names: bool = False  # %+v: fields with their names
    go_syntax: bool = False  # %#v

    def for_v(self) -> None:
        """With the verb v two flags mean something else."""
        self.go_syntax, self.sharp = self.sharp, False
        self.names, self.plus = self.plus, False


def print_all(values: list[Value | None]) -> bytes:
    """Values one after the other, with a space between two of which none is a string."""
    printer = Printer()
    for index, value in enumerate(values):
        if index and not isinstance(value, Text) and not isinstance(values[index - 1], Text):
            printer.write(b" ")
        printer.argument(value, "v")
    return bytes(printer.out)


def print_line(values: list[Value | None]) -> bytes:
    """Values with spaces between them and a line's end after them."""
    printer = Printer()
    for index, value in enumerate(values):
        printer.write(b" " if index else b"")
        printer.argument(value, "v")
    printer.write(b"\n")
    return bytes(printer.out)


class Printer:
    """Writes values into `out` with the present flags."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.flags = Flags()
        self._telling_of_wrong_verb = False

    def write(self, content: bytes) -> None:
        """Write as it is."""
        self.out += content
        if len(self.out) > MAX_OUTPUT_BYTES:
            raise Failure(Problem.LIMIT, f"the text becomes longer than {MAX_OUTPUT_BYTES:,} bytes")

    def pad(self, content: bytes, *, zeros: bool = True) -> None:
        """Write in the width that is wanted; width counts characters."""
        missing = (self.flags.width or 0) - len(quoting.characters(content))
        if missing <= 0:
            self.write(content)
        elif self.flags.minus:
            self.write(content + b" " * missing)
        else:
            self.write((b"0" if self.flags.zero and zeros else b" ") * missing + content)

    def argument(self, value: Value | None, verb: str) -> None:
        """Write an argument."""
        if value is None:
            if verb in "Tv":
                self.pad(NIL)
            else:
                self.wrong_verb(None, verb)
        elif verb == "T":
            self._text(value.type.name.encode(), "s")
        elif verb == "p":
            self._address(value, verb)
        else:
            self._value(value, verb, 0)

    def wrong_verb(self, value: Value | None, verb: str) -> None:
        """Say that a verb does not fit, and write the value as it is underneath."""
        self.write(f"%!{verb}(".encode())
        if value is None:
            self.write(NIL)
        else:
            self._telling_of_wrong_verb = True
            self.write(f"{value.type}=".encode())
            self._value(value, "v", 0)
            self._telling_of_wrong_verb = False
        self.write(b")")

    def _value(self, value: Value, verb: str, depth: int) -> None:
        if verb == "w":
            self.wrong_verb(value, verb)
        elif not self._by_method(value, verb):
            self._by_kind(value, verb, depth)

    def _by_method(self, value: Value, verb: str) -> bool:
        """Let the value say itself how it is called, if it can."""
        if self._telling_of_wrong_verb:
            return False
        if self.flags.go_syntax:
            if isinstance(value, Moment):
                self._text(_go_time(value), "s")
            return isinstance(value, Moment)
        said = methods.string_of(value) if verb in "vsxXq" else None
        if said is not None:
            self._text(said, verb)
        return said is not None

    def _by_kind(self, value: Value, verb: str, depth: int) -> None:
        match value:
            case Truth():
                self._truth(value, verb)
            case Integer():
                self._integer(value, verb)
            case Real():
                self._real(value, verb)
            case Text():
                if not self._text(value.value, verb):
                    self.wrong_verb(value, verb)
            case Struct():
                self._struct(value, verb, depth)
            case Table():
                self._table(value, verb, depth)
            case List():
                self._list(value, verb, depth)
            case Pointer():
                self._pointer(value, verb, depth)
            case Moment():
                self._inside_of_time(value, verb, depth)

    # -- numbers and strings -------------------------------------------------------------------------------------------

    def _truth(self, value: Truth, verb: str) -> None:
        if verb in "tv":
            self.pad(b"true" if value.value else b"false")
        else:
            self.wrong_verb(value, verb)

    def _integer(self, value: Integer, verb: str) -> None:
        number = value.value
        if verb == "v" and self.flags.go_syntax and value.type.kind is Kind.UINT:
            self._in_base(number, "x", sharp=True)
        elif verb in _BASES:
            self._in_base(number, verb, sharp=self.flags.sharp)
        elif verb == "c":
            self.pad(quoting.encoded(number))
        elif verb == "q":
            self.pad(quoting.quoted_character(number, ascii_only=self.flags.plus))
        elif verb == "U":
            self.pad(self._unicode(number & (2**64 - 1)), zeros=False)
        else:
            self.wrong_verb(value, verb)

    def _in_base(self, number: int, verb: str, *, sharp: bool) -> None:
        flags = self.flags
        if flags.precision == 0 and number == 0:
            self.write(b" " * (flags.width or 0))
            return
        sign = "-" if number < 0 else "+" if flags.plus else " " if flags.space else ""
        least = flags.precision or 0
        if flags.precision is None and flags.zero and not flags.minus and flags.width is not None:
            least = flags.width - len(sign)
        digits = format(abs(number), _BASES[verb]).rjust(least, "0")
        self.pad(f"{sign}{self._prefix(digits, verb, sharp)}{digits}".encode(), zeros=False)

    @staticmethod
    def _prefix(digits: str, verb: str, sharp: bool) -> str:
        if verb == "O":
            return "0o0" if sharp and not digits.startswith("0") else "0o"
        if not sharp:
            return ""
        if verb == "o":
            return "" if digits.startswith("0") else "0"
        return _PREFIXES.get(verb, "")

    def _unicode(self, number: int) -> bytes:
        code = f"U+{number:0{max(self.flags.precision or 0, 4)}X}"
        if self.flags.sharp and number <= 0x10FFFF and chr(number).isprintable():
            code += f" '{chr(number)}'"
        return code.encode()

    def _real(self, value: Real, verb: str) -> None:
        if verb not in "vbgGxXfFeE":
            self.wrong_verb(value, verb)
            return
        flags, verb = self.flags, {"v": "g", "F": "f"}.get(verb, verb)
        precision = flags.precision if flags.precision is not None else 6 if verb in "feE" else None
        found = floats.written(value.value, value.type.bits, verb, precision)
        sign, number = (found[0], found[1:]) if found[0] in "+-" else ("+", found)
        is_finite = number not in ("Inf", "NaN")
        if is_finite and flags.sharp and verb != "b":
            number = _with_point(number, verb, precision)
        self._signed(self._shown_sign(sign, number), number, zeros=is_finite)

    def _shown_sign(self, sign: str, number: str) -> str:
        if sign == "-" or self.flags.plus:
            return sign
        if self.flags.space:
            return " "
        return "+" if number == "Inf" else ""

    def _signed(self, sign: str, number: str, *, zeros: bool) -> None:
        width = self.flags.width or 0
        if sign and zeros and self.flags.zero and not self.flags.minus:
            number = number.rjust(width - 1, "0")
        self.pad((sign + number).encode(), zeros=zeros)

    def _text(self, content: bytes, verb: str) -> bool:
        """Write a string; False if the verb does not fit."""
        if verb not in "vsxXq":
            return False
        if verb in "xX":
            self._hexadecimal(content, verb)
            return True
        if self.flags.precision is not None:
            cut = quoting.characters(content)[: self.flags.precision]
            content = cut.encode("utf-8", "surrogateescape")
        if verb == "q" or (verb == "v" and self.flags.go_syntax):
            content = self._quoted(content)
        self.pad(content)
        return True

    def _quoted(self, content: bytes) -> bytes:
        if self.flags.sharp and quoting.can_be_raw(content):
            return b"`" + content + b"`"
        return quoting.quoted(content, ascii_only=self.flags.plus)

    def _hexadecimal(self, content: bytes, verb: str) -> None:
        """Two digits for each byte; precision counts bytes."""
        if self.flags.precision is not None:
            content = content[: self.flags.precision]
        digits = [f"{byte:02{verb}}" for byte in content]
        prefix = f"0{verb}" if self.flags.sharp else ""
        if self.flags.space:
            shown = " ".join(prefix + pair for pair in digits)
        else:
            shown = (prefix if digits else "") + "".join(digits)
        self.pad(shown.encode())

    # -- values made of values -----------------------------------------------------------------------------------------

    def _struct(self, value: Struct, verb: str, depth: int) -> None:
        syntax = self.flags.go_syntax
        self.write(f"{value.type}{{".encode() if syntax else b"{")
        for index, (field, one) in enumerate(zip(value.type.fields, value.values, strict=True)):
            self._separate(index)
            if syntax or self.flags.names:
                self.write(f"{field.name}:".encode())
            self._value(one, verb, depth + 1)
        self.write(b"}")

    def _separate(self, index: int) -> None:
        if index:
            self.write(b", " if self.flags.go_syntax else b" ")

    def _table(self, value: Table, verb: str, depth: int) -> None:
        syntax = self.flags.go_syntax
        self.write(f"{value.type}{{".encode() if syntax else b"map[")
        for index, (key, one) in enumerate(value.ordered()):
            self._separate(index)
            self._value(Text(key), verb, depth + 1)
            self.write(b":")
            self._value(one, verb, depth + 1)
        self.write(b"}" if syntax else b"]")

    def _list(self, value: List, verb: str, depth: int) -> None:
        syntax = self.flags.go_syntax
        self.write(f"{value.type}{{".encode() if syntax else b"[")
        for index, one in enumerate(value.items):
            self._separate(index)
            self._value(one, verb, depth + 1)
        self.write(b"}" if syntax else b"]")

    def _pointer(self, value: Pointer, verb: str, depth: int) -> None:
        """What is pointed to if the pointer itself is printed, else the address."""
        if depth == 0 and value.target is not None:
            self.write(b"&")
            self._value(value.target, verb, depth + 1)
        else:
            self._address(value, verb)

    def _address(self, value: Value, verb: str) -> None:
        if isinstance(value, Table | List):
            self._in_base(_SOME_ADDRESS, "x", sharp=not self.flags.sharp)
        elif not isinstance(value, Pointer):
            self.wrong_verb(value, verb)
        elif verb == "v" and self.flags.go_syntax:
            inside = f"0x{value.address:x}" if value.address else "nil"
            self.write(f"({value.type})({inside})".encode())
        elif verb == "v" and not value.address:
            self.pad(NIL)
        elif verb in "vp":
            self._in_base(value.address, "x", sharp=not self.flags.sharp)
        elif verb in "bodxX":
            self._in_base(value.address, verb, sharp=self.flags.sharp)
        else:
            self.wrong_verb(value, verb)

    def _inside_of_time(self, value: Moment, verb: str, depth: int) -> None:
        """A time for verbs that its method String does not know: the numbers it is made of in Go."""
        zone = Pointer(None, _LOCATION, 0 if value.zone is UTC_ZONE else _SOME_ADDRESS)
        inside: tuple[Value, ...] = (Integer(value.nanos, UINT64), Integer(value.seconds - ZERO_S, INT64), zone)
        self.write(b"{")
        for index, one in enumerate(inside):
            self._separate(index)
            self._value(one, verb, depth + 1)
        self.write(b"}")


def _with_point(number: str, verb: str, precision: int | None) -> str:
    """With the flag # a float has a point always, and %g keeps zeros at the end."""
    mark = "p" if verb in "xX" else "e"
    cut = number.lower().find(mark)
    mantissa, tail = (number, "") if cut < 0 else (number[:cut], number[cut:])
    keeps_zeros = verb in "gGx"
    shown = len(mantissa.lstrip("0.").replace(".", "")) or 1  # the x of 0x counts, too
    wanted = (6 if precision is None else precision) if keeps_zeros else 0
    if "." not in mantissa:
        mantissa += "."
    return mantissa + "0" * max(wanted - shown, 0) + tail


def _go_time(moment: Moment) -> bytes:
    now = clock(moment)
    month = f"time.{layouts.MONTHS[now.month - 1]}"
    date = f"{now.year}, {month}, {now.day}, {now.hour}, {now.minute}, {now.second}, {moment.nanos}"
    return f"time.Date({date}, time.{moment.zone.name})".encode()
