"""How thoroughly properties are tried: the same examples in every run of `make test`, ever new ones in `make chaos`."""

from __future__ import annotations

import os

from hypothesis import settings

EXAMPLES = 2_000

settings.register_profile("test", max_examples=EXAMPLES, deadline=None, derandomize=True)
settings.register_profile("chaos", max_examples=EXAMPLES, deadline=None)
settings.load_profile("chaos" if "WARREN_TEST_KILLS" in os.environ else "test")
