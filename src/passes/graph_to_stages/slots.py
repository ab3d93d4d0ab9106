"""What parts of a memory on chip hold, so that nothing is loaded that is still there."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Slots:
    """Equal parts of a memory.  What is loaded replaces what was used least recently.

    `used` are numbers of the last step that used each part, 0 if none did; `now` is the part in use.
    """

    count: int
    held: list[tuple[int, ...] | None] = field(init=False)
    used: list[int] = field(init=False)
    now: int = 0

    def __post_init__(self) -> None:
        self.held, self.used = [None] * self.count, [0] * self.count

    def holds(self, key: tuple[int, ...]) -> bool:
        """Whether a part holds it."""
        return key in self.held

    def use(self, key: tuple[int, ...], step: int) -> int:
        """Turns to the part that holds `key` from this step on; the last step that used what it replaced, else 0."""
        before = 0
        if key in self.held:
            self.now = self.held.index(key)
        else:
            self.now = self.used.index(min(self.used))
            before, self.held[self.now] = self.used[self.now], key
        self.used[self.now] = step
        return before
