"""A skeleton: which tensors memories keep, and the loops over their instances."""

import numpy as np

from .....costs.compiled import bare, bare_entry
from ..traffic.boxes import between, is_sum, plain_words, sent_boxes
from ..traffic.busy import full_children
from ..traffic.windows import Transfer
from ..traffic.words import sent, settle
from ..tree.state import Skeleton, add_words
from .model import EVERY, PLAIN, UNRELATED, WINDOW, Floats, Ints, Model

MOST_GAPS = 48
"""Ways in which neighbours may differ beyond which nothing is known of them."""


@bare
def spread_out(model: Model, t: int, inside: Ints, level: int) -> float:
    """Instances of memory `level` at most along dimensions that do not index tensor `t`, and those of windows."""
    last = inside.shape[0] - 1
    found = 1.0
    for d in range(inside.shape[1]):
        if model.kind[t, d] != PLAIN:
            found *= inside[last, d] // inside[level + 1, d]
    return found


@bare
def spread_least(model: Model, t: int, spread: Ints, level: int) -> float:
    """Instances of memory `level` at least that have work, along dimensions that do not index tensor `t`."""
    found = 1.0
    for d in range(spread.shape[1]):
        if model.kind[t, d] == UNRELATED:
            found *= needed_along(model, spread, level, d)
    return found


@bare
def needed_along(model: Model, spread: Ints, level: int, d: int) -> int:
    """Instances of memory `level` along dimension `d` that have work, at least, where none is there for nothing."""
    busy, full = 1, 1
    for k in range(level + 1, spread.shape[0]):
        if spread[k, d] > 1:
            if model.perfect:
                busy = full * spread[k, d]
            else:
                busy = full * full_children(spread[k, d], model.halves[k] and not in_rows(model, spread, k)) + 1
            full *= spread[k, d]
    return busy


@bare
def in_rows(model: Model, spread: Ints, level: int) -> bool:
    """Whether each dimension's children of a memory can lie along one axis.

    Then children that never have work can as well be left away: a smaller factor is another skeleton's.
    """
    dims = spread.shape[1]
    for chosen in range(1 << dims):
        columns, rows = 1, 1
        for d in range(dims):
            if (chosen >> d) & 1:
                columns *= spread[level, d]
                if spread[level, d] == 1:
                    columns = model.mesh[level, 0] + 1
            else:
                rows *= spread[level, d]
        if columns <= model.mesh[level, 0] and rows <= model.mesh[level, 1]:
            return True
    return False


@bare
def set_kept(skeleton: Skeleton) -> None:
    """Complete a skeleton's `held` and `within` from what is `kept`."""
    inside = 0
    for level in range(skeleton.kept.shape[0]):
        skeleton.held[level] = 0
        for t in range(skeleton.kept.shape[1]):
            skeleton.held[level] |= skeleton.kept[level, t] << t
        inside |= skeleton.held[level]
        skeleton.within[level] = inside


@bare
def set_spread(skeleton: Skeleton) -> None:
    """Complete a skeleton's `inside` and `used` from its `spread`."""
    levels, dims = skeleton.spread.shape
    skeleton.inside[0] = 1
    for level in range(levels):
        for d in range(dims):
            skeleton.inside[level + 1, d] = skeleton.inside[level, d] * skeleton.spread[level, d]
    for level in range(levels):
        used = 1
        for d in range(dims):
            used *= skeleton.inside[levels, d] // skeleton.inside[level + 1, d]
        skeleton.used[level] = used


