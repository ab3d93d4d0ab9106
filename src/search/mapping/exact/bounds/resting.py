"""Energy of tensors that rest in tiles of a memory, for all of its tiles."""

from collections.abc import Sequence

import numpy as np

from .....remembered import remembered
from ..space.model import PLAIN, Floats, Ints
from ..space.skeleton import passes_spread, price_of_help
from ..traffic.busy import busy_along
from ..tree.state import Skeleton
from .grids import Sizes
from .outcomes import Way
from .tables import EVERY, Boundary, Tables, along


def parts_of(sizes: Ints, parts: int, bound: int, busy: int) -> Ints:
    """The largest parts of tiles; those from a dimension's `bound` on cover it, and `busy` parts at least have work."""
    return np.maximum(1, np.where(sizes < bound, sizes // parts, np.maximum(-(-sizes // parts), largest(bound, busy))))


def largest(bound: int, busy: int) -> int:
    """The largest tile of a dimension of which `busy` at least have work."""
    return bound if busy == 1 else max(-(-bound // busy), (bound - 1) // (busy - 1))


class Terms:
    """Energy of tensors that rest in a tile of memory `level` until a loop further out moves them."""

    def __init__(
        self, tables: Tables, skeleton: Skeleton, level: int, tiles: tuple[Sizes, Sizes], most: Sequence[int]
    ) -> None:
        """`tiles` are the smallest and the largest of each cell; loops of the next memory lead to `most` times as many
        iterations as are in the smallest, at most."""
        self.tables, self.skeleton, self.level, self.most = tables, skeleton, level, most
        self.low, self.tile = tiles
        self.dims, self.last = tables.dims, len(skeleton.kept) - 1
        outside = skeleton.inside[-1] // skeleton.inside[min(level + 2, self.last + 1)]
        self.times = [self._times(d, sizes) for d, sizes in enumerate(self.low)]
        self.told = tables.told_apart(self.low, self.tile, self.times)
        self.free = sum(1 << d for d in range(self.dims) if outside[d] == 1)
        self._found: dict[tuple[object, ...], Floats] = {}

    def _times(self, d: int, low: Ints) -> Ints | int:
        """How many tiles side by side along `d` are a step, by cell.

        Where instances further out have all of it, that is as if they were those of the next memory: with a loop
        between, half of the outermost would have no work, a row or column at least, and fewer would do.
        """
        spread = self.skeleton.spread[self.level + 1 :, d]
        own = int(spread[0])
        if self.tables.model.perfect:
            return own
        every = int(spread.prod())
        return np.where(low * every >= self.tables.bounds[d], every, own)

    def energy(self, t: int, low: int, way: Way, ends: dict[int, Ints], *, whole: bool) -> Floats:
        """Energy of tensor `t` between memories from `low` to `level` and their parents.

        Its `way` are the loops in which it rests, to the bound or to tiles `ends` of this memory, the sliding loop that
        moves it, and `near` as in `Boundary`.  With `whole` the next loops are the outermost.
        """
        key = t, low, way, tuple(ends)
        if key not in self._found:
            run, first, near = way
            tile = list(self.tile)
            for d in range(self.dims):
                if run >> d & 1:
                    tile[d] = ends[d] if d in ends else np.full_like(tile[d], self.tables.bounds[d])
            total: Floats = np.zeros((1,) * self.dims)
            for memory in range(low, self.level + 1):
                if self.skeleton.kept[memory, t]:
                    total = total + self._between(t, memory, run, first, tile, whole, near)
            self._found[key] = total
        return self._found[key]

    def _between(self, t: int, memory: int, run: int, first: int, tile: list[Ints], whole: bool, near: int) -> Floats:
        """As `_settled`, which other skeletons may have asked for."""
        matter = self.tables.matter[t]
        ragged = int(self.tables.model.timeloop and run > 0) if self.tables.model.perfect else run
        key = (self._head(t, memory), first, whole, near, ragged, *(tile[d].tobytes() for d in matter))
        found = self.tables.known.get(key)
        if found is None:
            found = self._settled(t, memory, run, first, tile, whole, near)
            self.tables.known.put(key, found)
        return found

    @remembered
    def _head(self, t: int, memory: int) -> tuple[object, ...]:
        """What `_settled` reads of the skeleton."""
        skeleton, inside, matter = self.skeleton, self.skeleton.inside, self.tables.matter[t]
        parent = int(skeleton.parent[memory + 1, t])
        costs = (float(skeleton.owned[parent, t]), float(skeleton.owned[memory, t]), float(skeleton.least[memory, t]))
        own, others = inside[self.level + 1, matter], inside[[parent + 1, memory + 1]][:, matter]
        common = np.gcd(own, others)
        rows = [*(own // common), *(others // common)]
        if not self.tables.model.perfect:
            rows = [inside[self.level + 2], inside[memory + 1], np.array(self.most), *(self.low[d] for d in matter)]
            rows += [cells[d] for d in matter for cells in (self.told, self.times)]
        rows += [skeleton.spread[level, matter] for level in (self.level + 1, memory + 1)]
        loose = bool(passes_spread(self.tables.model, skeleton, t, memory, parent))
        boxes = loose, *skeleton.used[memory : memory + 2].tolist(), skeleton.gaps[memory + 1].tobytes()
        return t, memory, parent, self.free, *boxes, *costs, np.concatenate(rows).tobytes()

    def _settled(self, t: int, memory: int, run: int, first: int, tile: list[Ints], whole: bool, near: int) -> Floats:
        skeleton = self.skeleton
        parent = int(skeleton.parent[memory + 1, t])
        up, down = self._parts(tile, parent), self._parts(tile, memory)
        owned = float(skeleton.owned[parent, t]), float(skeleton.owned[memory, t])
        spread = skeleton.spread[self.level + 1]
        step = tuple(
            size * (spread[d] if run >> d & 1 else times)
            for d, (size, times) in enumerate(zip(tile, self.times, strict=True))
        )
        if self.tables.model.timeloop:
            box = Boundary(up, down, step, once=whole)
            energy = self._boxes(t, (memory, parent), box, first, alone=bool(run))
            return np.maximum(energy, skeleton.least[memory, t])
        there = 1.0 - self._ragged(t, memory, run, whole=whole)
        free = self.free if near < 0 else EVERY  # a set of the next loops alone knows nothing of others
        least = self._least(memory)
        boxes = [Boundary(size, down, step, self.told, least, free=free, once=whole, near=near) for size in (up, down)]
        words = [self.tables.sent(t, box, first, loops=not whole) * there for box in boxes]
        energy = self.tables.settled(t, memory, parent, words[0], words[1], owned)
        return np.maximum(energy, skeleton.least[memory, t])

    def _boxes(self, t: int, ends: tuple[int, int], box: Boundary, first: int, *, alone: bool) -> Floats:
        """As `settle.kill_boxes`, where `box` has all iterations of the first loop if it says `once`.

        Neighbours do not help a tensor that rests in other loops (`alone`).
        """
        tables, skeleton, (memory, parent) = self.tables, self.skeleton, ends
        if tables.model.windows[t] and any((low < high).any() for low, high in zip(self.low, self.tile, strict=True)):
            return np.zeros((1,) * self.dims)
        loose = bool(passes_spread(tables.model, skeleton, t, memory, parent))
        least = tables.model.least[t] if loose else tables.model.named[t]
        up = np.maximum(least, tables.sent(t, box._replace(loose=loose), first, loops=not box.once))
        down = tables.sent(t, box._replace(tile=box.child), first, loops=not box.once)
        owned = float(skeleton.owned[parent, t]), float(skeleton.owned[memory, t])
        energy = tables.settled(t, memory, parent, up, down, owned)
        spread, gaps = tuple(skeleton.spread[memory + 1].tolist()), skeleton.gaps[memory + 1].tobytes()
        share = tables.share_sent(t, box._replace(spread=spread, gaps=gaps), first)
        if alone or (share == 1.0).all():
            return energy
        sure = np.minimum(up, tables.surely(t, box._replace(loose=loose)))
        sure = sure if loose else sure + (up - sure) * share
        sure = np.minimum(up, np.maximum(least, sure))
        down = np.maximum(0.0, down * (sure / up if skeleton.used[memory + 1] > 1 else 1.0) - skeleton.used[memory])
        less = tables.settled(t, memory, parent, sure, down, owned)
        less = less + (up - sure) * price_of_help(tables.model, skeleton, t, memory, parent)
        return np.where(share < 1.0, np.minimum(energy, less), energy)

    def _least(self, memory: int) -> Sizes:
        """The smallest tiles of a memory whose instances make up tiles of this one; imperfect factors."""
        if self.tables.model.perfect:
            return ()
        inside, own = self.skeleton.inside[memory + 1], self.skeleton.inside[self.level + 1]
        return tuple(np.maximum(1, size * int(n) // int(m)) for size, n, m in zip(self.low, inside, own, strict=True))

    def _parts(self, tile: list[Ints], memory: int) -> Sizes:
        """The largest tiles of a memory whose instances make up tiles of this one.

        As few instances may have work as `busy_along` says, where one of them takes more than its share of the bound.
        """
        inside, own, perfect = self.skeleton.inside, self.skeleton.inside[self.level + 1], self.tables.model.perfect
        found = list[Ints]()
        for d, (size, n) in enumerate(zip(tile, self.tables.bounds, strict=True)):
            inner = size * inside[memory + 1, d]
            parts = np.maximum(1, inner // own[d])
            if not perfect:
                whole = size >= n
                busy = busy_along(perfect, self.tables.model.halves, self.skeleton.spread, memory, d, self.last)
                most = np.maximum(-(-inner // own[d]), largest(n, busy))
                parts = np.where(whole, most, parts)
            found.append(parts)
        return tuple(found)

    def _ragged(self, t: int, memory: int, run: int, *, whole: bool) -> Floats | float:
        """Most of the words that ragged ends may leave in place, as a share: see `ragged.ragged_share`."""
        if self.tables.model.perfect:
            return 0.0
        most: Floats = np.zeros((1,) * self.dims)
        for d in range(self.dims):
            if self.tables.kind[t][d] == PLAIN and not run >> d & 1:
                most = np.maximum(most, along(self._resting_ends(d, memory, whole=whole), d, self.dims))
        return most

    @remembered
    def _resting_ends(self, d: int, memory: int, *, whole: bool) -> Floats:
        """The same by cell, for loops of dimension `d`.

        As many blocks are there for all sizes of a cell, as a rule, and most children are without work in the last of
        them where these are largest.
        """
        inside, n, spread = (self.skeleton.inside, self.tables.bounds[d], int(self.skeleton.spread[self.level + 1, d]))
        children = int(inside[self.level + 2, d] // inside[memory + 1, d])
        low, high = self.low[d] * spread, self.tile[d] * spread
        fewest, most = -(-n // high), -(-n // low)
        one = fewest == most  # as many blocks for all sizes of the cell
        busy = np.where(one, -(-(n - (fewest - 1) * high) * children // high), 1)
        idle = np.minimum(high, n) * (1.0 - busy / children) / n
        found = np.where((fewest <= 2) & (most >= 2), idle, 0.0)
        if not whole:
            loops = -(-self.most[d] // self.low[d])
            alone = np.where(one, np.maximum(n - (most - 1) * low, 0) / n, 1.0 / np.maximum(fewest, 3))
            idle = np.where(one, idle, (1.0 - 1.0 / children) / np.maximum(fewest - 1, 2))
            found = np.where((most > 2) & (loops > 1), np.maximum(found, np.maximum(alone, idle)), found)
        return found
