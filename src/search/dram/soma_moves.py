"""Compiled: the moves of SoMa's first stage, and of its baseline Cocco, whose groups lie between DRAM cuts only.

J. Cai et al., "SoMa", HPCA 2025, section V-C1, with the probabilities of its public code.
"""

from math import exp

from ...costs.dram.tables import FUSED_GROUP, JOINED, LAYER_GROUP, Ints, Net, State, Workspace, compiled, inner
from .anneal import FAR, Chain, Task, cost_of
from .fusion_moves import ANY, copy_state, double_tiles, head_of, join_any, layer_range, pick_cut
from .random_numbers import Seed, below, uniform


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
