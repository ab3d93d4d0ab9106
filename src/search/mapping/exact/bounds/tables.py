"""Words and energy of tensors for all tiles of a grid at once.

The words that cross a boundary are a product of factors, one per dimension or window, so tables of few cells each are
made and multiplied: arrays have one axis per dimension, of length 1 where the dimension does not matter.

Statements 11 and 17 of docs/exact-mapper.md.
"""

from collections.abc import Sequence
from math import inf, prod
from typing import NamedTuple

import numpy as np

from .....costs.compiled import compiled
from .....remembered import Store, remembered
from ..space.model import EVERY, PLAIN, UNRELATED, WINDOW, Bools, Floats, Ints, Model
from ..traffic.boxes import along_boxes, box_along, boxes_along, plain_words, share_sent
from ..traffic.ragged import fixed_sizes
from ..traffic.window_reuse import Others, left
from ..traffic.windows import Transfer, extent, overlap, tiles_in, together
from ..traffic.words import along_window, settle
from .grids import Sizes

MAX_KNOWN = 1 << 22
"""Cells of tables that are kept for other skeletons."""

TRIALS = 256
"""Sizes that are tried for room at once."""

SIZE, SHARE, POSITIONS, SLID, KEPT, SURE, PARENT = range(7)
"""Columns of `window_rows`."""


ANY = Others(inf, inf, 1.0)
"""Nothing is known of loops of other dimensions."""

COUNTS, SHARES = (1.0, 3.0, 8.0, inf), (0.0, 0.75, 0.9375, 1.0)
"""What is told apart of such loops."""


class Boundary(NamedTuple):
    """Sizes by dimension of the tiles that a parent sees (`tile`), of the child's own (`child`), and the iterations per
    step of the loops outside (`step`); `free` and `once` as for `words.sent`.

    The child's sizes stand for all from `least` on (or themselves) where instances are side by side along a dimension,
    for all that lead to as many steps elsewhere.  Sizes that are not `told` apart (0, not 1) stand for smaller ones,
    too, that do not lead to as many steps; without any all are.  Where loops of a plain dimension of the tensor come
    after those of the set `near`, all others find nothing there.  In Timeloop's model boxes may be `loose`, see
    `boxes.boxes_along`, and children are `spread` where that is known, with `gaps` as in a `Skeleton`.
    """

    tile: Sizes
    child: Sizes
    step: Sizes
    told: Sizes = ()
    least: Sizes = ()
    free: int = 0
    once: bool = False
    near: int = EVERY
    loose: bool = False
    spread: tuple[int, ...] = ()
    gaps: bytes = b""

    def key(self, dims: Sequence[int]) -> tuple[object, ...]:
        """What tells it from others, as far as some dimensions go."""
        known = (sizes for sizes in self[:5] if sizes)
        own = (sizes[d].tobytes() for sizes in known for d in dims)
        return bool(self.told), bool(self.least), *self[5:], *own


class Transfers(NamedTuple):
    """N of `windows.Transfer`: `sizes` (5, N, D) of a `Boundary`, in its order, and `bound` (N,).

    Children are `spread` (D,), or (0,) if that is not known, with `gaps` (G, D) as in a `Skeleton`.
    """

    sizes: Ints
    bound: Ints
    first: int
    free: int
    near: int
    once: bool
    loose: bool
    spread: Ints
    gaps: Ints


