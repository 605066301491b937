"""`make fuzz`: inputs that reach ever more of the code, for as long as is wanted.

A failure prints the input and how to run it again. What was found worth keeping stays in `.fuzz` for the next time.
"""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
import warnings
from pathlib import Path

import atheris
import structlog

INSTRUMENTED = ("warren.codec", "warren.groups", "warren.sources.folding", "warren.windows.rows")


def others() -> list[str]:
    """The modules that are not instrumented: atheris takes whole packages, less the modules that are named."""
    source = Path(__file__).parents[2] / "src"
    names = [".".join(path.relative_to(source).with_suffix("").parts) for path in (source / "warren").rglob("*.py")]
    return [name for name in (one.removesuffix(".__init__") for one in names) if not name.startswith(INSTRUMENTED)]


with atheris.instrument_imports(include=["warren"], exclude=others()):
    from tests.fuzz import target

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / ".fuzz" / "corpus"
CRASHES = ROOT / ".fuzz" / "crashes"
NOTHING_WRONG, MOST_MEGABYTES = 0, 2_048


def main() -> int:
    options = parse_options()
    # Records that cannot be decoded are told in the log, and here nearly all cannot.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    warnings.simplefilter("error")
    if options.input is not None:
        target.run(bytes.fromhex(options.input))
        return NOTHING_WRONG
    for directory in (CORPUS, CRASHES):
        directory.mkdir(parents=True, exist_ok=True)
    write_seeds(CORPUS)
    limits = [f"-max_total_time={options.seconds}", f"-max_len={target.LONGEST_INPUT}", "-timeout=20", "-len_control=0"]
    limits += [f"-rss_limit_mb={MOST_MEGABYTES}", f"-artifact_prefix={CRASHES}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(CORPUS)], run)
    atheris.Fuzz()
    return NOTHING_WRONG


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--input", metavar="HEX", help="run this input only")
    return parser.parse_args()


def run(data: bytes) -> None:
    try:
        target.run(data)
    except BaseException:
        traceback.print_exc()
        print(f"\nTo run it again:\n\n  .venv/bin/python -m tests.fuzz --input {data.hex()}\n", file=sys.stderr)
        raise


def write_seeds(directory: Path) -> None:
    """Inputs that stand for a sound record of every type, alone and after others of its group."""
    alone = [target.recipe_of(kind) for kind in range(24)]
    together = [b"".join(alone[first : first + 6]) for first in range(0, 24, 3)]
    for number, seed in enumerate([*alone, *together]):
        (directory / f"seed-{number}").write_bytes(seed)


if __name__ == "__main__":
    sys.exit(main())