@bare
def tensor_energy(model: Model, skeleton: Skeleton, t: int) -> float:
    """Complete a skeleton for tensor `t` as it is kept; the least energy that it takes between inner memories."""
    levels = skeleton.spread.shape[0]
    above = levels - 1
    for level in range(levels - 2, -2, -1):
        skeleton.parent[level + 1, t] = above
        if level >= 0 and skeleton.kept[level, t]:
            above = level
    for level in range(levels):
        skeleton.owned[level, t] = model.full[t] * spread_out(model, t, skeleton.inside, level)
    energy = 0.0
    for level in range(levels - 1):
        skeleton.least_words[level, t] = 0
        if skeleton.kept[level, t]:
            p = skeleton.parent[level + 1, t]
            up, distinct = model.least[t], model.least[t]
            if not passes_spread(model, skeleton, t, level, p):
                up = model.named[t]
            up *= spread_least(model, t, skeleton.spread, p)
            if model.timeloop and model.windows[t] > 0 and skeleton.used[level + 1] > 1:  # see `price_of_help`
                distinct = float(plain_words(model, t, model.bounds))
            down = distinct * spread_least(model, t, skeleton.spread, level)
            owned = skeleton.owned[p, t], skeleton.owned[level, t]
            words = skeleton.least_words[level, t]
            skeleton.least[level, t] = settle(model, t, level, p, (up, down), owned, words)
            energy += skeleton.least[level, t] if level < levels - 2 else 0.0
    return energy


@bare
def operand_energy(model: Model, skeleton: Skeleton, t: int, words: Floats) -> float:
    """Energy of the arithmetic's operand `t`; its words go to `words` (L, 2)."""
    p = skeleton.parent[0, t]
    tile = skeleton.inside[p + 1]
    words[:] = 0
    box = Transfer(tile, tile, skeleton.inside[1], tile, -1, 1, 0, EVERY, False)
    up = timeloop_operands(model, skeleton, t, box) if model.timeloop else sent(model, t, box, 0.0)
    found = settle(model, t, -1, p, (up, 0.0), (skeleton.owned[p, t], 0.0), words)
    return found + beside(model, skeleton, t, -1, p, up, 0.0) if model.timeloop else found


@bare
def beside(model: Model, skeleton: Skeleton, t: int, c: int, p: int, up: float, down: float) -> float:
    """Energy of the words that Timeloop reads and writes besides those of `settle`, as it counts whole blocks; 0 where
    neighbours of the parent may read some, too."""
    if model.windows[t] > 0 and skeleton.used[p] > 1:
        return 0.0
    reads, writes = up, 0.0
    if model.is_output[t]:
        reads, writes, down = max(0.0, up - skeleton.owned[p, t]), up, max(0.0, down - skeleton.owned[c, t])
    energy = unused(model, skeleton, p, reads) * model.read[p, t]
    energy += unused(model, skeleton, p, writes) * model.write[p, t]
    return float(energy + unused(model, skeleton, c, down) * model.write[c, t])


@bare
def unused(model: Model, skeleton: Skeleton, level: int, words: float) -> float:
    """What the last blocks of all instances of a memory have besides their `words`, each as many."""
    together = skeleton.used[level] * model.block[level]
    return max(0.0, float(np.ceil(words / together * (1 - 1e-12))) * together - words)


@bare
def timeloop_operands(model: Model, skeleton: Skeleton, t: int, box: Transfer) -> float:
    """Words that the parent sends for the arithmetic; units of one innermost memory may take them from each other."""
    for d in range(skeleton.spread.shape[1]):
        if skeleton.spread[0, d] > 1:
            return float(model.least[t])
    return sent_boxes(model, t, between(box, box.tile, skeleton.inside[0]), True)


@bare_entry
def passes_spread(model: Model, skeleton: Skeleton, t: int, level: int, parent: int) -> bool:
    """Whether terms of a sum are spread over memories further out than the next one, on the way from a parent."""
    for k in range(level + 2, parent + 1):
        for d in range(skeleton.spread.shape[1]):
            if skeleton.spread[k, d] > 1 and model.kind[t, d] == WINDOW:
                return True
    return False


@bare_entry
def price_of_help(model: Model, skeleton: Skeleton, t: int, level: int, parent: int) -> float:
    """Least energy of a word that comes from the parent or from neighbours, once for each child that needs it.

    Where several memories have such children, Timeloop counts what those of one of them pass on, for all together; so
    then this has the energy of writing it, too.
    """
    copies, families = 1.0, skeleton.used[level + 1]
    for d in range(skeleton.spread.shape[1]):
        if model.kind[t, d] == UNRELATED:
            copies *= skeleton.spread[level + 1, d]
    if model.is_output[t]:
        return 0.0
    from_parent, helped = model.read[parent, t], copies * model.read[level, t]
    if families > 1:
        from_parent += copies * model.write[level, t]
        helped = (helped + copies * model.write[level, t]) / families
    return float(min(from_parent, helped))


