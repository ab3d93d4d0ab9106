"""Schedules of whole networks: fusion and transfers together, found by annealing with prefetch in view."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...algebra.element import Ints
from ...costs.clock import NO_LIMIT, Limit
from ...costs.dram import Model, Timetable, net_tables, state_of, timetable, workspace
from ...costs.dram.prefetch import DOUBLE_BUFFER, EAGER, OVERTAKE
from ...costs.dram.slices import variants
from ...costs.dram.tables import FUSED_GROUP, LAYER_GROUP, Layers, State, Tally, Workspace
from ...costs.soma.blocks import splits
from ...errors import InfeasibleError
from ...interruption import stop_unless, stoppable
from ...zoo.schedule_networks.layers import Network
from .anneal import FAR, Chain, Task, anneal, best_of, new_chain, start_chain
from .effort import Effort, Found, Goal, Objective, Progress, cost_within
from .starts import MOST_JOINED, cheapest, cost, grouped, head_before, starts

SPANS = 2, 3, 4, 5, 6
"""Layers of the groups that are tried."""

COUNTS = 1, 2, 4, 8, 16
"""Tiles that are tried on either side of a DRAM cut when it is taken away, beside those that are there."""

MOST_SOFTENED = 40
"""DRAM cuts that are looked at."""


def polish(task: Task, chain: Chain, work: Workspace, limit: Limit = NO_LIMIT) -> None:
    """Go on from the best state of `chain`, with each short group that makes it better; counts what is scored.

    Random walks find such a group rarely where only one number of tiles will do.  Ends at `limit`.
    """
    state, best = _softened(task, chain, work, limit)
    for low in range(state.shape[1] - 1 if state.shape[1] <= MOST_JOINED else 0):
        if limit.late:
            break
        for span in SPANS:
            if low + span > state.shape[1] or (state[State.CUT, low + 1 : low + span] == LAYER_GROUP).any():
                break
            rows = int(task.net.layers[state[State.ORDER, low + span - 1], Layers.HEIGHT])
            trials = [grouped(state, low, low + span, tiles) for tiles in sorted({1, 2, 4, rows, -(-rows // 2)})]
            found, best = cheapest(task, trials, work, best)
            chain.counts[0] += len(trials)
            state = state if found is None else found
    chain.best[:] = chain.now[:] = state
    chain.costs[:] = best


def _softened(task: Task, chain: Chain, work: Workspace, limit: Limit) -> tuple[Ints, float]:
    """The best state of `chain` without the DRAM cuts that it does better without, and its cost.

    What then stays in the buffer may need other tiles on both sides, which random walks seldom change at once.
    """
    state, best = chain.best.copy(), float(chain.costs[1])
    counts = sorted({*COUNTS, task.batch})
    for place in np.flatnonzero(state[State.CUT] == LAYER_GROUP)[1 : MOST_SOFTENED + 1].tolist():
        if limit.late:
            break
        before = head_before(state, place)
        trials: list[Ints] = []
        for one, two in product(
            sorted({*counts, int(state[State.TILES, before])}), sorted({*counts, int(state[State.TILES, place])})
        ):
            trial = state.copy()
            trial[State.CUT, place], trial[State.TILES, before], trial[State.TILES, place] = FUSED_GROUP, one, two
            trials.append(trial)
        found, best = cheapest(task, trials, work, best)
        chain.counts[0] += len(trials)
        state = state if found is None else found
    return state, best


HEAT = (0.002, 0.0001), (0.01, 0.0001)
"""Temperatures at the beginning and the end, as parts of the objective, in SoMa's model and in the exact one."""

CHAINS = 1, 4
"""Walks in SoMa's model and in the exact one, where variants of the network are tried too."""

LARGE = 768
"""Layers of a network beyond which walks have no more, and then fewer candidates: the price of each takes longer."""

STEPS, POLISHED = 24, ((2,), (2, 18))
"""How often progress is told; the steps before which all short groups are tried, in either model."""

