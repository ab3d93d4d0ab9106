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
    The `layout` (4, D) of tiles `child` (D,) is looked at once it is asked for a tensor, which is then `seen` (T,).
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
    layout: Ints
    child: Ints
    seen: Ints
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
        np.zeros((4, dims), np.int64),
        np.zeros(dims, np.int64),
        np.zeros(tensors, np.int64),
        np.zeros((3, axes), np.int64),
        np.zeros(dims, np.int64),
        np.zeros(4 * children, np.int64),
        np.zeros(4 * children, np.int64),
    )


@bare_entry
def place_and_group(links: Links, model: Model, child: Ints, layout: Ints, width: int) -> None:
    """`place`, and the number of `groups` of active tensors, which no order of the layout changes."""
    place(links, model, child, layout, width)
    for t in range(model.axis.shape[0]):
        if links.active[t]:
            _look_around(links, model, t)


@bare
def place(links: Links, model: Model, child: Ints, layout: Ints, width: int) -> None:
    """Set up the children of tile `child` spread as `layout` (4, D): factors along X, their order, the same for Y."""
    columns, size = 1, 1
    for d in range(layout.shape[1]):
        columns *= layout[0, d]
        size *= layout[0, d] * layout[2, d]
        links.child[d] = child[d]
        for kind in range(4):
            links.layout[kind, d] = layout[kind, d]
    links.shape[0], links.shape[1], links.shape[2] = size, max(width, columns), columns
    for t in range(model.axis.shape[0]):
        links.known[t], links.seen[t] = 0, 0
        for a in range(links.span.shape[1]):
            links.span[t, a] = 0
        for d in range(child.shape[0]):
            if model.axis[t, d] >= 0:
                most = layout[0, d] * layout[2, d] - 1
                links.span[t, model.axis[t, d]] += most * model.step[t, d] * child[d]


@bare
def _look_around(links: Links, model: Model, t: int) -> None:
    """Where tensor `t`'s children are, and which of them are a group; done when it is first asked for."""
    if not links.seen[t]:
        links.seen[t] = 1
        _offsets(links, model, t)
        _label(links, t, links.shape[0])


@part
def _offsets(links: Links, model: Model, t: int) -> None:
    offset, stride, layout = links.offset[t], links.stride, links.layout
    for a in range(offset.shape[1]):
        offset[0, a] = 0
    for d in range(stride.shape[0]):
        stride[d] = links.child[d]
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
def deliver(links: Links, model: Model, t: int, step: Ints) -> tuple[int, int, int]:
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
    _look_around(links, model, t)
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
    size, width, offset = links.shape[0], links.shape[1], links.offset[t]
    for group in range(links.groups[t]):
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
        elif links.mark[links.label[t, p]] == 0:
            links.mark[links.label[t, p]] = 1
            groups += 1
        column = column + 1 if column + 1 < width else 0
    if fed == 0 or groups >= links.groups[t]:
        return links.groups[t], size, 0
    return groups, size - fed, fed


@bare
def _apart(offset: Ints, p: int, q: int, step: Ints) -> bool:
    """Whether child `q` stands `step` (A,) beyond child `p`."""
    for a in range(step.shape[0]):
        if offset[q, a] != offset[p, a] + step[a]:
            return False
    return True