@compiled
def window_rows(model: Model, t: int, w: int, rows: Transfers, others: Others, out: Floats) -> None:
    """Fill rows of `out` (N, 7) for window `w` of tensor `t`.

    Where the first loop may have any number of blocks, only KEPT tells what it finds.  Where sizes are not told apart,
    children of smaller ones may leave gaps, in which others have theirs: all that is known is that each element is sent
    once, but for those that children hold, which may be there when the first loop begins again.  In Timeloop's model
    SIZE and SHARE count all steps, SURE what comes however neighbours help, and PARENT is `share_sent`.
    """
    first = rows.first
    for n in range(out.shape[0]):
        tile, child, step, mixed = rows.sizes[0, n], rows.sizes[1, n], rows.sizes[2, n], 0
        fixed = fixed_sizes(child, step, rows.free)
        for d in range(tile.shape[0]):
            mixed |= (1 - rows.sizes[3, n, d]) << d
        free = rows.free & ~mixed
        box = Transfer(tile, child, step, rows.sizes[4, n], first, rows.bound[n], free, rows.near, rows.once)
        out[n, SIZE] = together(model, t, w, tile, step)
        if model.timeloop:
            out[n, SHARE] = along_boxes(model, t, w, box, rows.loose) / out[n, SIZE]
            out[n, SURE] = boxes_along(model, t, w, tile, child, rows.loose) * box_along(model, t, w, child)
            known = rows.spread.shape[0] > 0
            out[n, PARENT] = share_sent(model, t, box, rows.spread, rows.gaps, np.inf) if known else 1.0
            continue
        out[n, SLID] = left(model, t, w, box, out[n, SIZE])
        if first >= 0 and model.window[t, first] == w and mixed > 0:
            every, held = out[n, SIZE] * tiles_in(model, t, w, tile, False), float(overlap(model, t, w, child, 0, True))
            for d in range(tile.shape[0]):
                held *= -(-step[d] // child[d]) if model.window[t, d] == w else 1
            out[n, SIZE], out[n, SHARE] = min(every, extent(model, t, w, model.bounds)), 1.0
            out[n, POSITIONS], out[n, KEPT] = 1.0, held
            continue
        found = along_window(model, t, w, box, fixed, others)
        out[n, SIZE], out[n, SHARE], out[n, POSITIONS], out[n, KEPT] = found


@compiled
def settle_rows(
    model: Model, t: int, level: int, parent: int, up: Floats, down: Floats, owned: tuple[float, float]
) -> Floats:
    """Energy (N,) where `up` words (N,) leave `parent` and `down` (N,) reach `level`."""
    found = np.empty(up.shape[0])
    words = np.zeros((model.capacity.shape[0], 2))
    for n in range(found.shape[0]):
        found[n] = settle(model, t, level, parent, (up[n], down[n]), owned, words)
    return found


def along(values: Floats | Ints | Bools, d: int, dims: int) -> Floats:
    """Values of one dimension as an array with an axis per dimension."""
    return np.asarray(values, np.float64).reshape([-1 if e == d else 1 for e in range(dims)])


class Tables:
    """Tables of one problem's tensors; windows are kept for the next grid with the same tiles.

    `matter` are the dimensions whose tiles change the words of a tensor; what passes between memories is `known`.
    Loops along those of the set `unrelated` leave it alone.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kind: list[list[int]] = model.kind.tolist()
        self.window: list[list[int]] = model.window.tolist()
        self.bounds: list[int] = model.bounds.tolist()
        self.dims = len(self.bounds)
        self.slides: Bools = (model.kind == WINDOW).any(axis=0)
        self._rows: dict[tuple[object, ...], Floats] = {}
        self.matter = [[d for d, kind in enumerate(row) if kind != PLAIN or not model.perfect] for row in self.kind]
        self.unrelated = [sum(1 << d for d, kind in enumerate(row) if kind == UNRELATED) for row in self.kind]
        self.known: Store[np.float64] = Store(MAX_KNOWN)

    def size(self, t: int, sizes: Sizes, blocks: Sizes | None = None) -> Floats:
        """Elements of tensor `t` in tiles; at least, if these are of `blocks` that may lie apart."""
        total = np.ones((1,) * self.dims)
        for d, kind in enumerate(self.kind[t]):
            if kind == PLAIN:
                total = total * along(np.minimum(sizes[d], self.bounds[d]), d, self.dims)
        box = Boundary(sizes, blocks or sizes, blocks or sizes)
        for w in range(int(self.model.windows[t])):
            total = total * self._window(t, w, box)[..., SIZE]
        return total

    def fit(self, kept: int, level: int, sizes: Sizes, instances: int = 1) -> Bools:
        """Whether tiles of the tensors `kept` fit in so many instances of a memory together."""
        used = np.zeros((1,) * self.dims)
        for t in range(len(self.kind)):
            if kept >> t & 1:
                used = used + self.size(t, sizes) * self.model.weight[level, t]
        return used <= self.model.capacity[level] * instances * (1 + 1e-12)

    @remembered
    def most(self, kept: int, level: int, begin: tuple[int, ...], instances: int = 1) -> list[int]:
        """By dimension the largest multiple of `begin` that fits with that elsewhere; the bound where none is full."""
        found = list[int]()
        for d, (b, bound) in enumerate(zip(begin, self.bounds, strict=True)):
            fits, last = 0, -(-bound // b)
            while fits < last:
                times = np.unique(np.linspace(fits + 1, last, TRIALS).astype(np.int64))
                sizes = tuple(times * b if e == d else np.array([n]) for e, n in enumerate(begin))
                room = np.broadcast_to(self.fit(kept, level, sizes, instances).reshape(-1), times.shape)
                count = int(np.count_nonzero(room))
                fits = int(times[count - 1]) if count else fits
                last = int(times[count]) - 1 if count < len(times) else last
            found.append(min(max(1, fits) * b, bound))
        return found

    def told_apart(self, least: Sizes, most: Sizes, times: Sequence[Ints | int]) -> Sizes:
        """Whether as many steps of so many tiles cover a bound for all tiles of a cell, 1 or 0; () if factors are
        perfect, as they do always.

        Those are from `least` to `most`.
        """
        if self.model.perfect:
            return ()
        cells = zip(self.bounds, least, most, times, strict=True)
        told = (-(-n // (low * count)) == -(-n // (high * count)) for n, low, high, count in cells)
        return tuple(np.asarray(same, np.int64) for same in told)

    def settled(self, t: int, level: int, parent: int, up: Floats, down: Floats, owned: tuple[float, float]) -> Floats:
        """Energy between memories, for words as `sent` answers; `owned` by parent and child."""
        up, down = np.broadcast_arrays(up, down)
        rows = np.ascontiguousarray(up).reshape(-1), np.ascontiguousarray(down).reshape(-1)
        return settle_rows(self.model, t, level, parent, *rows, owned).reshape(up.shape)

    def sent(self, t: int, box: Boundary, first: int, *, loops: bool) -> Floats:
        """Words of tensor `t` that are sent to all tiles, as `words.sent` counts them, at least.

        The sliding loop `first` has all iterations that are left; or, where `loops`, any number, and what it falls back
        to is all there.
        """
        key = t, first, loops, *box.key(self.matter[t])
        found = self.known.get(key)
        if found is None:
            found = self._sent(t, box, first, loops=loops)
            self.known.put(key, found)
        return found

    def _sent(self, t: int, box: Boundary, first: int, *, loops: bool) -> Floats:
        plain = prod(n for n, k in zip(self.bounds, self.kind[t], strict=True) if k == PLAIN)
        total = np.full((1,) * self.dims, float(plain))
        for d, kind in enumerate(self.kind[t]):
            if kind == UNRELATED:
                total = total * along(-(-self.bounds[d] // box.tile[d]), d, self.dims)
        for w in range(int(self.model.windows[t])):
            mine = first if first >= 0 and self.window[t][first] == w else -1
            total = total * self._along(t, w, box, mine, loops=loops)
        return total

    def surely(self, t: int, box: Boundary) -> Floats:
        """`boxes.surely_sent` by cell."""
        total = np.full((1,) * self.dims, float(plain_words(self.model, t, self.model.bounds)))
        for w in range(int(self.model.windows[t])):
            total = total * self._window(t, w, box)[..., SURE]
        return total

    def share_sent(self, t: int, box: Boundary, first: int) -> Floats:
        """`boxes.share_sent` by cell, where children are spread."""
        if first < 0 or self.window[t][first] < 0:
            return np.ones((1,) * self.dims)
        if max(n for n, w in zip(box.spread, self.window[t], strict=True) if w >= 0) == 1:
            return np.ones((1,) * self.dims)
        return self._window(t, self.window[t][first], box, first, loops=not box.once)[..., PARENT]

    def _along(self, t: int, w: int, box: Boundary, first: int, *, loops: bool) -> Floats:
        """Words along a window; the loop `first` of it, if any, comes next.

        With perfect factors what loops of other dimensions leave is rounded up to few kinds; else nothing is known of
        them.
        """
        if first < 0:
            return _fresh(self._window(t, w, box))
        if self.model.timeloop or not self.model.perfect:
            return _fresh(self._window(t, w, box, first, loops=loops))
        unrelated, beside = (np.ones((1,) * self.dims) for _ in range(2))
        for d, kind in enumerate(self.kind[t]):
            if box.near >> d & 1 and kind == UNRELATED:
                unrelated = unrelated * along(-(-self.bounds[d] // box.tile[d]), d, self.dims)
            elif box.near >> d & 1 and self.window[t][d] not in (-1, w):
                beside = beside * along(-(-self.bounds[d] // box.step[d]), d, self.dims)
        counts = np.searchsorted(COUNTS, unrelated) + 4 * np.searchsorted(COUNTS, beside)
        which = counts + 16 * np.searchsorted(SHARES, self._shared(t, w, box))
        found: Floats = np.zeros((1,) * self.dims)
        for kind in np.unique(which).tolist():
            others = Others(COUNTS[kind % 4], COUNTS[kind // 4 % 4], SHARES[kind // 16])
            found = np.where(which == kind, _fresh(self._window(t, w, box, first, others, loops=loops)), found)
        return found

    def _shared(self, t: int, w: int, box: Boundary) -> Floats:
        """The most that loops of other windows leave of these, as a share: 0 where there are no such loops."""
        found: Floats = np.zeros((1,) * self.dims)
        for other in range(int(self.model.windows[t])):
            if other != w:
                rows = self._window(t, other, box)
                found = np.maximum(found, np.minimum(rows[..., SIZE], rows[..., SLID]) / rows[..., SIZE])
        return found

    def _window(
        self, t: int, w: int, box: Boundary, first: int = -1, others: Others = ANY, *, loops: bool = False
    ) -> Floats:
        """`window_rows` by cells of the window's dimensions; the loop `first` has all iterations that are left, or,
        with `loops`, any number."""
        mine = [d for d in range(self.dims) if self.window[t][d] == w]
        key = t, w, first, others, loops, *box.key(mine)
        if key not in self._rows:
            shape = [len(box.tile[d]) for d in mine]
            places = np.indices(shape).reshape(len(mine), -1)
            boxes = np.ones((5, places.shape[1], self.dims), np.int64)
            for filled, sizes in zip(boxes, (*box[:4], box.least or box.child), strict=True):
                for d, place in zip(mine, places, strict=True) if sizes else ():
                    filled[:, d] = sizes[d][place]
            out, blocks = np.zeros((places.shape[1], 7)), np.full(places.shape[1], 0 if loops else 1, np.int64)
            if first >= 0 and not loops:
                blocks = -(-self.bounds[first] // boxes[2, :, first])
            gaps = np.frombuffer(box.gaps, np.int64).reshape(-1, self.dims).copy()
            known = first, box.free, box.near, box.once, box.loose, np.array(box.spread, np.int64), gaps
            window_rows(self.model, t, w, Transfers(boxes, blocks, *known), others, out)
            full = [len(box.tile[d]) if d in mine else 1 for d in range(self.dims)]
            self._rows[key] = out.reshape([*full, 7])
        return self._rows[key]


def _fresh(rows: Floats) -> Floats:
    """Words along a window that are not there already."""
    size, share, positions, kept = (rows[..., column] for column in (SIZE, SHARE, POSITIONS, KEPT))
    return np.maximum(np.maximum(0.0, size - positions * kept) * share, 1.0)
