"""The framework of SoMa: a stage for the fusion, a stage for the transfers, and an allocator of buffer between them.

J. Cai et al., "SoMa", HPCA 2025, section V, with the probabilities, temperatures and rounds of its public code; and its
baseline Cocco, in which groups lie between DRAM cuts only and tiles are as small as the cores allow.
"""

from dataclasses import dataclass
from math import exp, prod

import numpy as np

from ...algebra.element import Ints
from ...costs.clock import Limit
from ...costs.dram import Model, net_tables, score, timetable, workspace
from ...costs.dram.emit import FITS
from ...costs.dram.prefetch import DOUBLE_BUFFER
from ...costs.dram.slices import variants
from ...costs.dram.tables import FUSED_GROUP, JOINED, LAYER_GROUP, Net, Stages, State, Workspace, compiled, inner
from ...costs.soma.blocks import splits
from ...errors import InfeasibleError
from ...interruption import hold
from ...zoo.schedule_networks.layers import Network
from ..random_numbers import Seed, below, seeded, uniform
from .anneal import FAR, Chain, Task, cost_of, new_chain, start_chain
from .effort import Effort, Found, Objective, Progress, cost_within
from .fusion_moves import ANY, copy_state, double_tiles, head_of, join_any, layer_range, pick_cut
from .living import RANK, SIZE, anneal_lives, latency_of, living, settle
from .starts import alone, uniform_state


@inner
def _move_into(net: Net, state: Ints, source: Ints, random: Seed) -> bool:
    """Move a layer to another place, where it joins the group; a group of it alone disappears.

    `source` equals `state` at first and is read only.
    """
    count = state.shape[1]
    place = below(random, count)
    low, high = layer_range(net, state, place)
    if high - low < 2:
        return False
    target = low + below(random, high - low)
    target += target >= place
    alone = source[State.CUT, place] != JOINED and (place + 1 == count or source[State.CUT, place + 1] != JOINED)
    kept = source[State.CUT, place] if source[State.CUT, place] != JOINED and not alone else JOINED
    step = 1 if target > place else -1
    for row in range(4):
        for at in range(min(place, target), max(place, target) + 1):
            state[row, at] = source[row, at + step] if at != target else source[row, place]
    state[State.CUT, target] = JOINED
    if kept != JOINED:
        heir = place if step > 0 else place + 1
        state[State.CUT, heir], state[State.TILES, heir], state[State.STREAMED, heir] = (
            kept,
            source[State.TILES, place],
            0,
        )
    elif alone and source[State.CUT, place] == LAYER_GROUP:
        heir = place if step > 0 else place + 1
        if heir < count and state[State.CUT, heir] == FUSED_GROUP:
            state[State.CUT, heir] = LAYER_GROUP
    if target == 0 or step < 0:
        _swap_head(state, target)
    state[State.TILES, target] = state[State.TILES, target] if state[State.CUT, target] != JOINED else 0
    return state[State.CUT, 0] == LAYER_GROUP


@inner
def _swap_head(state: Ints, target: int) -> None:
    """A layer that came before the head of a group becomes its head."""
    after = target + 1
    if state[State.CUT, after] != JOINED:
        for row in (State.CUT, State.TILES, State.STREAMED):
            state[row, target], state[row, after] = state[row, after], 0
        state[State.CUT, after] = JOINED


@inner
def _double_or_halve(net: Net, batch: int, state: Ints, random: Seed) -> bool:
    """A fused group's tiles, at most the largest power of two of its last layer's pixels."""
    head = pick_cut(state, ANY, random, 0)
    if uniform(random) < 0.5:
        return double_tiles(net, batch, state, head)
    if state[State.TILES, head] < 2:
        return False
    state[State.TILES, head] //= 2
    return True


@inner
def _split(state: Ints, random: Seed) -> bool:
    """A DRAM cut before a layer within a layer group."""
    if state.shape[1] < 2:
        return False
    place = 1 + below(random, state.shape[1] - 1)
    if state[State.CUT, place] == LAYER_GROUP:
        return False
    if state[State.CUT, place] == JOINED:
        state[State.TILES, place] = state[State.TILES, head_of(state, place)]
    state[State.CUT, place] = LAYER_GROUP
    return True


@inner
def _move_border(state: Ints, random: Seed, fused: bool) -> bool:
    """Move a DRAM cut within its two layer groups; where it was a fused group begins, if `fused`."""
    place = pick_cut(state, LAYER_GROUP, random)
    if place < 0:
        return False
    low, high = place - 1, place + 1
    while state[State.CUT, low] != LAYER_GROUP:
        low -= 1
    while high < state.shape[1] and state[State.CUT, high] != LAYER_GROUP:
        high += 1
    if high - low < 3:
        return False
    target = low + 1 + below(random, high - low - 2)
    target += target >= place
    if state[State.CUT, target] == JOINED:
        state[State.TILES, target] = state[State.TILES, head_of(state, target)]
    state[State.CUT, target] = LAYER_GROUP
    if fused:
        state[State.CUT, place] = FUSED_GROUP
    else:
        state[State.CUT, place] = state[State.TILES, place] = 0
    return True


