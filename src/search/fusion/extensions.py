"""What may be executed next: the groups that extend a downset of layers (ideas of Jangda and Bondhugula 2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from ...algebra.dag import bits
from .space import Space


def extensions(
    space: Space, done: int, price: Callable[[int], float] | None, fits: Callable[[int, int], bool]
) -> Iterator[int]:
    """Connected groups that can run after `done`, which holds all that its layers read.

    `fits(group, part)` is asked of a set and of that connected part of it that is new: the set without the part's last
    layer fits.  It is false only where no larger set fits either.  With `price`, only groups of finite price are given,
    and others are taken not to fit with more layers either: they are not extended.
    """
    ready = 0
    for number in range(space.size):
        if not done >> number & 1 and space.before[number] & ~done == 0:
            ready |= 1 << number
    stack = [(0, ready, 0)]
    while stack:
        group, ready, barred = stack.pop()
        for number in bits(ready & ~barred):
            larger = group | 1 << number
            freed = 0
            for reader in bits(space.after[number] & ~(larger | done)):
                if space.before[reader] & ~(done | larger) == 0:
                    freed |= 1 << reader
            part = space.component(larger, number)
            if fits(larger, part):
                whole = part == larger
                if not whole or price is None or price(larger) < inf or larger == 1 << number:
                    stack.append((larger, (ready & ~(1 << number)) | freed, barred))
                    if whole:
                        yield larger
            barred |= 1 << number
