"""What skeletons and partial mappings cost at least: energy not settled yet, cycles, and whether tiles fit."""

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, bare_entry, compiled, inner
from ...objective import value_of
from ..space.model import Floats, Ints, Model, one_way
from ..space.skeleton import fill
from ..space.ways import Ways
from ..traffic.busy import busy_along
from ..traffic.words import has_room, union_size
from ..tree.state import Best, Beyond, Leaves, Skeleton, State

SLACK = 1 - 1e-9
"""For rounding in sums."""


class Task(NamedTuple):
    """All that a walk reads, and where it writes; `objective` 0 energy times delay, 1 energy, 2 delay."""

    model: Model
    skeleton: Skeleton
    beyond: Beyond
    state: State
    best: Best
    leaves: Leaves
    objective: int
    base: float
    least_cycles: float
    latency: float
    timed: bool


@bare
def fits(task: Task, level: int, tile: Ints) -> bool:
    """Whether a tile of `level` leaves room in that memory and all outer ones."""
    model, skeleton = task.model, task.skeleton
    grown = task.state.room[0]
    for k in range(level, skeleton.kept.shape[0] - 1):
        if model.capacity[k] == np.inf:
            continue
        for d in range(tile.shape[0]):
            grown[d] = tile[d] * (skeleton.inside[k + 1, d] // skeleton.inside[level + 1, d])
        if not has_room(model, skeleton.kept[k], k, grown):
            return False
    return True


@bare
def compute_cycles(task: Task, level: int, tile: Ints) -> float:
    """Least steps of the first instance, for a tile of `level` (exact where no spatial loop is further out)."""
    model, skeleton = task.model, task.skeleton
    last = skeleton.inside.shape[0] - 1
    total = 1.0
    for d in range(tile.shape[0]):
        bound, below = model.bounds[d], skeleton.inside[level + 1, d]
        outside = skeleton.inside[last, d] // below
        own = tile[d] // below
        positions = -(-bound // (tile[d] * outside))
        rest = min(bound - (positions - 1) * tile[d] * outside, tile[d])
        total *= (positions - 1) * own + max(1, min(own, -(-rest // below)))
    return total


@bare
def port_cycles(model: Model, skeleton: Skeleton, words: Floats) -> float:
    """Least cycles that the memories' ports need for `words` (L, 2) read and written."""
    most = 0.0
    for level in range(words.shape[0]):
        read, write = words[level, 0] / skeleton.used[level], words[level, 1] / skeleton.used[level]
        most = max(most, read / model.bandwidth[level, 0], write / model.bandwidth[level, 1])
        most = max(most, (read + write) / model.bandwidth[level, 2])
    return most * (1 - 1e-12)


@bare
def first_words(model: Model, skeleton: Skeleton, t: int, own: int, tile: Ints, level: int, covered: Ints) -> float:
    """Elements at least of tensor `t` in the first tiles of memory `own` under one instance of `level`.

    Those have a `tile` (D,) each, or more; `covered` (D,) is room.
    """
    for d in range(covered.shape[0]):
        covered[d] = busy_along(model.perfect, model.halves, skeleton.spread, own, d, level, tile[d])
    return float(union_size(model, t, covered, tile))


@bare_entry
def latencies_of(model: Model, skeleton: Skeleton) -> float:
    """Cycles that the first words take from the outermost memory to the innermost, and the last ones back."""
    found = 0.0
    for back in (False, True):
        first = model.latency.shape[0]
        for t in range(model.kind.shape[0]):
            if model.is_output[t] == back:
                first = min(first, skeleton.parent[0, t])
        found += model.latency[first:].sum()
    return found


@bare
def stream_cycles(task: Task, known: int) -> float:
    """Least cycles for the first input tiles to arrive and the last output tile to leave."""
    model, skeleton, tiles = task.model, task.skeleton, task.state.tile
    last, total = skeleton.kept.shape[0] - 1, task.latency
    for outwards in range(2 if task.timed and not model.timeloop else 0):
        slowest = 0.0
        for level in range(last + 1):
            source, target, network = 0.0, 0.0, 0.0
            for t in range(model.kind.shape[0]):
                own = skeleton.parent[0, t]
                if model.is_output[t] != (outwards == 1) or level < own:
                    continue
                inner = min(known, own)
                words = first_words(model, skeleton, t, inner, tiles[inner], level, task.state.room[1])
                words *= model.weight[level, t]
                if level > own:
                    network += words
                    source += words if skeleton.kept[level, t] else 0.0
                target += words if skeleton.kept[level, t] and level < last else 0.0
            if outwards == 1:
                source, target = target, source
            most = max(source / model.bandwidth[level, 0], target / model.bandwidth[level, 1])
            most = max(most, (source + target) / model.bandwidth[level, 2], network / model.bandwidth[level, 3])
            slowest = max(slowest, np.ceil(most * (1 - 1e-11)))
        total += slowest
    return total


@bare
def least_cycles(task: Task, level: int, words: Floats) -> float:
    """Least cycles of what is chosen up to `level`, with `words` through the ports."""
    steady = max(
        compute_cycles(task, level, task.state.tile[level]), np.ceil(port_cycles(task.model, task.skeleton, words))
    )
    return steady + stream_cycles(task, level)


@bare
def cell_of(beyond: Beyond, level: int, d: int, tile: int) -> int:
    """The cell of dimension `d` with a tile of a memory."""
    return max(0, int(np.searchsorted(beyond.low[level, d, : beyond.size[level, d]], tile, side="right")) - 1)


@bare
def cell_at(task: Task, level: int) -> int:
    """The cell of the tile of a memory."""
    beyond, found = task.beyond, 0
    for d in range(task.model.bounds.shape[0]):
        tile = min(task.state.tile[level, d] * beyond.scale[level, d], task.model.bounds[d])
        found += beyond.stride[level, d] * cell_of(beyond, level, d, tile)
    return found


@bare
def unavoidable(task: Task, level: int, killed: int) -> float:
    """Least energy of the tensors `killed`, which rest so far, up to `level`."""
    total = 0.0
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1:
            for c in range(task.state.low[level, t], level):
                total += task.skeleton.least[c, t] if task.skeleton.kept[c, t] else 0.0
    return total


@bare
def outlook(task: Task, level: int, alive: int, fixed: int) -> float:
    """Least energy of all that is not settled yet."""
    beyond, last = task.beyond, task.skeleton.kept.shape[0] - 1
    total = unavoidable(task, level, alive)
    if level < last:
        begin: int = beyond.which[level, fixed]
        cell = begin + cell_at(task, level)
        ahead: float = beyond.outer[cell] if level == last - 1 else beyond.inner[cell]
        total += ahead
    return total


@bare
def may_close(task: Task, level: int, alive: int, energy: float) -> bool:
    """Whether a mapping may be better than the best if the loops of memory `level` are over."""
    beyond, code, digit = task.beyond, 0, 1
    for t in range(task.model.kind.shape[0]):
        code += digit * (task.state.low[level, t] + 1) if (alive >> t) & 1 else 0
        digit *= task.skeleton.kept.shape[0]
    if code >= beyond.where.shape[1] or beyond.where[level, code] < 0:
        return True
    begin: int = beyond.where[level, code]
    waiting: float = beyond.closing[begin + cell_at(task, level)]
    cycles = compute_cycles(task, level, task.state.tile[level])
    return value_of(task.objective, energy + waiting, cycles) < task.best.value[0] * (1 - 1e-9)


@bare
def hopeless(task: Task, energy: float) -> bool:
    """Whether nothing with that much energy, settled and to come, is better than the best, however fast."""
    return energy == np.inf or value_of(task.objective, energy, task.least_cycles) >= task.best.value[0] * (1 - 1e-9)


@bare
def affordable(task: Task, level: int, energy: float, depth: int) -> bool:
    """Whether the tile fits, and a mapping that is not `hopeless` may be better than the best.  What costs least is
    first."""
    most, tile = task.best.value[0] * (1 - 1e-9), task.state.tile[level]
    if value_of(task.objective, energy, compute_cycles(task, level, tile)) >= most or not fits(task, level, tile):
        return False
    return value_of(task.objective, energy, least_cycles(task, level, task.state.words[depth])) < most


@bare
def promising(task: Task, level: int, alive: int, fixed: int, energy: float, depth: int) -> bool:
    """Whether the tile fits, and a mapping below this node may be better than the best."""
    energy += outlook(task, level, alive, fixed)
    return not hopeless(task, energy) and affordable(task, level, energy, depth)


@inner
def far_words(model: Model, skeleton: Skeleton, inside: int, far: Floats) -> None:
    """Words of the outermost memory in the first tiles of all tensors kept further in than memory `inside`: `far` (2,)
    in and out."""
    far[:] = 0.0
    last, covered = skeleton.kept.shape[0] - 1, np.empty(model.bounds.shape[0], np.int64)
    for t in range(0 if model.timeloop else model.kind.shape[0]):
        own = skeleton.parent[0, t]
        if own < inside:
            words = first_words(model, skeleton, t, own, skeleton.inside[own + 1], last, covered)
            far[1 if model.is_output[t] else 0] += words * model.weight[last, t]


@inner
def steady_cycles(model: Model, skeleton: Skeleton) -> float:
    """Least cycles but for filling and draining, by steps and by ports."""
    last, steps = skeleton.spread.shape[0], 1.0
    for d in range(model.bounds.shape[0]):
        steps *= -(-model.bounds[d] // skeleton.inside[last, d])
    return max(steps, port_cycles(model, skeleton, skeleton.floor))


@inner
def waiting_cycles(model: Model, far: Floats) -> float:
    """Least cycles of the outermost memory's port for the first words in and the last ones out."""
    limits = model.bandwidth[-1]
    return (far[0] / one_way(limits, False) + far[1] / one_way(limits, True)) * SLACK


@compiled
def steady_and_far(model: Model, skeleton: Skeleton, far: Floats) -> float:
    """`steady_cycles` of a skeleton that is complete, and `far_words` of tensors not kept in the last memory only."""
    far_words(model, skeleton, skeleton.kept.shape[0] - 2, far)
    return steady_cycles(model, skeleton)


@inner
def may_fit(model: Model, skeleton: Skeleton) -> bool:
    """Whether all memories have room for the smallest tiles that they may keep."""
    for level in range(skeleton.kept.shape[0] - 1):
        if not has_room(model, skeleton.kept[level], level, skeleton.inside[level + 1]):
            return False
    return True


@compiled
def expand(model: Model, skeleton: Skeleton, ways: Ways, every: Ints, masks: Ints, bounds: Floats, most: float) -> None:
    """Fill `bounds` (N,) for a skeleton whose spread is set, with tensors kept as in `every` (N, L, T), `masks` (N,) of
    them in the last memory; inf from `most` on."""
    far = np.empty(2)
    for n in range(every.shape[0]):
        skeleton.kept[:] = every[n]
        energy = fill(model, skeleton)[1] + float(ways.beyond[masks[n]])
        bounds[n] = np.inf
        if value_of(ways.objective, energy, ways.least_cycles) < most and may_fit(model, skeleton):
            far_words(model, skeleton, skeleton.kept.shape[0] - 1, far)
            cycles = max(ways.least_cycles, steady_cycles(model, skeleton) + waiting_cycles(model, far))
            bounds[n] = value_of(ways.objective, energy, max(cycles, float(ways.busy[masks[n]])))
