"""Partitions without search: a layer a group, chains of fixed length, greedy merging, and cuts of the depth order."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import inf

from ...algebra.dag import bits, mask_of
from .space import Evaluator, Groups, Space


def per_layer(space: Space) -> Groups:
    """Each layer alone."""
    return tuple(1 << number for number in range(space.size))


def chains(space: Space, evaluator: Evaluator, length: int) -> Groups:
    """`length` layers that follow each other in topological order, in connected parts; halved where they do not fit.

    Cocco's figure 3 fuses 1, 3 and 5 layers.
    """
    stretches = (((1 << length) - 1 << first) & space.everything for first in range(0, space.size, length))
    return _in_order(space, fitting(space, evaluator, stretches))


def fitting(space: Space, evaluator: Evaluator, sets: Iterable[int]) -> list[int]:
    """The connected parts of sets, and of their halves in topological order until they fit."""
    parts = [part for layers in sets for part in space.components(layers)]
    return [small for part in parts for small in _halved(space, evaluator, part)]


def _halved(space: Space, evaluator: Evaluator, group: int) -> list[int]:
    members = list(bits(group))
    if len(members) == 1 or evaluator.price(group) < inf:
        return [group]
    lower = group & ((1 << members[len(members) // 2]) - 1)
    return fitting(space, evaluator, (lower, group & ~lower))


def greedy(space: Space, evaluator: Evaluator) -> Groups:
    """From single layers, merge the two groups that save most, until no merge saves (Halide; Mullapudi et al. 2016).

    Ties go to the groups with the lowest layers.
    """
    owner = list(per_layer(space))
    offers: list[tuple[float, int, int, int, int]] = []

    def offer(a: int, b: int) -> None:
        merged = evaluator.price(a | b) if space.convex(a | b) else inf
        gain = evaluator.price(a) + evaluator.price(b) - merged
        if gain > 0:
            heappush(offers, (-gain, a & -a, b & -b, a, b))

    for number, producers in enumerate(space.producers):
        for producer in sorted(set(producers)):
            offer(1 << producer, 1 << number)
    while offers:
        _, _, _, a, b = heappop(offers)
        if a != _owner_of(owner, a) or b != _owner_of(owner, b) or _has_detour(space, owner, a, b):
            continue  # a group that has grown was offered anew; a path between others stays while both are as they are
        merged = a | b
        for number in bits(merged):
            owner[number] = merged
        for source in sorted({owner[number] for number in bits(space.sources(merged) & ~merged)}):
            offer(source, merged)
        for reader in sorted({owner[number] for number in bits(space.readers(merged) & ~merged)}):
            offer(merged, reader)
    return _in_order(space, list(dict.fromkeys(owner)))


def _owner_of(owner: Sequence[int], mask: int) -> int:
    """The group of the lowest layer of a set."""
    return owner[(mask & -mask).bit_length() - 1]


def _has_detour(space: Space, owner: Sequence[int], a: int, b: int) -> bool:
    """Whether a path leads from group `a` to group `b` through other groups, looked for from both ends at once."""
    outside = ~(a | b)
    ahead, behind = space.readers(a) & outside, space.sources(b) & outside
    after = before = 0
    while ahead and behind:
        group = _owner_of(owner, ahead)
        after |= group
        ahead = (ahead | space.readers(group)) & outside & ~after
        group = _owner_of(owner, behind)
        before |= group
        behind = (behind | space.sources(group)) & outside & ~before
        if (after | ahead) & (before | behind):
            return True
    return False


def depth_order(space: Space, evaluator: Evaluator) -> Groups:
    """The best cuts of the layers in order of depth, by dynamic programming (Irregular-NN; Zheng et al. 2020).

    A group is what lies between two cuts; where that is not connected, its parts are groups.
    """
    order = sorted(range(space.size), key=lambda number: (space.depth[number], number))
    return best_cuts(space, evaluator, order)


def best_cuts(space: Space, evaluator: Evaluator, order: Sequence[int]) -> Groups:
    """The best partition whose groups are the connected parts of stretches of a topological order.

    A stretch with a part that does not fit, and all longer ones, are left out.
    """
    count = len(order)
    cost, came = [0.0] + [inf] * count, [0] * (count + 1)
    for first in range(count):
        mask = 0
        for last in range(first, count):
            mask |= 1 << order[last]
            price = sum(map(evaluator.price, space.components(mask)))
            if price == inf:
                break
            if cost[first] + price < cost[last + 1]:
                cost[last + 1], came[last + 1] = cost[first] + price, first
    groups: list[int] = []
    last = count
    while last:
        groups.extend(space.components(mask_of(order[came[last] : last])))
        last = came[last]
    return _in_order(space, groups)


def _in_order(space: Space, groups: list[int]) -> Groups:
    ordered = space.ordered(groups)
    if ordered is None:
        raise AssertionError("a partition whose groups wait for each other in a circle")
    return tuple(ordered)
