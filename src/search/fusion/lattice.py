"""The exact partition: a shortest path over the downsets of the layer graph.

Groups executed one after another are a chain of downsets (sets of layers that hold all that they read), and the cost is
a sum over its steps; every partition whose groups do not wait in a circle is such a chain.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf

from ...algebra.dag import bits, mask_of
from .space import Evaluator, Groups, Space


def extensions(
    space: Space, done: int, price: Callable[[int], float] | None, fits: Callable[[int, int], bool]
) -> Iterator[int]:
    """Connected groups that can run after `done`, which holds all that its layers read.

    `fits(group, part)` is asked of a set and of that connected part of it that is new: the set without the part's last
    layer fits.  It is false only where no larger set fits either.  With `price`, only groups of finite price are given,
    and others are taken not to fit with more layers either: they are not extended.
    """
    ready = mask_of(n for n in range(space.size) if not done >> n & 1 and space.before[n] & ~done == 0)
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


def path_between(start: int, done: int, came: Callable[[int], int]) -> Groups:
    """The groups that lead from one downset to another; `came` says which is the last on the way to one."""
    groups: list[int] = []
    while done != start:
        groups.append(came(done))
        done &= ~groups[-1]
    return tuple(reversed(groups))


SLACK = 1e-12
"""Relative error of sums of prices."""


class TooLargeError(Exception):
    """The lattice has more steps than the search may try."""


LOOK = 64
"""Sets that are looked at between two looks at the clock."""


def nothing(done: int) -> float:
    """The bound that is always right."""
    return 0.0


@dataclass
class Lattice:
    """A forward search over the downsets above `start`; layers of `start` count as done and are not grouped.

    `rest(done)` bounds from below what the layers outside of `done` cost; downsets that cannot end at `limit` or below
    are left out.  At most `most_steps` steps are tried, and four times as many sets looked at, while it is not `late`.

    `possible(group)` is false only where no group that holds the layers fits.  Without it, parts of groups that fit are
    taken to fit too: what is found then is no proof.
    """

    space: Space
    evaluator: Evaluator
    start: int = 0
    rest: Callable[[int], float] = nothing
    limit: float = inf
    most_steps: int = 2_000_000
    possible: Callable[[int], bool] | None = None
    late: Callable[[], bool] = bool
    steps: int = 0
    tries: int = 0
    costs: dict[int, float] = field(default_factory=dict[int, float])
    came: dict[int, int] = field(default_factory=dict[int, int])

    def solve(self) -> tuple[float, Groups]:
        """The least cost, and groups that have it; infinite and none where no partition is within `limit`.

        Raises `TooLargeError` where the search is given up.
        """
        levels: list[list[int]] = [[] for _ in range(self.space.size + 1)]
        levels[self.start.bit_count()].append(self.start)
        self.costs[self.start] = 0.0
        for level in levels:
            for done in level:
                self._expand(done, levels)
        goal = self.space.everything
        found = path_between(self.start, goal, self.came.__getitem__) if goal in self.costs else ()
        return self.costs.get(goal, inf), found

    def _expand(self, done: int, levels: list[list[int]]) -> None:
        cost, limit = self.costs[done], self.limit * (1 + SLACK)
        if cost + self.rest(done) > limit:
            return
        price = self.evaluator.price
        for group in self._groups(done):
            self.steps += 1
            if self.steps > self.most_steps:
                raise TooLargeError
            after, total = done | group, cost + price(group)
            known = self.costs.get(after)
            if known is None:
                if total + self.rest(after) > limit:
                    continue
                levels[after.bit_count()].append(after)
            if known is None or total < known:
                self.costs[after] = total
                self.came[after] = group

    def _groups(self, done: int) -> Iterable[int]:
        """What may run after `done`, in one group."""
        price = self.evaluator.price
        if self.possible is None:
            return extensions(self.space, done, price, self._may_fit)
        groups = list(extensions(self.space, done, None, self._may_fit))
        self.evaluator.prepare(groups)
        return [group for group in groups if price(group) < inf]

    def _may_fit(self, group: int, part: int) -> bool:
        self.tries += 1
        if self.tries > 4 * self.most_steps or (self.tries % LOOK == 0 and self.late()):
            raise TooLargeError
        return self.evaluator.may_fit(group, part) if self.possible is None else self.possible(group)