START_SHARE, PIECE = 0.3, 16
"""Part of a time limit for the starts of all variants; candidates between two looks at the clock."""

NEAR = 0.03, 0.004
"""Part by which a schedule may exceed its compute and DRAM cycles and still count as done, in SoMa's model, where loads
of whole weights leave little to gain, and in the exact one.
"""


def schedule(
    network: Network,
    model: Model,
    batch: int,
    objective: Objective | None = None,
    effort: Effort | None = None,
    progress: Progress | None = None,
    known: Sequence[Timetable] = (),
) -> Found:
    """The best schedule found for `batch` samples of `network`, no worse than those `known` of other machines.

    Raises InfeasibleError where the buffer cannot hold even the smallest tiles of some layer.
    """
    objective, effort = objective or Objective(), effort or Effort()
    powers = float(objective.energy_power), float(objective.latency_power)
    limit = Limit(effort.time_limit_s)
    scenes = _scenes(network, model, batch, powers, limit, known)
    count = effort.chains or CHAINS[model.exact]
    goal = Goal(cost_within(effort.gap, network, model, batch, objective), count)
    walks = [_Walk(scenes[i % len(scenes)], effort, (i, count), limit, goal, progress) for i in range(count)]
    with ThreadPoolExecutor(max(1, min(effort.jobs, len(walks)))) as pool:
        running = [pool.submit(walk.run) for walk in walks]
        with stoppable():
            wait(running)
        chains = [walk.result() for walk in running]
    chains = chains[: goal.reached_by + 1]
    best = min(range(len(chains)), key=lambda number: float(chains[number].costs[1]))
    evaluations = sum(int(chain.counts[0]) for chain in chains)
    scene = walks[best].scene
    found = _finish(scene.network, scene.task, chains[best].best, room(scene.task), evaluations)
    others = [_finish(scene.network, scene.task, state, room(scene.task), evaluations) for state in scene.known]
    return min(
        (found, *others), key=lambda item: objective.cost(item.timetable.energy_pj, item.timetable.latency_cycles)
    )


@dataclass(frozen=True)
class _Scene:
    """A variant of the network, the fusion with which walks begin, and fusions known of other machines."""

    network: Network
    task: Task
    first: Ints
    known: tuple[Ints, ...] = ()


def _scenes(
    network: Network,
    model: Model,
    batch: int,
    powers: tuple[float, float],
    limit: Limit = NO_LIMIT,
    known: Sequence[Timetable] = (),
) -> list[_Scene]:
    """The variants that fit; where none does, the error of the one that needs least."""
    found: list[_Scene] = []
    failed: list[InfeasibleError] = []
    all_variants = list(variants(network, model))
    limits = [limit.part(START_SHARE * number / len(all_variants)) for number in range(1, len(all_variants) + 1)]
    with stoppable():
        for variant, end in zip(all_variants, limits, strict=True):
            try:
                found.append(_with_known(_scene(variant, model, batch, powers, end), known))
            except InfeasibleError as error:
                failed.append(error)
    stop_unless(found)
    if not found:
        raise min(failed, key=lambda error: error.demand)
    return found


def _scene(network: Network, model: Model, batch: int, powers: tuple[float, float], limit: Limit) -> _Scene:
    task = Task(net_tables(network), model, splits(model.array.side), batch, model.buffer_bytes, *powers, OVERTAKE)
    return _Scene(network, task, starts(network, task, room(task), limit))


def _with_known(scene: _Scene, known: Sequence[Timetable]) -> _Scene:
    """`scene` with the fusions of `known` that it can run; walks begin with the best of all."""
    work = room(scene.task)
    own = [table for table in known if table.network.layers == scene.network.layers]
    states = [state_of(table.fusion, table.streamed, table.reused) for table in own]
    fitting = tuple(state for state in states if cost(scene.task, state, work) < FAR)
    first, _ = cheapest(scene.task, [scene.first, *fitting], work)
    return scene if first is None else replace(scene, first=first, known=fitting)


