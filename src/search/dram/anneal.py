"""Compiled: annealing of the fusion, every candidate scored with its transfers decided."""

from math import log
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ...costs.dram.emit import FITS, emit
from ...costs.dram.prefetch import prefetch
from ...costs.dram.tables import Model, Net, Tally, Workspace, compiled, inner
from ...costs.soma.blocks import Split
from ...costs.soma.hardware import DRAM_PJ
from ..random_numbers import Seed, seeded, uniform
from .fusion_moves import change_fusion, copy_state

FAR = 1e300
"""The cost of what cannot run."""


class Task(NamedTuple):
    """What is scheduled, and the objective energy ** `energy_power` x latency ** `latency_power`."""

    net: Net
    model: Model
    splits: tuple[Split, ...]
    batch: int
    limit: int
    energy_power: float
    latency_power: float
    policy: int


class Chain(NamedTuple):
    """A walk: where it stands, a candidate, the best; `costs` of the first and last (logarithms); `counts` of
    candidates drawn and scored; its random numbers."""

    now: Ints
    trial: Ints
    best: Ints
    costs: Floats
    counts: Ints
    random: Seed


@inner
def cost_of(task: Task, state: Ints, work: Workspace, most: float) -> float:
    """Logarithm of the objective, `FAR` where the fusion cannot run or costs more than `most`."""
    if emit(task.net, task.model, task.splits, task.batch, state, work) != FITS:
        return FAR
    work.energy[len(work.energy) - 1] += DRAM_PJ * work.tally[Tally.DRAM_BYTES]
    energy = task.energy_power * log(work.energy[len(work.energy) - 1])
    least = max(work.tally[Tally.COMPUTE_CYCLES], work.tally[Tally.DRAM_CYCLES])
    if energy + task.latency_power * log(least) > most:
        return FAR
    if prefetch(work, task.limit, task.policy) != FITS:
        return FAR
    return energy + task.latency_power * log(work.tally[Tally.LATENCY])


def new_chain(state: Ints, seed: int, number: int) -> Chain:
    """A chain that stands at `state`."""
    return Chain(state.copy(), state.copy(), state.copy(), np.full(2, FAR), np.zeros(2, np.int64), seeded(seed, number))


def start_chain(task: Task, chain: Chain, work: Workspace) -> float:
    """Take `chain.now` for the first and best; its cost."""
    chain.costs[:] = best_of(task, chain.now[np.newaxis], work, FAR)[1]
    chain.best[:] = chain.now
    return float(chain.costs[0])


def best_of(task: Task, states: Ints, work: Workspace, most: float) -> tuple[int, float]:
    """The number and cost of the cheapest of `states` (count, 4, layers) below `most`, -1 and `most` for none."""
    state = states[0]
    unused = Chain(state, state, state, np.array([FAR, most]), np.zeros(2, np.int64), seeded(0))
    return price_or_anneal(task, unused, states, work, (0, 0, 1), (1.0, 1.0)), float(unused.costs[1])


def anneal(task: Task, chain: Chain, work: Workspace, rounds: tuple[int, int, int], heat: tuple[float, float]) -> None:
    """Rounds [first, last) of `rounds[2]`, at temperatures that fall from `heat[0]` to `heat[1]`."""
    price_or_anneal(task, chain, chain.now[np.newaxis][:0], work, rounds, heat)


@compiled
def price_or_anneal(
    task: Task, chain: Chain, states: Ints, work: Workspace, rounds: tuple[int, int, int], heat: tuple[float, float]
) -> int:
    """Price `states` and answer the number of the cheapest, or -1, and its cost in `chain.costs[1]`; then do `rounds`.

    `best_of` and `anneal` are one function, as each that is called from Python has the code of all prices once more.
    """
    best = -1
    for number in range(states.shape[0]):
        cost = cost_of(task, states[number], work, chain.costs[1])
        if cost < chain.costs[1]:
            best, chain.costs[1] = number, cost
    first, last, total = rounds
    for number in range(first, last):
        anneal_once(task, chain, work, heat[0] * (heat[1] / heat[0]) ** (number / total))
    return best


@inner
def anneal_once(task: Task, chain: Chain, work: Workspace, temperature: float) -> None:
    """Try another fusion than `chain.now`."""
    copy_state(chain.now, chain.trial)
    if not change_fusion(task.net, task.batch, task.model.exact, chain.trial, chain.random):
        return
    chain.counts[0] += 1
    most = chain.costs[0] - temperature * log(1.0 - uniform(chain.random))
    cost = cost_of(task, chain.trial, work, most)
    if cost > most:
        return
    copy_state(chain.trial, chain.now)
    chain.costs[0] = cost
    if cost < chain.costs[1]:
        chain.costs[1] = cost
        copy_state(chain.now, chain.best)
