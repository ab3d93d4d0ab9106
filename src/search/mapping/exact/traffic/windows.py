"""Elements of sliding windows: of a tile, and what it shares with itself elsewhere."""

from typing import NamedTuple

from .....costs.compiled import bare
from .....costs.sums import distinct2, shared_by
from ..space.model import Ints, Model


class Transfer(NamedTuple):
    """Tiles of a tensor on their way to children, by dimension, and the loops outside that move them.

    A parent sees a `tile` (D,), unrelated loops in which the tensor rests included; of each child's own `child` (D,) is
    the largest and `least` (D,) the smallest that counts; `step` (D,) are iterations per step of the loops outside.

    `first` is the loop that moves the tensor first if it is one of a window, else -1; it has `bound` blocks (0: any
    number).  No dimension of the set `free` is spread further out; with `once` none has another loop further out than
    those that come next.  Steps of dimensions that are not of the set `near` find nothing.
    """

    tile: Ints
    child: Ints
    step: Ints
    least: Ints
    first: int
    bound: int
    free: int
    near: int
    once: bool


@bare
def extent(model: Model, t: int, w: int, tile: Ints) -> int:
    """Elements of window `w` in a tile that is cut at the bounds (at least, where it has more than two terms)."""
    count, u, n, v, m, span = 0, 0, 1, 0, 1, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size = min(tile[d], model.bounds[d])
        span += size - 1
        if count == 0:
            u, n = model.coefficient[t, d], size
        else:
            v, m = model.coefficient[t, d], size
        count += 1
    return distinct2(u, n, v, m) if count == 2 else span


@bare
def together(model: Model, t: int, w: int, tile: Ints, block: Ints) -> int:
    """Elements of window `w` at least that a tile has if its `block`s may lie further apart than side by side.

    Blocks side by side share most where those of one dimension alone may lie apart and the others leave no gaps.  Sums
    of sets of n and of m integers have n + m - 1 values at least.
    """
    loose, scaled, span, scale = 0, 0, 1, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size = min(tile[d], model.bounds[d])
        span += size - 1
        scaled += 1 if size > 1 and model.coefficient[t, d] > 1 else 0
        if block[d] < size < model.bounds[d]:
            loose += 1
            scale = model.coefficient[t, d]
    least = extent(model, t, w, tile)
    apart_too = loose > 1 or (loose == 1 and scaled > (1 if scale > 1 else 0))
    return min(least, span) if apart_too else least


@bare
def overlap(model: Model, t: int, w: int, tile: Ints, shift: int, exact: bool) -> int:
    """Elements at most that window `w` of a tile shares with itself moved by `shift` (or by `shift` at least)."""
    count, u, n, v, m, span = 0, 1, 1, 1, 1, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size, c = min(tile[d], model.bounds[d]), model.coefficient[t, d]
        span += c * (size - 1)
        if size == 1:
            continue
        if count == 0:
            u, n = c, size
        else:
            v, m = c, size
        count += 1
    return shared_by(u, n, v, m, shift, exact) if count <= 2 else max(0, span - shift)


@bare
def present(model: Model, t: int, w: int, tile: Ints, child: Ints, shift: int, exact: bool) -> int:
    """Elements at most that all who need them have, where children move by `shift` (or by `shift` at least).

    Of children with contiguous elements the first that needs one is the last to have had it, so each child has some for
    all only as far as the one before it lies further away than `shift`.  Where tiles are cut off, fewer may need it.
    """
    children, rows, span = 1, 1, 1
    near, far, count, cut = 0, 0, 0, False
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size = min(child[d], model.bounds[d])
        others = -(-min(tile[d], model.bounds[d]) // size)
        cut = cut or min(tile[d], model.bounds[d]) % size > 0 or model.bounds[d] % min(tile[d], model.bounds[d]) > 0
        span += model.coefficient[t, d] * (size - 1)
        if others > 1:
            count += 1
            if count == 1:
                children, near = others, model.coefficient[t, d] * size
            else:
                rows, far = others, model.coefficient[t, d] * size
    each = overlap(model, t, w, child, shift, exact)
    if count == 0 or count > 2 or cut or extent(model, t, w, child) != span:
        return children * rows * each
    if count == 2 and far < near:
        children, near, rows, far = rows, far, children, near
    apart_rows = far - (children - 1) * near if far > (children - 1) * near else near
    found = each + (children - 1) * rows * max(0, min(span, near) - shift)
    return min(children * rows * each, found + (rows - 1) * max(0, min(span, apart_rows) - shift))


@bare
def tiles_in(model: Model, t: int, w: int, tile: Ints, whole: bool) -> float:
    """Tiles along window `w`: the last may be cut off, and count as a part unless they are taken as `whole`."""
    found = 1.0
    for d in range(tile.shape[0]):
        if model.window[t, d] == w:
            found *= -(-model.bounds[d] // tile[d]) if whole else model.bounds[d] / min(tile[d], model.bounds[d])
    return found


@bare
def alike(model: Model, d: int, size: int) -> tuple[int, int]:
    """The smallest and the largest size that a size of dimension `d` stands for: those that as many tiles cover."""
    if model.perfect or size >= model.bounds[d]:
        return size, size
    count = -(-model.bounds[d] // size)
    return -(-model.bounds[d] // count), -(-model.bounds[d] // (count - 1)) - 1
