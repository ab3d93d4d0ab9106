"""The best cuts of an order of layers into stretches, for all capacities at once, with few prices."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf

import numpy as np

from ...algebra.element import Floats, Ints
from .capacity import Choices
from .space import Groups

REACHES = (64, 32, 16, 8, 4, 2, 1, 0)
"""A place is cut at where nothing less is live so many places around it; at 0 all places are."""

SINGLES, TRIES = 2, 10
"""Single layers take a share of the prices that is one of so many at most; stretches tried for each price."""


class Stretches:
    """Stretches of `order`, the connected parts of each a group; `live[place]` says what a cut there costs.

    At most `most` groups are priced, but for single layers without which nothing is known of the whole order: first
    stretches between few places, then between ever more, short ones first.
    """

    def __init__(
        self,
        choices: Choices,
        order: Sequence[int],
        live: Sequence[float],
        most: int,
        possible: Callable[[int], bool] | None = None,
    ) -> None:
        self._choices, self._live, self._count, self._possible = choices, live, len(order), possible
        self._most, self._tries = choices.evaluations + most, self._count + TRIES * most
        self._before = [0]
        for number in order:
            self._before.append(self._before[-1] | 1 << number)
        self._prices: list[dict[int, Floats]] = [{} for _ in order]
        if SINGLES * len({choices.structure(1 << number) for number in order}) <= most:
            self._add_singles(0, self._count)
        for reach in REACHES:
            self._add_between(self._places(reach))
        if np.isinf(self.shortest()[0]).all():
            for first, last in pairwise(self._places(REACHES[0])):
                if np.isinf(self._prices[first].get(last, inf)).all():
                    self._add_singles(first, last)

    def shortest(self) -> tuple[Floats, Ints]:
        """The least cost of all layers under each candidate, and where the last stretch before each place begins."""
        width = len(self._choices.candidates)
        costs = np.full((self._count + 1, width), inf)
        costs[0] = 0.0
        came = np.zeros((self._count + 1, width), np.int64)
        for first, found in enumerate(self._prices):
            for last, price in found.items():
                total = costs[first] + price
                better = total < costs[last]
                costs[last][better] = total[better]
                came[last][better] = first
        return costs[-1], came

    def groups(self, came: Ints) -> Groups:
        """The groups of one candidate, whose column of `shortest` is given."""
        groups: list[int] = []
        last = self._count
        while last:
            first = int(came[last])
            groups.extend(self._parts(first, last))
            last = first
        return tuple(self._choices.space.ordered(groups) or groups)

    def _places(self, reach: int) -> list[int]:
        """Both ends, and where no less is live than at all places up to `reach` away; such places are as far apart."""
        live, found = self._live, [0]
        for place in range(1, self._count):
            near = live[max(0, place - reach) : place + 1 + reach]
            if live[place] <= min(near) and (place - found[-1] >= reach or len(found) == 1):
                found.append(place)
        return [*found, self._count]

    def _parts(self, first: int, last: int) -> list[int]:
        return self._choices.space.components(self._before[last] & ~self._before[first])

    def _add_singles(self, first: int, last: int) -> None:
        for place in range(first, last):
            self._prices[place][place + 1] = self._choices.prices(self._before[place + 1] & ~self._before[place])

    def _add_between(self, places: Sequence[int]) -> None:
        """Stretches between places, ever longer ones where shorter ones fit."""
        begins = range(len(places) - 1)
        for length in range(1, len(places)):
            begins = [place for place in begins if place + length < len(places)]
            begins = [place for place in begins if self._add(places[place], places[place + length])]

    def _add(self, first: int, last: int) -> bool:
        """Whether a stretch can be priced, and fits some candidate."""
        price = self._prices[first].get(last)
        if price is None:
            self._tries -= 1
            if self._tries < 0:
                return False
            parts = self._parts(first, last)
            if self._possible is not None and not all(map(self._possible, parts)):
                return False
            fresh = {self._choices.structure(part) for part in parts if not self._choices.known(part)}
            if self._choices.evaluations + len(fresh) > self._most:
                return False
            price = self._prices[first][last] = np.sum([self._choices.prices(part) for part in parts], axis=0)
        return not np.isinf(price).all()
