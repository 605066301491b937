"""The groups of a cluster by name: the number of each, and where its windows are."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from warren.windows.columns import Block


@dataclass(slots=True)
class GroupRows:
    """One group: the code that `Labels.group` holds in its rows, and the rows of each of its topics."""

    code: int
    topics: dict[str, Block] = field(default_factory=dict)


class RowsByGroup(dict[str, GroupRows]):
    """All groups, each with a code of its own; a code is used again when its group is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str | None] = [None]
        """By their code; None = free."""
        self._free_codes: list[int] = []

    def ensure(self, name: str) -> GroupRows:
        """A group, which may be new."""
        group = self.get(name)
        if group is None:
            code = self._free_codes.pop() if self._free_codes else len(self.names)
            name = sys.intern(name)
            self.names[code : code + 1] = [name]
            group = self[name] = GroupRows(code)
        return group

    def remove(self, name: str) -> None:
        """Forget a group; its rows are free already."""
        code = self.pop(name).code
        self.names[code] = None
        self._free_codes.append(code)
