"""How many examples Hypothesis tries: the same 200 in each `make test`, thousands of new ones in the long suite."""

from __future__ import annotations

from hypothesis import settings

QUICK, LONG = 200, 3_000

settings.register_profile("quick", max_examples=QUICK, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=LONG, deadline=None)


def examples(count: int) -> settings:
    """Return settings for slow examples: `count` in `make test`, proportionally more in the long suite."""
    factor = settings.default.max_examples // QUICK  # type: ignore[union-attr]  # there is always a profile
    return settings(settings.default, max_examples=count * factor)
