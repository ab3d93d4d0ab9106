"""Children of one memory on their mesh: who shares words, and who could take them from a neighbour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.exact.compiled import bare, bare_entry, part
from .model import Ints, Model
from .numbered import clear, place_of

REMEMBERED = 64
"""Steps whose deliveries are remembered, per tensor."""


class Links(NamedTuple):
    """The placement of up to P children, per tensor: offsets (T, P, A), labels of multicast groups (T, P).

    `active` (T,) tells for which tensors neighbours are looked at; `groups` (T,) holds for all.  `shape` is
    (children, decoded width, columns in use).  `steps`, `answers`, `known` remember (groups, served, linked) by step.
    `moves` (3, A), `stride` (D,), `keys` and `labels` are for intermediate results.
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
    moves: Ints
    stride: Ints
    keys: Ints
    labels: Ints


def new_links(tensors: int, dims: int, axes: int, children: int) -> Links:
    """Room for placements of at most `children` children."""
    return Links(
        np.zeros((tensors, children, axes), np.int64),
        np.zeros((tensors, children), np.int64),
        np.ones(tensors, np.int64),
        np.zeros((tensors, axes), np.int64),
        np.zeros(tensors, np.int64),
        np.ones(3, np.int64),
        np.zeros(children + 1, np.int64),
        np.zeros((tensors, REMEMBERED, axes), np.int64),
        np.zeros((tensors, REMEMBERED, 3), np.int64),
        np.zeros(tensors, np.int64),
        np.zeros((3, axes), np.int64),
        np.zeros(dims, np.int64),
        np.zeros(2 * children + 1, np.int64),
        np.zeros(2 * children + 1, np.int64),
    )


@bare_entry
def place(links: Links, model: Model, child: Ints, layout: Ints, width: int) -> None:
    """Set up the children of tile `child` spread as `layout` (4, D): factors along X, their order, the same for Y."""
    columns, size = 1, 1
    for d in range(layout.shape[1]):
        columns *= layout[0, d]
        size *= layout[0, d] * layout[2, d]
    links.shape[0], links.shape[1], links.shape[2] = size, max(width, columns), columns
    for t in range(model.axis.shape[0]):
        links.known[t] = 0
        if links.active[t]:
            _offsets(links, model, child, layout, t)
            _label(links, t, size)


@part
def _offsets(links: Links, model: Model, child: Ints, layout: Ints, t: int) -> None:
    offset, span, stride = links.offset[t], links.span[t], links.stride
    for a in range(span.shape[0]):
        offset[0, a], span[a] = 0, 0
    for d in range(child.shape[0]):
        stride[d] = child[d]
    count = 1
    for kind in range(0, 4, 2):
        for position in range(layout.shape[1]):
            d = layout[kind + 1, position]
            bound = layout[kind, d]
            for a in range(span.shape[0]):
                move = model.step[t, d] * stride[d] if a == model.axis[t, d] else 0
                for p in range(count, count * bound):
                    offset[p, a] = offset[p % count, a] + p // count * move
                span[a] += (bound - 1) * move
            count *= bound
            stride[d] *= bound


@part
def _label(links: Links, t: int, size: int) -> None:
    """Number the children's offsets: equal ones are one group."""
    places = clear(links.keys, size)
    label = 0
    for p in range(size):
        key = 0
        for a in range(links.span.shape[1]):
            key = key * (links.span[t, a] + 1) + links.offset[t, p, a]
        i = place_of(links.keys, places, key)
        if links.keys[i] < 0:
            links.keys[i], links.labels[i] = key, label
            label += 1
        links.label[t, p] = links.labels[i]
    links.groups[t] = label


@bare
def deliver(links: Links, t: int, step: Ints) -> tuple[int, int, int]:
    """Groups that the parent serves, children in them, and children served by neighbours, for a visit of `step`."""
    groups, size = links.groups[t], links.shape[0]
    for a in range(step.shape[0]):
        if abs(step[a]) > links.span[t, a]:
            return groups, size, 0
    for i in range(links.known[t]):
        same = True
        for a in range(step.shape[0]):
            same = same and links.steps[t, i, a] == step[a]
        if same:
            return links.answers[t, i, 0], links.answers[t, i, 1], links.answers[t, i, 2]
    found = _deliver(links, t, step)
    if links.known[t] < REMEMBERED:
        i = links.known[t]
        for a in range(step.shape[0]):
            links.steps[t, i, a] = step[a]
        links.answers[t, i, 0], links.answers[t, i, 1], links.answers[t, i, 2] = found
        links.known[t] += 1
    return found


@part
def _deliver(links: Links, t: int, step: Ints) -> tuple[int, int, int]:
    size, width = links.shape[0], links.shape[1]
    for group in range(links.groups[t]):
        links.mark[group] = 0
    groups, fed = 0, 0
    for p in range(size):
        if _served(links, t, step, p, size, width):
            fed += 1
        elif links.mark[links.label[t, p]] == 0:
            links.mark[links.label[t, p]] = 1
            groups += 1
    if fed == 0 or groups >= links.groups[t]:
        return links.groups[t], size, 0
    return groups, size - fed, fed


@part
def _served(links: Links, t: int, step: Ints, p: int, size: int, width: int) -> bool:
    column = p % width
    for side in range(4):
        q = p + (1 if side == 0 else -1 if side == 1 else width if side == 2 else -width)
        if q < 0 or q >= size or (side == 0 and column + 1 >= width) or (side == 1 and column == 0):
            continue
        same = True
        for a in range(step.shape[0]):
            same = same and links.offset[t, q, a] == links.offset[t, p, a] + step[a]
        if same:
            return True
    return False
