"""Old names of keys that files still have; each is taken for the new one, with a warning that names it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warren.config.documents import KeyPath
from warren.config.problems import Problem

_GROUP_LISTS = {"group-whitelist": "group-allowlist", "group-blacklist": "group-denylist"}
_LOG_FILES = {
    "maxsize": "max-size",
    "maxbackups": "max-backups",
    "maxage": "max-age",
    "use-localtime": "use-local-time",
}

_OLD = {
    ("logging",): _LOG_FILES,
    ("storage", "*"): _GROUP_LISTS,
    ("consumer", "*"): _GROUP_LISTS,
    ("notifier", "*"): _GROUP_LISTS,
}

_OLD_VERSION = re.compile(r"0\.(8|9|10|11)(\.\d)?")
"""Short forms of the versions that had four parts."""

VERSION_PARTS = 4


class Renamed:
    """What came of the old names in a file."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.warnings: list[tuple[KeyPath, str]] = []
        self.problems: list[Problem] = []
        self.paths: dict[KeyPath, KeyPath] = {}
        """The old name of each new one."""
        for section, names in _sections(values):
            at = _inside(values, section)
            for old, new in names.items():
                if old in at:
                    self._rename(at, section, old, new)
        for name, profile in values.get("client-profile", {}).items():
            if isinstance(profile, dict):
                self._lengthen(("client-profile", name, "kafka-version"), profile)

    def _rename(self, at: dict[str, Any], section: KeyPath, old: str, new: str) -> None:
        value = at.pop(old)
        if new in at and value not in ("", at[new]):
            self.problems.append(Problem((*section, old), f"is the old name of {new}, which is there, too; remove it"))
            return
        at.setdefault(new, value)
        self.paths[*section, new] = (*section, old)
        self.warnings.append(((*section, old), f"is called {new} now"))

    def _lengthen(self, key: KeyPath, profile: dict[str, Any]) -> None:
        version = profile.get(key[-1])
        if isinstance(version, str) and _OLD_VERSION.fullmatch(version):
            full = ".".join([*version.split("."), "0", "0"][:VERSION_PARTS])
            self.warnings.append((key, f"is written {full} now; Warren asks the brokers, so it can be left out"))


def _sections(values: dict[str, Any]) -> Iterator[tuple[KeyPath, dict[str, str]]]:
    for (name, *module), names in _OLD.items():
        section = values.get(name)
        if not isinstance(section, dict):
            continue
        if not module:
            yield (name,), names
        else:
            yield from (((name, one), names) for one, inner in section.items() if isinstance(inner, dict))


def _inside(values: dict[str, Any], section: KeyPath) -> dict[str, Any]:
    for name in section:
        values = values[name]
    return values
