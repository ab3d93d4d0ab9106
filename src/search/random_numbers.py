"""Compiled: pseudo-random numbers that are the same everywhere (xorshift, G. Marsaglia, 2003)."""

import numpy as np
from numpy.typing import NDArray

from ..costs.compiled import bare

Seed = NDArray[np.uint64]
"""One number that each draw changes."""


def seeded(seed: int, chain: int = 0) -> Seed:
    """The start of a sequence; sequences of different `chain` have nothing in common."""
    mixed = np.random.SeedSequence([seed, chain]).generate_state(1, np.uint64)
    return mixed | np.uint64(1)


@bare
def uniform(random: Seed) -> float:
    """A number from [0, 1)."""
    value = random[0]
    value ^= value << np.uint64(13)
    value ^= value >> np.uint64(7)
    value ^= value << np.uint64(17)
    random[0] = value
    return float(value >> np.uint64(11)) * 2.0**-53


@bare
def below(random: Seed, count: int) -> int:
    """An integer from [0, count)."""
    return int(uniform(random) * count)
