"""Children of memories on their meshes: who shares words, and who could take them from a neighbour."""

from typing import NamedTuple

import numpy as np

from ...algebra.element import Bools, Ints
from ..exact.compiled import bare, compiled, part
from .batch_arrays import Model

SCATTER = 2654435761
"""2^32 divided by the golden ratio: numbers in even steps fall far apart (Knuth, TAOCP 3, section 6.4)."""

REMEMBERED = 64
"""Steps whose deliveries are remembered, per tensor."""


class Links(NamedTuple):
    """The placements of up to P children below each of L memories.

    By tensor there are offsets (L, T, P, A), labels of multicast groups (L, T, P), how many `groups` (L, T), and twice
    the `hops` (L, T) to all.  `active` (L, T) tells for which tensors neighbours are looked at.  `shape` (L, 3) is
    (children, decoded width, columns in use).  `steps`, `answers`, `known` remember `Delivery` by step.  The `layout`
    (L, 4, D) of
    tiles `child` (L, D) is looked at once it is asked for a tensor, which is then `seen` (L, T).  `mark`, `moves`
    (3, A), `stride` (D,), `keys` and `labels` are for intermediate results.
    """

    offset: Ints
    label: Ints
    groups: Ints
    span: Ints
    active: Ints
    shape: Ints
    mark: Ints
    steps: Ints
    answers: Ints
    known: Ints
    layout: Ints
    child: Ints
    seen: Ints
    moves: Ints
    stride: Ints
    keys: Ints
    labels: Ints
    hops: Ints


class Delivery(NamedTuple):
    """One visit: groups that the parent serves, children in them, children that neighbours serve, and twice the hops
    from the parent."""

    groups: int
    children: int
    passed: int
    hops: int


def new_links(levels: int, tensors: int, dims: int, axes: int, children: int) -> Links:
    """Room for placements of at most `children` children below each memory."""

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    by_tensor = levels, tensors
    return Links(
        zeros(*by_tensor, children, axes),
        zeros(*by_tensor, children),
        np.ones(by_tensor, np.int64),
        zeros(*by_tensor, axes),
        zeros(*by_tensor),
        np.ones((levels, 3), np.int64),
        zeros(children + 1),
        zeros(*by_tensor, REMEMBERED, axes),
        zeros(*by_tensor, REMEMBERED, 4),
        zeros(*by_tensor),
        zeros(levels, 4, dims),
        zeros(levels, dims),
        zeros(*by_tensor),
        zeros(3, axes),
        zeros(dims),
        zeros(4 * children),
        zeros(4 * children),
        zeros(*by_tensor),
    )


@bare
def place(links: Links, model: Model, level: int, child: Ints, layout: Ints) -> None:
    """Set up the children of tile `child` spread as `layout` (4, D): factors along X, their order, the same for Y."""
    columns, size = 1, 1
    for d in range(layout.shape[1]):
        columns *= layout[0, d]
        size *= layout[0, d] * layout[2, d]
        links.child[level, d] = child[d]
        for kind in range(4):
            links.layout[level, kind, d] = layout[kind, d]
    links.shape[level, 0], links.shape[level, 1], links.shape[level, 2] = (
        size,
        max(model.mesh[level, 0], columns),
        columns,
    )
    for t in range(model.axis.shape[0]):
        links.known[level, t], links.seen[level, t], links.hops[level, t] = 0, 0, 0
        for a in range(links.span.shape[2]):
            links.span[level, t, a] = 0
        for d in range(child.shape[0]):
            if model.axis[t, d] >= 0:
                most = layout[0, d] * layout[2, d] - 1
                links.span[level, t, model.axis[t, d]] += most * model.step[t, d] * child[d]


@bare
def is_placed(links: Links, level: int, child: Ints, layout: Ints) -> bool:
    """Whether `place` was last called with the same."""
    for d in range(child.shape[0]):
        if links.child[level, d] != child[d]:
            return False
        for kind in range(4):
            if links.layout[level, kind, d] != layout[kind, d]:
                return False
    return True


