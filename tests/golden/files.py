"""The golden files: a first line that says which site answers, comments, and cases."""

from __future__ import annotations

from pathlib import Path

from tests.golden.sites import listening
from tests.support.wire import ask, cases_of

HERE = Path(__file__).parent
FILES = sorted([*HERE.glob("v3/*.txt"), *HERE.glob("v2/*.txt")])


def site_of(path: Path) -> str:
    """The configuration that a file wants: `# site: NAME`."""
    return path.read_text("utf-8").partition("\n")[0].removeprefix("# site: ")


def written_anew(path: Path) -> str:
    """A file with the answers of now."""
    comments = ("\n" + path.read_text("utf-8")).partition("\n> ")[0].removeprefix("\n")
    with listening(site_of(path)) as address:
        answers = [(case.sent, ask(address, case.sent)) for case in cases_of(path)]
    return comments + "\n" + "".join(f"{sent.text}\n{answer.text}\n" for sent, answer in answers) + "= end\n"
