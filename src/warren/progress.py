"""How far Warren has read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Progress:
    """How far one consumer module has read the offsets topic."""

    offsets_topic: str
    topic_id: str = ""
    """Kafka's id of the topic that the positions are of; "" if it is not known."""
    positions: dict[int, int] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)
    caught_up: bool = False
    """True once everything that was there at the start has been read; it stays so."""
    must_start_over: bool = False
    """What was read before was forgotten; it must be read again."""
    skipped: Counter[str] = field(default_factory=Counter)

    def start_over(self) -> None:
        """Nothing is read."""
        self.positions, self.behind, self.caught_up, self.must_start_over = {}, {}, False, False
        self.topic_id = ""

    def advance(self, positions: dict[int, int], behind: dict[int, int], topic_id: str) -> None:
        """A batch was read up to `positions`; a batch that comes again takes nothing back."""
        self.topic_id = topic_id or self.topic_id
        for partition, position in positions.items():
            self.positions[partition] = max(position, self.positions.get(partition, 0))
        self.behind = behind

    @property
    def behind_records(self) -> int:
        """At most so many records are known to be unread."""
        return sum(end - self.positions.get(partition, 0) for partition, end in self.behind.items())