@bare
def counts_loops(model: Model, skeleton: Skeleton) -> bool:
    """Whether in Timeloop's model words depend on all loops.

    Neighbours may have words of a tensor that passes the memory where they are, units of one memory share some, or
    links take energy, also of what passes a memory.
    """
    if model.mesh[0, 0] == 0:
        return True
    for level in range(skeleton.spread.shape[0]):
        for d in range(skeleton.spread.shape[1]):
            if skeleton.spread[level, d] == 1:
                continue
            if level == 0:
                return True
            for t in range(model.kind.shape[0]):
                if not skeleton.kept[level - 1, t] and is_sum(model, t, d):
                    return True
    return False


@bare
def set_still(model: Model, skeleton: Skeleton) -> None:
    """Complete a skeleton's `still`: dimensions of none of the tensors that are kept further in.

    Their loops are as good in the innermost memory that keeps something: its tiles and those of memories between get
    larger, but for no tensor that they keep.  Tensors are moved as often, or less: they go through all other loops
    once, not again in each iteration.  Windows may find more in the order of before.  Where imperfect factors are
    spread over children between, other children may have less work than the others.
    """
    skeleton.still[:] = 0
    skeleton.loose[0] = 1 if model.timeloop and counts_loops(model, skeleton) else 0
    for d in range(skeleton.spread.shape[1]):
        for level in range(skeleton.kept.shape[0]):
            some = level > 0 and skeleton.within[level - 1] > 0
            if skeleton.loose[0] or (some and not may_cross(model, skeleton, level, d)):
                break
            if some:
                skeleton.still[level] |= 1 << d
            if moves_kept(model, skeleton, level, d):
                break


@bare
def moves_kept(model: Model, skeleton: Skeleton, level: int, d: int) -> bool:
    """Whether a memory keeps a tensor with windows, or one that loops of dimension `d` move."""
    return bool(skeleton.held[level] & (model.moved[d] | model.sliding))


@bare
def may_cross(model: Model, skeleton: Skeleton, level: int, d: int) -> bool:
    """Whether it is all the same to children's tiles on which side of the spatial loops of memory `level` a loop of
    dimension `d` runs."""
    return bool(skeleton.spread[level, d] == 1 or (model.perfect and model.slid[d] == 0))


@bare_entry
def fill(model: Model, skeleton: Skeleton) -> tuple[float, float]:
    """Complete a skeleton whose `kept` and `spread` are set.

    Returns the energy of the arithmetic with its operands, and with the least that passes between inner memories.
    """
    set_kept(skeleton)
    set_spread(skeleton)
    set_still(model, skeleton)
    skeleton.floor[:] = 0
    alone, all_inside = model.base, model.base
    for t in range(model.kind.shape[0]):
        inside = tensor_energy(model, skeleton, t)
        operands = operand_energy(model, skeleton, t, skeleton.operands[t])
        alone, all_inside = alone + operands, all_inside + inside + operands
        add_words(skeleton.floor, skeleton.operands[t], 1.0)
        for level in range(skeleton.spread.shape[0] - 1):
            if skeleton.kept[level, t]:
                add_words(skeleton.floor, skeleton.least_words[level, t], 1.0)
    return alone, all_inside


def new_skeleton(levels: int, dims: int, tensors: int) -> Skeleton:
    """Room for a skeleton."""
    shape = levels, tensors
    return Skeleton(
        np.zeros(shape, np.int64),
        np.zeros(levels, np.int64),
        np.zeros(levels, np.int64),
        np.ones((levels, dims), np.int64),
        np.ones((levels + 1, dims), np.int64),
        np.zeros((levels + 1, tensors), np.int64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros((levels, tensors, levels, 2)),
        np.zeros((tensors, levels, 2)),
        np.zeros((levels, 2)),
        np.ones(levels, np.int64),
        np.zeros(levels, np.int64),
        np.zeros(1, np.int64),
        np.zeros((levels, MOST_GAPS, dims), np.int64),
    )
