"""Children of memories on their meshes: who shares words, and who could take them from a neighbour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..exact.compiled import bare, bare_entry, part
from .batch_arrays import Ints, Model

SCATTER = 2654435761
"""2^32 divided by the golden ratio: numbers in even steps fall far apart (Knuth, TAOCP 3, section 6.4)."""

REMEMBERED = 64
"""Steps whose deliveries are remembered, per tensor."""


class Links(NamedTuple):
    """The placements of up to P children below each of L memories.

    By tensor there are offsets (L, T, P, A), labels of multicast groups (L, T, P), and how many `groups` (L, T).
    `active` (L, T) tells for which tensors neighbours are looked at.  `shape` (L, 3) is (children, decoded width,
    columns in use).  `steps`, `answers`, `known` remember (groups, served, linked) by step.  The `layout` (L, 4, D) of
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
        zeros(*by_tensor, REMEMBERED, 3),
        zeros(*by_tensor),
        zeros(levels, 4, dims),
        zeros(levels, dims),
        zeros(*by_tensor),
        zeros(3, axes),
        zeros(dims),
        zeros(4 * children),
        zeros(4 * children),
    )


@bare_entry
def place_and_group(links: Links, model: Model, level: int, child: Ints, layout: Ints) -> None:
    """`place`, and the number of `groups` of active tensors, which no order of the layout changes."""
    place(links, model, level, child, layout)
    for t in range(model.axis.shape[0]):
        if links.active[level, t]:
            look_around(links, model, level, t)


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
        links.known[level, t], links.seen[level, t] = 0, 0
        for a in range(links.span.shape[2]):
            links.span[level, t, a] = 0
        for d in range(child.shape[0]):
            if model.axis[t, d] >= 0:
                most = layout[0, d] * layout[2, d] - 1
                links.span[level, t, model.axis[t, d]] += most * model.step[t, d] * child[d]


@bare
def look_around(links: Links, model: Model, level: int, t: int) -> None:
    """Where tensor `t`'s children are, and which of them are a group; done when it is first asked for."""
    if not links.seen[level, t]:
        links.seen[level, t] = 1
        _offsets(links, model, level, t)
        _label(links, level, t)


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
def deliver(links: Links, model: Model, level: int, t: int, step: Ints) -> tuple[int, int, int]:
    """Groups that the parent serves, children in them, and children served by neighbours, for a visit of `step`."""
    steps, answers = links.steps[level, t], links.answers[level, t]
    for a in range(step.shape[0]):
        if abs(step[a]) > links.span[level, t, a]:
            return links.groups[level, t], links.shape[level, 0], 0
    for i in range(links.known[level, t]):
        same = True
        for a in range(step.shape[0]):
            same = same and steps[i, a] == step[a]
        if same:
            return answers[i, 0], answers[i, 1], answers[i, 2]
    look_around(links, model, level, t)
    found = _deliver(links, level, t, step)
    if links.known[level, t] < REMEMBERED:
        i = links.known[level, t]
        for a in range(step.shape[0]):
            steps[i, a] = step[a]
        answers[i, 0], answers[i, 1], answers[i, 2] = found
        links.known[level, t] += 1
    return found


@part
def _deliver(links: Links, level: int, t: int, step: Ints) -> tuple[int, int, int]:
    size, width, every = links.shape[level, 0], links.shape[level, 1], links.groups[level, t]
    offset, label = links.offset[level, t], links.label[level, t]
    for group in range(every):
        links.mark[group] = 0
    groups, fed, column = 0, 0, 0
    for p in range(size):
        if (
            (column + 1 < width and p + 1 < size and _apart(offset, p, p + 1, step))
            or (column > 0 and _apart(offset, p, p - 1, step))
            or (p + width < size and _apart(offset, p, p + width, step))
            or (p >= width and _apart(offset, p, p - width, step))
        ):
            fed += 1
        elif links.mark[label[p]] == 0:
            links.mark[label[p]] = 1
            groups += 1
        column = column + 1 if column + 1 < width else 0
    if fed == 0 or groups >= every:
        return every, size, 0
    return groups, size - fed, fed


@bare
def _apart(offset: Ints, p: int, q: int, step: Ints) -> bool:
    """Whether child `q` stands `step` (A,) beyond child `p`."""
    for a in range(step.shape[0]):
        if offset[q, a] != offset[p, a] + step[a]:
            return False
    return True