@inner
def soma_move(task: Task, state: Ints, source: Ints, random: Seed, cocco: bool) -> bool:
    """One move of the first stage; False where the draw changes nothing."""
    draw = uniform(random)
    if draw < (0.4 if cocco else 0.2):
        return _move_into(task.net, state, source, random)
    if not cocco:
        if draw < 0.55:
            return _double_or_halve(task.net, task.batch, state, random)
        if draw < 0.7:
            return join_any(state, FUSED_GROUP, random)
    draw = uniform(random)
    if draw < 0.3:
        return join_any(state, LAYER_GROUP, random)
    if draw < 0.6:
        return _split(state, random)
    return _move_border(state, random, not cocco)


@compiled
def anneal_fusion(task: Task, chain: Chain, work: Workspace, rounds: tuple[int, int, int], cocco: bool) -> None:
    """Rounds [first, last) of `rounds[2]` at T = 0.1 (1 - p) / (1 + 8 p); the last tenth begins at the best."""
    for number in range(rounds[0], rounds[1]):
        if number == rounds[2] * 9 // 10:
            copy_state(chain.best, chain.now)
            chain.costs[0] = chain.costs[1]
        progress = number / rounds[2]
        heat = 0.1 * (1 - progress) / (1 + 8 * progress)
        copy_state(chain.now, chain.trial)
        if not soma_move(task, chain.trial, chain.now, chain.random, cocco):
            continue
        chain.counts[0] += 1
        cost = cost_of(task, chain.trial, work, FAR)
        if cost >= FAR:
            continue
        worse = exp(min(50.0, cost - chain.costs[0])) - 1
        if worse > 0 and uniform(chain.random) >= exp(-worse / max(heat, 1e-9)):
            continue
        copy_state(chain.trial, chain.now)
        chain.costs[0] = cost
        if cost < chain.costs[1]:
            chain.costs[1] = cost
            copy_state(chain.trial, chain.best)


FIRST_ROUNDS, SECOND_ROUNDS, MOST_SECOND = 100, 1000, 3_000_000
"""Candidates of the first stage for each layer and square root of a sample, of the second for each transfer."""

SHRINK, PASSES, STEPS = 0.9, 5, 128
"""By how much each pass cuts what the first stage may use, how many there are, and looks at the clock in each stage."""


@dataclass(frozen=True)
class _Run:
    """What a pass needs."""

    network: Network
    task: Task
    effort: Effort
    cocco: bool
    limit: Limit
    enough: float


def framework(
    network: Network,
    model: Model,
    batch: int,
    objective: Objective,
    effort: Effort,
    progress: Progress | None = None,
    *,
    cocco: bool = False,
) -> Found:
    """The best schedule of both stages over the passes of the buffer allocator; Cocco has one pass of one stage.

    The allocator lowers the first stage's share until two passes bring nothing.  In the exact model a network of which
    weights do not fit has them in slices.  Raises InfeasibleError where the buffer cannot hold even the smallest tiles
    of some layer.
    """
    enough = cost_within(effort.gap, network, model, batch, objective)
    for variant in variants(network, model)[:0:-1]:
        try:
            return _passes(variant, model, batch, objective, effort, progress, cocco, enough)
        except InfeasibleError:
            continue
    return _passes(variants(network, model)[0], model, batch, objective, effort, progress, cocco, enough)


def _passes(
    network: Network,
    model: Model,
    batch: int,
    objective: Objective,
    effort: Effort,
    progress: Progress | None,
    cocco: bool,
    enough: float,
) -> Found:
    net = net_tables(network)
    powers = float(objective.energy_power), float(objective.latency_power)
    task = Task(net, model, splits(model.array.side), batch, model.buffer_bytes, *powers, DOUBLE_BUFFER)
    run = _Run(network, task, effort, cocco, Limit(effort.time_limit_s), enough)
    work = workspace(net, max(4096, 128 * len(network.layers)))
    best: Found | None = None
    limit, cost, idle, evaluations = model.buffer_bytes, FAR, 0, 0
    for number in range(1 if cocco else PASSES):
        chain = _first_stage(run, work, limit, number)
        if chain is None:
            break
        evaluations += int(chain.counts[0])
        peak, found = _second_stage(run, work, chain, number)
        price = objective.cost(found.timetable.energy_pj, found.timetable.latency_cycles)
        idle = 0 if price < cost else idle + 1
        if price < cost:
            best, cost = found, price
        limit = int((peak if number == 0 else limit) * SHRINK)
        if progress is not None:
            progress(number + 1, 1 if cocco else PASSES)
        if idle == 2 or run.limit.late or cost <= enough:
            break
    assert best is not None
    return Found(best.timetable, best.double_buffered, evaluations)