@bare
def look_around(links: Links, model: Model, level: int, t: int) -> None:
    """Where tensor `t`'s children are, and which of them are a group; done when it is first asked for."""
    if not links.seen[level, t]:
        links.seen[level, t] = 1
        _offsets(links, model, level, t)
        _label(links, level, t)
        for p in range(links.shape[level, 0]):
            links.labels[p] = 1
        links.hops[level, t] = _hops(links, model, level, t)


@part
def _offsets(links: Links, model: Model, level: int, t: int) -> None:
    offset, stride, layout = links.offset[level, t], links.stride, links.layout[level]
    for a in range(offset.shape[1]):
        offset[0, a] = 0
    for d in range(stride.shape[0]):
        stride[d] = links.child[level, d]
    count = 1
    for kind in range(0, 4, 2):
        for position in range(layout.shape[1]):
            d = layout[kind + 1, position]
            for a in range(offset.shape[1]):
                move = model.step[t, d] * stride[d] if a == model.axis[t, d] else 0
                for p in range(count, count * layout[kind, d]):
                    offset[p, a] = offset[p - count, a] + move
            count *= layout[kind, d]
            stride[d] *= layout[kind, d]


@part
def _label(links: Links, level: int, t: int) -> None:
    """Number the children's offsets: equal ones are one group."""
    places = clear(links.keys, links.shape[level, 0])
    label = 0
    for p in range(links.shape[level, 0]):
        key = 0
        for a in range(links.span.shape[2]):
            key = key * (links.span[level, t, a] + 1) + links.offset[level, t, p, a]
        i = place_of(links.keys, places, key)
        if links.keys[i] < 0:
            links.keys[i], links.labels[i] = key, label
            label += 1
        links.label[level, t, p] = links.labels[i]
    links.groups[level, t] = label


@bare
def clear(table: Ints, count: int) -> int:
    """Empty a hash table for `count` keys; returns the places that are used, a power of two below `4 * count`."""
    places = 1
    while places < 2 * count:
        places *= 2
    for i in range(places):
        table[i] = -1
    return places


@bare
def place_of(table: Ints, places: int, key: int) -> int:
    """Where `key`, which is not negative, stands in the table, or the empty place where it belongs."""
    place = (key * SCATTER >> 32) & (places - 1)
    while table[place] >= 0 and table[place] != key:
        place = (place + 1) & (places - 1)
    return place


@bare
def everybody(links: Links, level: int, t: int) -> Delivery:
    """A visit at which the parent serves all children."""
    return Delivery(links.groups[level, t], links.shape[level, 0], 0, links.hops[level, t])


@bare
def deliver(links: Links, model: Model, level: int, t: int, step: Ints) -> Delivery:
    """A visit of `step`, at which neighbours serve whom they can."""
    steps, answers = links.steps[level, t], links.answers[level, t]
    for a in range(step.shape[0]):
        if abs(step[a]) > links.span[level, t, a]:
            return everybody(links, level, t)
    for i in range(links.known[level, t]):
        same = True
        for a in range(step.shape[0]):
            same = same and steps[i, a] == step[a]
        if same:
            return Delivery(answers[i, 0], answers[i, 1], answers[i, 2], answers[i, 3])
    look_around(links, model, level, t)
    found = _deliver(links, model, level, t, step)
    if links.known[level, t] < REMEMBERED:
        i = links.known[level, t]
        for a in range(step.shape[0]):
            steps[i, a] = step[a]
        answers[i, 0], answers[i, 1], answers[i, 2], answers[i, 3] = found
        links.known[level, t] += 1
    return found


