"""Which beginnings of a loop order matter.

Below a memory, a tensor's traffic depends on the order of the loops above only through the loops inside the first one
that moves the tensor and, for sliding windows, through that loop and those of the same axis that follow.  So a few
sequences of innermost loops stand for all permutations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....costs.timeloop.batch_arrays import Ints, Model

State = tuple[int, ...]
"""Per tensor: -1 not moved yet, -2 settled, else the axis along which it slides."""

UNMOVED, SETTLED = -1, -2


class Patterns(NamedTuple):
    """Sequences of innermost loops: `order` (N, D) is completed to a permutation, `length` (N,) loops of it matter.

    `group` (N,) numbers the sets of dimensions in use, `members` (G, D) tells them; `monotone` (N,) marks patterns
    whose traffic never grows with the bounds of their loops.
    """

    order: Ints
    length: Ints
    group: Ints
    members: NDArray[np.bool_]
    monotone: NDArray[np.bool_]


def patterns_of(model: Model) -> Patterns:
    """All patterns of a problem, the empty one first."""
    found: dict[tuple[object, ...], tuple[int, ...]] = {}
    tensors, dims = model.axis.shape
    _extend(model, (), (UNMOVED,) * tensors, found)
    sequences = list(found.values())
    groups: dict[frozenset[int], int] = {}
    for sequence in sequences:
        groups.setdefault(frozenset(sequence), len(groups))
    members = np.zeros((len(groups), dims), np.bool_)
    for group, number in groups.items():
        members[number, list(group)] = True
    return Patterns(
        np.array([[*s, *(d for d in range(dims) if d not in s)] for s in sequences], np.int64),
        np.array([len(s) for s in sequences], np.int64),
        np.array([groups[frozenset(s)] for s in sequences], np.int64),
        members,
        np.array([_monotone(model, s) for s in sequences], np.bool_),
    )


def cross_masks(model: Model) -> NDArray[np.bool_]:
    """Sets of dimensions (M, D): where only they loop at a memory, some tensor's run may go on at the next one."""
    masks: list[frozenset[int]] = []
    for t in range(model.axis.shape[0]):
        idle = frozenset(np.flatnonzero(model.axis[t] < 0).tolist())
        masks.append(idle)
        for axis in sorted(set(model.axis[t][model.slides[t]].tolist())):
            masks.append(idle | frozenset(np.flatnonzero(model.axis[t] == axis).tolist()))
    kept = [m for i, m in enumerate(masks) if not any(m < o or (m == o and j < i) for j, o in enumerate(masks))]
    found = np.zeros((len(kept), model.axis.shape[1]), np.bool_)
    for row, mask in enumerate(kept):
        found[row, sorted(mask)] = True
    return found


def _extend(
    model: Model, sequence: tuple[int, ...], state: State, found: dict[tuple[object, ...], tuple[int, ...]]
) -> None:
    signature = tuple(_signature(model, sequence, t) for t in range(len(state)))
    if (signature, frozenset(sequence)) in found:
        return
    found[signature, frozenset(sequence)] = sequence
    for d in range(model.axis.shape[1]):
        if d in sequence:
            continue
        if any(_helps(model, t, d, state[t]) for t in range(len(state))):
            after = tuple(_after(model, t, d, state[t]) for t in range(len(state)))
            _extend(model, (*sequence, d), after, found)


def _helps(model: Model, t: int, d: int, state: int) -> bool:
    axis = int(model.axis[t, d])
    if state == UNMOVED:
        return axis < 0 or bool(model.slides[t, d])
    return state != SETTLED and axis == state


def _after(model: Model, t: int, d: int, state: int) -> int:
    axis = int(model.axis[t, d])
    if axis < 0 or state == SETTLED:
        return state
    if state == UNMOVED:
        return axis if model.slides[t, d] else SETTLED
    return state if axis == state else SETTLED


def _signature(model: Model, sequence: tuple[int, ...], t: int) -> tuple[object, ...]:
    moving = next((i for i, d in enumerate(sequence) if model.axis[t, d] >= 0), len(sequence))
    run = frozenset(sequence[:moving])
    if moving == len(sequence) or not model.slides[t, sequence[moving]]:
        return run, moving < len(sequence)
    axis = model.axis[t, sequence[moving]]
    chain: list[int] = []
    for d in sequence[moving:]:
        if model.axis[t, d] >= 0 and model.axis[t, d] != axis:
            return run, tuple(chain), True
        chain.append(d)
    return run, tuple(chain), False


def _monotone(model: Model, sequence: tuple[int, ...]) -> bool:
    for t in range(model.axis.shape[0]):
        axes = [int(model.axis[t, d]) for d in sequence]
        moving = next((i for i, axis in enumerate(axes) if axis >= 0), len(axes))
        if any(axis < 0 for axis in axes[moving:]) and model.slides[t].any():
            return False
    return True
