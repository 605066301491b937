"""`warren top` is walked through with keys: what each does, and in a real terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.running import RunningWarren
from tests.support.terminal import Terminal
from warren.commands.keys import keys_in
from warren.commands.walk import Key, Walk


def row(group: str, status: str, lag: int) -> dict[str, object]:
    return {"cluster": "c", "group": group, "status": status, "total_lag": lag}


ROWS = (row("audit", "OK", 5), row("billing", "ERR", 10), row("mail", "WARN", 99), row("search", "ERR", 40))


def after(*keys: str, walk: Walk | None = None) -> Walk:
    now = walk or Walk(ROWS, room=10)
    for key in keys:
        now = now.after(key)
    return now


def chosen(walk: Walk) -> str:
    assert walk.group is not None
    return str(walk.group["group"])


def shown(walk: Walk) -> list[str]:
    return [str(one["group"]) for one in walk.shown]


def test_the_worst_is_first_and_chosen() -> None:
    assert shown(after()) == ["search", "billing", "mail", "audit"]
    assert chosen(after()) == "search"


@pytest.mark.parametrize(
    ("keys", "group"),
    [
        ((Key.DOWN,), "billing"),
        (("j", "j", "k"), "billing"),
        ((Key.UP,), "search"),
        ((Key.END, Key.DOWN), "audit"),
        (("G", "g"), "search"),
        ((Key.PAGE_DOWN,), "audit"),
    ],
)
def test_one_walks_down_and_up_and_never_out_of_the_list(keys: tuple[str, ...], group: str) -> None:
    assert chosen(after(*keys)) == group


def test_the_chosen_group_stays_chosen_wherever_the_list_moves_it() -> None:
    walk = after(Key.DOWN)
    better = tuple(row("billing", "OK", 0) if one["group"] == "billing" else one for one in ROWS)
    moved = Walk(better, chosen=walk.chosen)
    assert (shown(moved)[-1], chosen(moved)) == ("billing", "billing")


def test_a_group_that_is_gone_is_no_longer_chosen() -> None:
    assert chosen(Walk(ROWS[:1], chosen=("c", "search"))) == "audit"


def test_the_list_can_be_sorted_and_cut_down_to_trouble() -> None:
    assert shown(after("s"))[0] == "mail"
    assert shown(after("s", "s")) == ["audit", "billing", "mail", "search"]
    assert shown(after("e")) == ["search", "billing", "mail"]


def test_typing_filters_and_escape_takes_the_filter_back() -> None:
    walk = after("/", *"a", "i", Key.ENTER)
    assert (walk.is_typing, shown(walk)) == (False, ["mail"])
    assert shown(after("/", *"mai", Key.ERASE)) == ["mail"]
    assert len(shown(after("/", "m", Key.BACK))) == 4


def test_letters_are_letters_while_one_types() -> None:
    assert after("/", "q").filter == "q"


def test_enter_opens_a_group_and_left_closes_it() -> None:
    assert after(Key.DOWN, Key.ENTER).is_open
    assert after(Key.DOWN, Key.ENTER).opened == ("c", "billing")
    assert after(Key.ENTER, Key.BACK).opened is None
    assert after(Key.ENTER, Key.DOWN, Key.DOWN, Key.UP).scroll == 1


def test_nothing_happens_in_an_empty_list() -> None:
    assert after(Key.DOWN, Key.ENTER, Key.END, walk=Walk()).group is None


def test_the_page_always_has_the_chosen_row_on_it() -> None:
    many = tuple(row(f"g{i:03}", "OK", 1000 - i) for i in range(200))
    for place in (0, 1, 57, 198, 199):
        walk = Walk(many, chosen=("c", f"g{place:03}"), room=7)
        assert (len(walk.page), walk.group in walk.page) == (7, True)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("jk", ["j", "k"]),
        ("\x1b[A\x1bOB", [Key.UP, Key.DOWN]),
        ("\x1b", [Key.BACK]),
        ("\x1b[15~x", ["x"]),
        ("\r\x7f", [Key.ENTER, Key.ERASE]),
        ("ü", ["ü"]),
    ],
)
def test_what_terminals_send_is_understood(text: str, keys: list[str]) -> None:
    assert list(keys_in(text)) == keys


# -- in a real terminal ----------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(running: RunningWarren) -> Iterator[Terminal]:
    terminal = Terminal("top", "--url", running.url)
    yield terminal
    terminal.close()


def test_a_person_finds_out_why_a_group_is_red_with_four_keys(terminal: Terminal) -> None:
    terminal.read_until("billing", "q: quit")
    terminal.press("/")
    terminal.press("reporting\r")
    terminal.read_until("/reporting", "lag did not fall")
    terminal.press("\r")
    terminal.read_until("reporting of local is WARN", "by the rules of warren", "esc: back")
    terminal.press("\x1b[D")
    terminal.read_until("enter: open")
    terminal.press("q")
    assert terminal.process.wait(60) == 0