def _first_stage(run: _Run, work: Workspace, limit: int, number: int) -> Chain | None:
    """The fusion found within `limit` bytes, None where even layers by themselves do not fit into a later pass's."""
    task = run.task._replace(limit=limit)
    state = seed_state(run.network, task)
    chain = new_chain(state, run.effort.seed, number)
    if start_chain(task, chain, work) >= FAR:
        if number > 0:
            return None
        chain = new_chain(alone(run.network, task), run.effort.seed, number)
        start_chain(task, chain, work)
    hold()
    rounds = run.effort.rounds or int(FIRST_ROUNDS * len(run.network.layers) * task.batch**0.5)
    for step in range(STEPS):
        anneal_fusion(task, chain, work, (rounds * step // STEPS, rounds * (step + 1) // STEPS, rounds), run.cocco)
        if run.limit.late or chain.costs[1] <= run.enough:
            break
    return chain


def _second_stage(run: _Run, work: Workspace, chain: Chain, number: int) -> tuple[int, Found]:
    """Largest use of the buffer after the first stage, and the schedule with its transfers annealed."""
    task, state = run.task, chain.best
    outcome = score(task.net, task.model, task.splits, task.batch, state, work, task.limit, DOUBLE_BUFFER)
    assert outcome == FITS
    plain = timetable(run.network, task.net, state, work)
    if run.cocco:
        return plain.max_buffer_bytes, Found(plain, plain, 0)
    score(task.net, task.model, task.splits, task.batch, state, work, 0, DOUBLE_BUFFER)
    given = living(work, _group_ends(work))
    start = latency_of(given)
    if given.usage.max() > task.limit or start < 0:
        return plain.max_buffer_bytes, Found(plain, plain, 0)
    sizes, positive = given.table[SIZE], given.table[SIZE][given.table[SIZE] > 0]
    cumulative = np.cumsum(np.where(sizes > 0, sizes, positive.min() if len(positive) else 1))
    ideal, best = max(plain.compute_cycles, plain.dram_cycles), given.table.copy()
    costs = np.array([float(start), float(start)])
    rounds = min(SECOND_ROUNDS * len(given.order), MOST_SECOND)
    random, undo = seeded(run.effort.seed, 100 + number), np.zeros(4, np.int64)
    for step in range(STEPS):
        span = rounds * step // STEPS, rounds * (step + 1) // STEPS, rounds
        anneal_lives(given, best, cumulative, task.limit, ideal, span, random, costs, undo)
        if run.limit.late:
            break
    if costs[1] > plain.latency_cycles:
        return plain.max_buffer_bytes, Found(plain, plain, 0)
    given.table[:] = best
    given.order[best[RANK]] = np.arange(len(given.order))
    settle(given, work)
    return plain.max_buffer_bytes, Found(timetable(run.network, task.net, state, work), plain, 0)


def _group_ends(work: Workspace) -> Ints:
    """For each layer the position after its layer group."""
    stages = work.stages
    last = stages[Stages.FIRST] + (stages[Stages.TILES] - 1) * stages[Stages.STEP] + 1
    ends = np.zeros(stages[Stages.GROUP].max() + 1, np.int64)
    np.maximum.at(ends, stages[Stages.GROUP], last)
    return ends[stages[Stages.GROUP]]


def seed_state(network: Network, task: Task) -> Ints:
    """Every layer a layer group, cut as finely as keeps the cores busy: the start of the first stage."""
    state = uniform_state(len(network.layers), LAYER_GROUP, 1)
    for number in range(len(network.layers)):
        state[State.TILES, number] = _seed_tiles(network, number, task)
    return state


def _seed_tiles(network: Network, number: int, task: Task) -> int:
    """Tiles of the first pair of dimensions that fills the array, else of the one that fills most of it."""
    array, batch = task.model.array, task.batch
    channels, filters = network.group_shape(number)
    shape, side = network.layers[number].shape, array.side
    sizes = {"C": channels / array.vector, "K": filters / array.lanes, "B": batch, "W": shape.width, "H": shape.height}
    best, fill = "CK", -1.0
    for pair in ("CK", "CB", "CW", "BK", "HK", "HW"):
        factors = [min(1.0, sizes[dim] / side) for dim in pair]
        factors += [min(1.0, sizes[dim]) for dim in "CK" if dim not in pair and pair != "HW"]
        if prod(factors) > fill + 1e-12:
            best, fill = pair, prod(factors)
        if fill >= 1:
            break
    samples = min(batch, side) if "B" in best else 1
    high = min(shape.height, side) if "H" in best or best == "CK" else shape.height
    wide = min(shape.width, side) if "W" in best or best == "CK" else shape.width
    tiles = -(-shape.height // high) * -(-shape.width // wide) * (batch // samples)
    count = 1 << max(0, tiles - 1).bit_length()
    return batch if count > 16 * batch else count
