"""Children of one memory on their mesh: who shares words, and who could take them from a neighbour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.compiled import compiled, inner
from .model import Ints, Model

REMEMBERED = 64
"""Steps whose deliveries are remembered, per tensor."""


class Links(NamedTuple):
    """The placement of up to P children, per tensor: offsets (T, P, A), labels of multicast groups (T, P).

    `active` (T,) tells for which tensors neighbours are looked at; `groups` (T,) holds for all.  `shape` is
    (children, decoded width, columns in use).  `steps`, `answers`, `known` remember (groups, served, linked) by step.
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


def new_links(tensors: int, axes: int, children: int) -> Links:
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
    )


@compiled
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


@inner
def _offsets(links: Links, model: Model, child: Ints, layout: Ints, t: int) -> None:
    offset = links.offset[t]
    offset[0, :] = 0
    count = 1
    stride = child.copy()
    for kind in range(0, 4, 2):
        for position in range(layout.shape[1]):
            d = layout[kind + 1, position]
            bound = layout[kind, d]
            if bound == 1:
                continue
            a = model.axis[t, d]
            for i in range(1, bound):
                for p in range(count):
                    offset[i * count + p] = offset[p]
                    if a >= 0:
                        offset[i * count + p, a] += i * model.step[t, d] * stride[d]
            count *= bound
            stride[d] *= bound
    for a in range(model.axes):
        links.span[t, a] = offset[:count, a].max()


@inner
def _label(links: Links, t: int, size: int) -> None:
    key = np.zeros(size, np.int64)
    for a in range(links.span.shape[1]):
        key = key * (links.span[t, a] + 1) + links.offset[t, :size, a]
    order = np.argsort(key)
    label = -1
    for i in range(size):
        if i == 0 or key[order[i]] != key[order[i - 1]]:
            label += 1
        links.label[t, order[i]] = label
    links.groups[t] = label + 1


@inner
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
        links.steps[t, i] = step
        links.answers[t, i, 0], links.answers[t, i, 1], links.answers[t, i, 2] = found
        links.known[t] += 1
    return found


@inner
def _deliver(links: Links, t: int, step: Ints) -> tuple[int, int, int]:
    size, width = links.shape[0], links.shape[1]
    links.mark[: links.groups[t]] = 0
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


@inner
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
