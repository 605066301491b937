"""Numbers as the sentences of a plan have them. Pure."""

from __future__ import annotations


def records(value: float) -> str:
    """A count of records."""
    return f"{value:,.0f} record{'' if round(value) == 1 else 's'}"


def rate(value: float) -> str:
    """Records a second; small ones with their decimals."""
    return f"{amount(value)}/s"


def amount(value: float) -> str:
    """Three digits are enough below a hundred."""
    if value >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.001 else "less than 0.001"


def percent(share: float) -> str:
    """A share of something."""
    value = share * 100
    return f"{value:,.0f} %" if abs(value) >= 100 else f"{value:.3g} %"


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def is_are(number: int) -> str:
    """How they are spoken of."""
    return "is" if number == 1 else "are"


def was_were(number: int) -> str:
    """How they were spoken of."""
    return "was" if number == 1 else "were"
