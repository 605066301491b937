"""A lease runs out by itself, and does not come back by itself."""

from __future__ import annotations

from warren.notify.lease import Lease


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_lease_holds_while_it_is_confirmed() -> None:
    clock = Clock()
    lease = Lease(6, clock)
    assert not lease.holds
    lease.take()
    for _ in range(5):
        clock.now_s += 5
        assert lease.holds
        lease.confirm()


def test_one_that_has_run_out_is_not_brought_back_by_a_confirmation() -> None:
    clock = Clock()
    lease = Lease(6, clock)
    lease.take()
    clock.now_s += 6
    assert not lease.holds
    lease.confirm()
    assert not lease.holds
    lease.take()
    assert lease.holds


def test_one_that_was_given_up_is_gone() -> None:
    lease = Lease(6, Clock())
    lease.take()
    lease.give_up()
    lease.confirm()

    assert not lease.holds