@part
def _deliver(links: Links, model: Model, level: int, t: int, step: Ints) -> Delivery:
    size, width, every = links.shape[level, 0], links.shape[level, 1], links.groups[level, t]
    offset, label = links.offset[level, t], links.label[level, t]
    for group in range(every):
        links.mark[group] = 0
    groups, fed, column = 0, 0, 0
    for p in range(size):
        links.labels[p] = 1
        if (
            (column + 1 < width and p + 1 < size and _apart(offset, p, p + 1, step))
            or (column > 0 and _apart(offset, p, p - 1, step))
            or (p + width < size and _apart(offset, p, p + width, step))
            or (p >= width and _apart(offset, p, p - width, step))
        ):
            fed += 1
            links.labels[p] = 0
        elif links.mark[label[p]] == 0:
            links.mark[label[p]] = 1
            groups += 1
        column = column + 1 if column + 1 < width else 0
    if fed == 0 or groups >= every:
        return everybody(links, level, t)
    return Delivery(groups, size - fed, fed, _hops(links, model, level, t))


@bare
def _hops(links: Links, model: Model, level: int, t: int) -> int:
    """Twice the hops to the children that `labels` mark: by group, along the middle row to the farthest column, and in
    each column up and down to the outermost rows."""
    size, width, every = links.shape[level, 0], links.shape[level, 1], links.groups[level, t]
    if size == 1 or model.hop_pj[level] == 0.0:
        return 0
    middle: int = model.mesh[level, 1] - 1  # twice the middle row
    total = 0
    last_column, below = links.keys[:every], links.keys[every : 2 * every]
    for group in range(every):
        links.mark[group], last_column[group] = 0, 0
    for column in range(min(width, size)):
        for row in range((size - column + width - 1) // width):
            p = row * width + column
            if links.labels[p] == 0:
                continue
            group, after = links.label[level, t, p], max(0, 2 * row - middle)
            if links.mark[group] == column + 1:
                total += after - int(below[group])
            else:
                total += max(0, middle - 2 * row) + after + 2 * (column - int(last_column[group]))
                links.mark[group], last_column[group] = column + 1, column
            below[group] = after
    return total


@bare
def _apart(offset: Ints, p: int, q: int, step: Ints) -> bool:
    """Whether child `q` stands `step` (A,) beyond child `p`."""
    for a in range(step.shape[0]):
        if offset[q, a] != offset[p, a] + step[a]:
            return False
    return True


@compiled
def tell_apart(placed: Ints, width: int, tells: Bools, found: Ints) -> bool:
    """Fill `found` (M, D) with how neighbours differ, or the opposite, along dimensions that count (`tells`); False if
    there are more.

    Placements `placed` (N, 4, D), factors along X and Y and their orders, are on a mesh of so many columns (`width`).
    Children are numbered by columns in use, and neighbours found by those of the mesh.
    """
    dims, count, last = tells.shape[0], 0, 0
    size = placed[0, 0].prod() * placed[0, 1].prod()
    place, gap, times = np.zeros((size, dims), np.int64), np.zeros(dims, np.int64), np.ones(dims, np.int64)
    for n in range(placed.shape[0]):
        many, times[:] = 1, 1
        for i in range(2 * dims):
            d = placed[n, 2 + i // dims, i % dims]
            factor = placed[n, i // dims, d]
            for p in range(many, many * factor):
                place[p] = place[p - many]
                place[p, d] += times[d]
            many *= factor
            times[d] *= factor
        for i in range(2 * size):
            p, step = i // 2, width if i % 2 else 1
            if p + step >= size or (i % 2 == 0 and p % width + 1 == width):
                continue
            first = 0
            for d in range(dims):
                gap[d] = place[p + step, d] - place[p, d] if tells[d] else 0
                first = first if first else gap[d]
            gap *= -1 if first < 0 else 1
            if first == 0 or (found[last] == gap).all():
                continue
            last = 0
            while last < count and not (found[last] == gap).all():
                last += 1
            if last == found.shape[0]:
                return False
            found[last] = gap
            count = max(count, last + 1)
    return True
