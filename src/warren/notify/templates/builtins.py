"""The functions that every template has, but `and` and `or`, which do not evaluate all arguments. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote_plus

from warren.notify.templates.comparison import equal, less
from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.formatting import print_format
from warren.notify.templates.printing import print_all, print_line
from warren.notify.templates.quoting import characters, is_stray_byte
from warren.notify.templates.values import (
    STRING,
    UINT8,
    Function,
    Integer,
    List,
    Parameter,
    Pointer,
    Table,
    Text,
    Truth,
    Value,
    is_true,
    pointed_at,
    zero,
)

Given = Sequence[Value | None]
_HTML = {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
_JS = {"\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D"}
_JS_SPECIAL = re.compile(r"[\\'\"<>&=\x00-\x1f]|[^\x00-\x7f]")
SHORT_CIRCUIT = ("and", "or")


def _index(given: Given) -> Value | None:
    item = given[0]
    if item is None:
        raise Failure(Problem.DATA, "nil has no elements")
    for key in given[1:]:
        item = _element(_collection(item), key)
    return item


def _collection(item: Value) -> Value:
    there = pointed_at(item)
    assert there is not None  # a value that is there points to one, or is a nil pointer
    if isinstance(there, Pointer):
        raise Failure(Problem.DATA, f"a nil pointer of type {item.type} has no elements")
    return there


def _element(item: Value, key: Value | None) -> Value:
    match item:
        case List():
            return item.items[_position(key, len(item.items) - 1)]
        case Text():
            return Integer(item.value[_position(key, len(item.value) - 1)], UINT8)
        case Table():
            return _entry(item, key)
        case _:
            raise Failure(Problem.TYPE, f"a {item.type} has no elements")


def _entry(item: Table, key: Value | None) -> Value:
    if not isinstance(key, Text):
        raise Failure(Problem.TYPE, f"the keys of {item.type} are strings, not {_type_of(key)}")
    found = item.entries.get(key.value)
    assert item.type.element is not None  # every map has elements of some type
    return zero(item.type.element) if found is None else found


def _type_of(value: Value | None) -> str:
    return "nil" if value is None else value.type.name


def _position(index: Value | None, last: int) -> int:
    if not isinstance(index, Integer):
        raise Failure(Problem.TYPE, f"an element is found by a whole number, not by {_type_of(index)}")
    if not 0 <= index.value <= last:
        raise Failure(Problem.DATA, f"there is no element {index.value}")
    return index.value


def _slice(given: Given) -> Value:
    if given[0] is None:
        raise Failure(Problem.DATA, "nil has no elements")
    item = _collection(given[0])
    if not isinstance(item, Text | List):
        raise Failure(Problem.TYPE, f"a {item.type} cannot be cut")
    most = 3 if isinstance(item, List) else 2
    if len(given) - 1 > most:
        raise Failure(Problem.TYPE, f"slice takes at most {most} numbers for a {item.type}")
    return _cut(item, given[1:])


def _cut(item: Text | List, numbers: Given) -> Value:
    length = len(item.value) if isinstance(item, Text) else len(item.items)
    first, last, limit, *_ = [*(_position(one, length) for one in numbers), *(0, length, length)[len(numbers) :]]
    if not first <= last <= limit:
        raise Failure(Problem.DATA, f"a slice cannot go from {first} to {last}")
    if isinstance(item, Text):
        return Text(item.value[first:last])
    return List(item.items[first:last], item.type)


def _len(given: Given) -> Value:
    match pointed_at(given[0]):
        case Text(value=content):
            return Integer(len(content))
        case List(items=items):
            return Integer(len(items))
        case Table(entries=entries):
            return Integer(len(entries))
        case Pointer(type=type_):
            raise Failure(Problem.DATA, f"a nil pointer of type {type_} has no length")
        case other:
            raise Failure(Problem.TYPE, f"{_type_of(other)} has no length")


def _call(given: Given) -> Value:
    raise Failure(Problem.TYPE, f"{_type_of(given[0])} is no function that could be called")


def _printf(given: Given) -> Value:
    assert isinstance(given[0], Text)  # the parameter says so
    return Text(print_format(given[0].value, list(given[1:])))


def _as_text(given: Given) -> str:
    """The arguments of an escaper in one string."""
    if len(given) == 1 and isinstance(given[0], Text):
        return characters(given[0].value)
    return characters(print_all([printable(one) for one in given]))


def printable(value: Value | None) -> Value:
    """What is printed for a value: not the pointer to it, and something if there is none."""
    return Text(b"<no value>") if value is None else pointed_at(value) or value


def _html(given: Given) -> Value:
    return _text("".join(_HTML.get(one, one) for one in _as_text(given)))


def _js(given: Given) -> Value:
    return _text(_JS_SPECIAL.sub(lambda found: _js_escaped(found[0]), _as_text(given)))


def _js_escaped(one: str) -> str:
    if one in _JS:
        return _JS[one]
    is_kept = is_stray_byte(one) or (one.isprintable() and one >= " ")
    return one if is_kept else f"\\u{ord(one):04X}"


def _urlquery(given: Given) -> Value:
    return _text(quote_plus(_as_text(given), safe="", errors="surrogateescape"))


def _text(content: str) -> Text:
    return Text(content.encode("utf-8", "surrogateescape"))


def _two(decide: Callable[[Value | None, Value | None], bool]) -> Function:
    return Function((Parameter.INSIDE, Parameter.INSIDE), lambda given: Truth(decide(given[0], given[1])))


def _same(first: Value | None, second: Value | None) -> bool:
    return equal(first, [second])


ANY, INSIDE = Parameter.ANY, Parameter.INSIDE
BUILTINS: dict[str, Function] = {
    "and": Function((INSIDE,), lambda given: given[0], INSIDE),
    "or": Function((INSIDE,), lambda given: given[0], INSIDE),
    "not": Function((INSIDE,), lambda given: Truth(not is_true(given[0]))),
    "call": Function((INSIDE,), _call, INSIDE),
    "html": Function((), _html, ANY),
    "index": Function((INSIDE,), _index, INSIDE),
    "slice": Function((INSIDE,), _slice, INSIDE),
    "js": Function((), _js, ANY),
    "len": Function((INSIDE,), _len),
    "print": Function((), lambda given: Text(print_all(list(given))), ANY),
    "printf": Function((STRING,), _printf, ANY),
    "println": Function((), lambda given: Text(print_line(list(given))), ANY),
    "urlquery": Function((), _urlquery, ANY),
    "eq": Function((INSIDE,), lambda given: Truth(equal(given[0], list(given[1:]))), INSIDE),
    "ne": _two(lambda first, second: not _same(first, second)),
    "lt": _two(less),
    "le": _two(lambda first, second: less(first, second) or _same(first, second)),
    "gt": _two(lambda first, second: not (less(first, second) or _same(first, second))),
    "ge": _two(lambda first, second: not less(first, second)),
}
