"""What searches tell while they run, and how the state of a generator of random numbers is kept."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Report = Callable[[int, float, float], None]
"""Called with work done (samples or steps), best cost, and lower bound."""


def random_state(random: Random) -> list[Any]:
    """The state of a generator as JSON can hold it."""
    version, words, following = random.getstate()
    return [version, list(words), following]


def restore_random(random: Random, state: list[Any]) -> None:
    """Put a generator into a state of `random_state`."""
    version, words, following = state
    random.setstate((version, tuple(words), following))
