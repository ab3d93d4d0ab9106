"""What need not be searched twice: dimensions that may change places, meshes that act as one, and factors that lead to
as many tiles.

Statements 6 and 7 of docs/exact-mapper.md.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod

import numpy as np

from .....algebra.factors import divisors_of
from .....costs.hierarchy import Problem
from .....remembered import remembered
from ...pricing import ROUNDING
from ..space.model import Ints, Model
from ..space.narrowing import Narrowing
from ..space.spreads import Columns, chain_arrays, layout_of, mesh_of
from ..space.ways import Ways

Order = tuple[int, ...]
Spread = tuple[Order, ...]
Kept = tuple[Order, ...]

MAX_ORDERS = 5040
"""Orders of dimensions that are tried."""


def symmetries(problem: Problem, roles: Sequence[str]) -> list[Order]:
    """Orders of the dimensions, but for their own, that leave the problem as it is.

    Tensors of one of the machine's `roles` and as wide words are treated alike, so these may change places.
    """
    bounds = problem.bounds
    groups = [[d for d, other in enumerate(bounds) if other == bound] for bound in sorted(set(bounds))]
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        return []
    own = tuple(range(len(bounds)))
    kinds = [(role, str(t.word_bits), t.is_output) for role, t in zip(roles, problem.tensors, strict=True)]

    def indexing(order: Order) -> list[tuple[tuple[str, str, bool], list[Order]]]:
        rows = [sorted(tuple(row[d] for d in order) for row in t.coefficients) for t in problem.tensors]
        return sorted(zip(kinds, rows, strict=True))

    found, mine = list[Order](), indexing(own)
    for parts in product(*(permutations(group) for group in groups)):
        place = dict(pair for group, part in zip(groups, parts, strict=True) for pair in zip(group, part, strict=True))
        order = tuple(place[d] for d in own)
        if order != own and indexing(order) == mine:
            found.append(order)
    return found


def first_of_its_kind(spread: tuple[Order, ...], orders: list[Order]) -> bool:
    """Whether no order of dimensions makes a spread (by memory and dimension) one that comes before it."""
    return all(spread <= tuple(tuple(row[d] for d in order) for row in spread) for order in orders)


def may_leave_gaps(model: Model) -> bool:
    """Whether children may be spread along a window so that they leave gaps for more than one of its terms.

    Those that lie side by side to a bound leave none.
    """
    spread = (model.many > 2) | (model.coefficient > 1)
    return any(
        int((spread[t] & (model.window[t] == w)).sum()) > 1
        for t, count in enumerate(model.windows.tolist())
        for w in range(count)
    )


class Places:
    """In which memory's mesh the instances of a dimension are, where that hardly matters; with perfect factors.

    Where passive memories between two meshes keep nothing, the two act as one: loops of such a memory can as well run
    outside of both.  For tensors with windows that brings instances closer together, which share more, if one term of
    the window at most `may_leave_gaps`.  Further in, tensors with windows must not be kept, whose tiles might slide by
    less.

    Dimensions of no window are `free`: how the tiles of children lie side by side is nobody's concern.  Moving
    instances of such a dimension from inside of some memories to outside of them leaves all words as they are if all
    tensors kept there are indexed by it (tiles get smaller, instances more); inwards saves words if none of them is.
    The same holds for terms of windows that are spread to the bound, where no tensor with that window is kept further
    in.  With `alone` each place is its own.
    """

    def __init__(self, model: Model, meshes: list[tuple[int, int]], *, split: bool, alone: bool = False) -> None:
        self.model, self.meshes, self.split, self.alone = model, meshes, split, alone
        self._levels = [level for level, (columns, rows) in enumerate(meshes) if columns * rows > 1]
        self.free = [model.perfect and not slid for slid in model.slid.tolist()]
        self._passive: list[bool] = np.isinf(model.bandwidth[:, 3]).tolist()
        self._sliding: list[bool] = (model.windows > 0).tolist()
        self._separate = alone or not model.perfect or may_leave_gaps(model)

    @remembered
    def merged(self, kept: Kept) -> tuple[Order, ...]:
        """Memories with meshes, those together that act as one."""
        inner = [chain for chain, slides in zip(kept, self._sliding, strict=True) if slides]
        found: list[Order] = []
        for group in filter(None, self.groups_of(kept)):
            alone = self._separate or any(any(chain[: group[0]]) for chain in inner)
            found += [(level,) for level in group] if alone else [tuple(group)]
        return tuple(found)

    @remembered
    def apart(self, spread: Spread, kept: Kept) -> Spread | None:
        """A spread over the meshes that act as one as one over each of them, or None if there is no room."""
        found = spread
        for group in self.merged(kept):
            parts = next(self._parts(spread[group[0]], group), None)
            if parts is None:
                return None
            rows = dict(zip(group, parts, strict=True))
            found = tuple(rows.get(level, row) for level, row in enumerate(found))
        return found

    def _parts(self, factors: Order, group: Order) -> Iterator[tuple[Order, ...]]:
        """All ways to have some of `factors` in each mesh of `group`."""
        first, *others = group
        if not others:
            if self._fits(first, factors):
                yield (factors,)
            return
        columns, rows = self.meshes[first]
        outside = prod(prod(self.meshes[level]) for level in others)

        def go(d: int, near: Order, left: int) -> Iterator[tuple[Order, ...]]:
            if d == len(factors):
                far = tuple(factor // part for factor, part in zip(factors, near, strict=True))
                if prod(far) <= outside and self._fits(first, near):
                    yield from ((near, *rest) for rest in self._parts(far, tuple(others)))
                return
            for part in reversed(divisors_of(factors[d])):
                if part <= left:
                    yield from go(d + 1, (*near, part), left // part)

        yield from go(0, (), columns * rows)

    def superfluous(self, spread: Spread, kept: Kept) -> bool:
        """Whether another skeleton, with some instances in another place, has mappings as good."""
        if self.alone or len(self._levels) < 2 or not any(self.free):
            return False
        return any(self._may_move(spread, *move) for move in self.moves(kept))

    @remembered
    def moves(self, kept: Kept) -> tuple[tuple[int, int, int], ...]:
        """Moves (from a memory's mesh, to another, dimension) that make nothing worse."""
        found: list[tuple[int, int, int]] = []
        for near, far in combinations(self._levels, 2):
            held = sum(1 << t for t, chain in enumerate(kept) if any(chain[near:far]))
            if not held or not self.model.perfect or not all(self._passive[near : far + 1]):
                continue
            inside = sum(1 << t for t, chain in enumerate(kept) if any(chain[:far]))
            for d, (moved, slid) in enumerate(zip(self.model.moved.tolist(), self.model.slid.tolist(), strict=True)):
                if not inside & slid and held & ~moved == 0:
                    found.append((near, far, d))
                elif not inside & slid and not held & moved:
                    found.append((far, near, d))
        return tuple(found)

    def _may_move(self, spread: Spread, source: int, target: int, d: int) -> bool:
        """Whether the other mesh has room for some more."""
        factor = spread[source][d]
        if not self.free[d] and prod(row[d] for row in spread) < int(self.model.bounds[d]):
            return False
        return any(
            self._fits(target, (*spread[target][:d], spread[target][d] * prime, *spread[target][d + 1 :]))
            for prime in divisors_of(factor)[1:]
        )

    @remembered
    def _fits(self, level: int, factors: Order) -> bool:
        return layout_of(factors, self.meshes[level], split=self.split) is not None

    @remembered
    def groups_of(self, kept: Kept) -> list[list[int]]:
        """Memories with meshes, those together between which nothing is kept."""
        groups = [self._levels[:1]]
        for near, far in pairwise(self._levels):
            if all(self._passive[near : far + 1]) and not any(any(chain[near:far]) for chain in kept):
                groups[-1].append(far)
            else:
                groups.append([far])
        return groups


def members(bounds: Order, spread: Ints, factors: Ints, most: int, plain: Sequence[bool] = ()) -> list[Ints] | None:
    """Temporal factors (L, D) with as many tiles in each memory as `factors`; None if they are more than `most`.

    A factor that is spread further out stands for itself.  Of a dimension that is in no window (`plain`, D) only those
    are there that no other beats: see `_worthwhile`.
    """
    by_dim = [
        list(_chains(bound, spread[:, d], factors[:, d], plain=d < len(plain) and plain[d]))
        for d, bound in enumerate(bounds)
    ]
    if prod(len(found) for found in by_dim) > most:
        return None
    return [np.array(chosen, np.int64).T.copy() for chosen in product(*by_dim)]


def _chains(bound: int, spread: Ints, factors: Ints, *, plain: bool) -> Iterator[Order]:
    last = len(factors) - 1
    sizes = np.cumprod(factors * spread)
    counts: list[int] = [-(-bound // int(size)) for size in sizes]

    def go(level: int, size: int, so_far: Order) -> Iterator[Order]:
        base = size * int(spread[level])
        if level == last:
            yield (*so_far, -(-bound // base))
            return
        factor = int(factors[level])
        spread_outside = int(spread[level + 1 :].prod()) > 1
        if spread_outside or counts[level] == 1:
            least = factor if spread_outside else -(-bound // base)
            yield from go(level + 1, base * least, (*so_far, least))
            return
        if plain:
            sizes = _worthwhile(-(-int(bound) // base), counts[level], together=int(spread[: level + 1].prod()) > 1)
        else:
            least = -(-bound // (base * counts[level]))
            sizes = range(least, (bound - 1) // (base * (counts[level] - 1)) + 1)
        for other in sizes:
            yield from go(level + 1, base * other, (*so_far, other))

    return go(0, 1, ())


def _worthwhile(blocks: int, many: int, *, together: bool) -> list[int]:
    """Factors of a loop over `blocks` that leave `many` > 1 tiles, of which no other is better.

    Words depend on the numbers of tiles alone but for what rests at a ragged end: where the last block is alone in its
    tile or, with children `together`, the last but one is the first of its own.  All else asks for small tiles.
    """
    found = {-(-blocks // many)}
    for before in (1, 2) if together else (1,):
        factor = (blocks - before) // (many - 1)
        if factor * (many - 1) == blocks - before and factor > 0 and -(-blocks // factor) == many:
            found.add(factor)
    return sorted(found)


class Family:
    """Ways `kept` to keep tensors for which the same groups of meshes act as one; spreads are over the whole group,
    and stand in its innermost memory's row."""

    def __init__(self, kept: list[Kept], ways: Ways, places: Places, spread: Sequence[bool]) -> None:
        self.kept, self._places, model = kept, places, places.model
        levels, tensors = len(places.meshes), len(kept[0])
        self.every = np.ones((len(kept), levels, tensors), np.int64)
        self.every[:, :-1] = np.array(kept, np.int64).transpose(0, 2, 1)
        self.masks = np.array([last_kept(chosen) for chosen in kept], np.int64)
        chains = [sorted({chosen[t] for chosen in kept}) for t in range(tensors)]
        self.ways = ways._replace(**dict(zip(("chains", "many"), chain_arrays(chains), strict=True)))
        self.mesh = mesh_of(model, self._merged(places.meshes), spread, split=places.split)
        self._narrowing = Narrowing(model, self.mesh)
        self.reached, self.stuck = 0.0, False
        kinds: dict[object, list[int]] = {}
        for n, chosen in enumerate(kept):
            kinds.setdefault(places.moves(chosen), []).append(n)
        self._kinds = [(kept[found[0]], found) for found in kinds.values()]

    def _merged(self, meshes: list[Columns]) -> list[list[Columns]]:
        """The meshes that act as one, by their innermost memory."""
        found = [[mesh] for mesh in meshes]
        for first, *others in self._places.merged(self.kept[0]):
            found[first] = [meshes[level] for level in (first, *others)]
            for level in others:
                found[level] = [(1, 1)]
        return found

    def more(
        self, first: float, most: float, front: float, symmetries: list[tuple[int, ...]]
    ) -> list[tuple[float, Spread]]:
        """Look for spreads of the next bounds, from `first` on, up to the `front` of others; there may be none yet."""
        spreads, bounds = self._narrowing.look(self.ways, most, max(first, front))
        self.reached, self.stuck = self._narrowing.reached * (1 - ROUNDING), self._narrowing.stuck
        found: list[tuple[float, Spread]] = []
        for bound, spread in zip(bounds.tolist(), spreads.tolist(), strict=True):
            chosen = tuple(tuple(row) for row in spread)
            if bound < most and first_of_its_kind(chosen, symmetries):
                found.append((bound, chosen))
        return found

    def worthwhile(self, spread: Spread) -> Ints:
        """The numbers of those ways to keep tensors for which no other spread is as good."""
        found = [n for kept, numbers in self._kinds if not self._places.superfluous(spread, kept) for n in numbers]
        return np.array(found, np.int64)


def families_of(kept: list[Kept], ways: Ways, places: Places, spread: Sequence[bool]) -> list[Family]:
    """All ways to keep tensors, by the meshes that act as one, with the spreads of those dims that `spread` lets."""
    found: dict[object, list[Kept]] = {}
    for chosen in kept:
        found.setdefault(places.merged(chosen), []).append(chosen)
    return [Family(members, ways, places, spread) for members in found.values()]


def last_kept(kept: Kept) -> int:
    """The set of tensors that the last memory before the outermost keeps."""
    return sum(1 << t for t, chain in enumerate(kept) if chain[-1])
