"""What copies of a local hold, so that nothing is loaded that is still there."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Slots:
    """Equal parts of a memory.  What is loaded replaces what was used least recently; `now` is the part in use."""

    count: int
    held: list[object | None] = field(init=False)
    used: list[int] = field(init=False)
    now: int = 0
    uses: int = 0

    def __post_init__(self) -> None:
        self.held, self.used = [None] * self.count, [0] * self.count

    def use(self, key: object) -> bool:
        """Turns to the part that holds `key` from now on; whether one did already."""
        found = key in self.held
        self.now = self.held.index(key) if found else self.used.index(min(self.used))
        self.held[self.now] = key
        self.uses += 1
        self.used[self.now] = self.uses
        return found