def room(task: Task) -> Workspace:
    """A workspace for the fusions of a search."""
    return workspace(task.net, max(2048, 48 * len(task.net.layers)))


@dataclass(frozen=True)
class _Walk:
    """One chain: where it starts, which it is of how many, and when all are to be over."""

    scene: _Scene
    effort: Effort
    number: tuple[int, int]
    limit: Limit
    goal: Goal
    progress: Progress | None

    def run(self) -> Chain:
        """Anneal; a short walk first, which is all where the start was near its own bound."""
        task = self.scene.task
        work, heat = room(task), HEAT[task.model.exact]
        number, count = self.number
        chain = new_chain(self.scene.first, self.effort.seed, number)
        start_chain(task, chain, work)
        limit, rounds = self.goal.of_walk(number, chain, self.share()), self.effort.rounds
        if rounds is None:
            short = min(LARGE, self.scene.first.shape[1])
            _anneal(task, chain, work, (0, short, short), (heat[1], heat[1]), limit)
            if _near(task, chain, work):
                return chain
            rounds = _rounds(task)
        for step in range(STEPS):
            if step in POLISHED[task.model.exact] and rounds >= 20 * self.scene.first.shape[1]:
                polish(task, chain, work, limit)
            span = rounds * step // STEPS, rounds * (step + 1) // STEPS, rounds
            _anneal(task, chain, work, span, heat, limit)
            if self.progress is not None:
                self.progress(step + 1 + STEPS * number, STEPS * count)
            if limit.late:
                break
        return chain

    def share(self) -> Limit:
        """When this walk is to be over: what is left is shared by the walks that its thread still has before it."""
        number, count = self.number
        return self.limit.part(1 / -(-(count - number) // self.effort.jobs))


def _anneal(
    task: Task, chain: Chain, work: Workspace, rounds: tuple[int, int, int], heat: tuple[float, float], limit: Limit
) -> None:
    """`anneal`, in pieces with a look at the clock between them."""
    first, last, total = rounds
    for low in range(first, last, PIECE):
        if limit.late:
            return
        anneal(task, chain, work, (low, min(low + PIECE, last), total), heat)


def _rounds(task: Task) -> int:
    """Candidates of a walk: in SoMa's model about a fiftieth of that tool's time, in the exact one a few seconds."""
    if task.model.exact:
        return int(12000 * task.batch**0.5 * min(1.0, LARGE / len(task.net.layers)))
    return int(96_000 / max(16, len(task.net.layers)) * min(task.batch, 8) ** 1.1)


def _near(task: Task, chain: Chain, work: Workspace) -> bool:
    table = _decide(task, chain.best, work, OVERTAKE)
    return table <= (1 + NEAR[task.model.exact]) * work_bound(work)


def work_bound(work: Workspace) -> int:
    """Cycles of all tiles, or of all transfers, of the fusion last priced."""
    return int(max(work.tally[Tally.COMPUTE_CYCLES], work.tally[Tally.DRAM_CYCLES]))


def _decide(task: Task, state: Ints, work: Workspace, policy: int) -> float:
    """Latency of `state` with transfers by `policy`, `FAR` where it does not fit."""
    number, _ = best_of(task._replace(policy=policy), state[np.newaxis], work, FAR)
    return float(work.tally[Tally.LATENCY]) if number == 0 else FAR


def _finish(network: Network, task: Task, state: Ints, work: Workspace, evaluations: int) -> Found:
    """The best policy for the transfers of `state`, worked out."""
    policies = OVERTAKE, 0, EAGER, EAGER | OVERTAKE
    best = min(policies, key=lambda policy: _decide(task, state, work, policy))
    plain = None
    if _decide(task, state, work, DOUBLE_BUFFER) < FAR:
        plain = timetable(network, task.net, state, work)
    _decide(task, state, work, best)
    return Found(timetable(network, task.net, state, work), plain, evaluations)
