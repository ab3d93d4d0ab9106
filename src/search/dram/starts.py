"""Fusions to begin with."""

import numpy as np

from ...algebra.element import Ints
from ...costs.clock import NO_LIMIT, Limit
from ...costs.dram.emit import need_alone
from ...costs.dram.tables import FUSED_GROUP, JOINED, LAYER_GROUP, REUSED, STREAMING, State, Workspace, workspace
from ...errors import InfeasibleError
from ...zoo.schedule_networks.layers import Network
from .anneal import FAR, Task, best_of


def uniform_state(layers: int, cut: int, tiles: int, *, reused: bool = False) -> Ints:
    """Layers in their order, each pair of neighbours cut by `cut` or joined, all with the same `tiles`."""
    state = np.zeros((4, layers), np.int64)
    state[State.ORDER] = range(layers)
    state[State.CUT] = cut
    state[State.CUT, 0] = LAYER_GROUP
    state[State.TILES] = tiles if cut != JOINED else 0
    state[State.TILES, 0] = tiles
    state[State.STREAMED, state[State.CUT] != JOINED] = REUSED if reused else 0
    return state


def cost(task: Task, state: Ints, work: Workspace) -> float:
    """Logarithm of the objective of `state`, `FAR` where it cannot run."""
    return best_of(task, state[np.newaxis], work, FAR)[1]


def cheapest(task: Task, states: list[Ints], work: Workspace, most: float = FAR) -> tuple[Ints | None, float]:
    """The cheapest of `states` and its cost, None and `most` where none costs less than that."""
    number, found = best_of(task, np.stack(states), work, most)
    return (states[number] if number >= 0 else None), found


def starts(network: Network, task: Task, work: Workspace, limit: Limit = NO_LIMIT) -> Ints:
    """The best of a few regular fusions; where none fits, every layer by itself in as few tiles as fit.

    What is then tried to join them ends at `limit`.
    """
    layers = len(task.net.layers)
    counts = sorted({1, 2, 4, 8, 16, task.batch, 4 * task.batch})
    states = [uniform_state(layers, FUSED_GROUP, tiles) for tiles in sorted({1, task.batch})]
    states += [uniform_state(layers, JOINED, tiles, reused=bool(task.model.exact)) for tiles in counts]
    if task.model.exact:
        states += [uniform_state(layers, FUSED_GROUP, tiles, reused=True) for tiles in sorted({1, task.batch})]
    best, _ = cheapest(task, states, work)
    if best is not None:
        return best
    for share in SHARES:
        state = alone(network, task, int(share * task.limit))
        if cost(task, state, work) < FAR:
            return segmented(task, joined(task, state, work, limit), work, limit)
    return alone(network, task)


def joined(task: Task, state: Ints, work: Workspace, limit: Limit = NO_LIMIT) -> Ints:
    """`state` with DRAM cuts taken away, or softened, from first to last wherever that is better."""
    best = cost(task, state, work)
    for place in range(1, state.shape[1]):
        if limit.late:
            break
        soft, gone = state.copy(), state.copy()
        soft[State.CUT, place] = FUSED_GROUP
        soft[State.STREAMED, place] = REUSED if task.model.exact else 0
        gone[State.CUT, place], gone[State.STREAMED, place], gone[State.TILES, place] = JOINED, 0, 0
        found, best = cheapest(task, [soft, gone], work, best)
        state = state if found is None else found
    return state


MOST_JOINED, PLACES = 400, (40, 96)
"""Layers of a network up to which short groups are tried one by one, since the time grows with the square; places at
which long ones are, in SoMa's model and in the exact one: in larger networks they begin at, and have, multiples of a
few layers.
"""

SPANS, COUNTS = (2, 4, 8, 16, 27, 40, 60), (1, 4, 8, 16)
"""Layers and tiles of the groups that are tried in place of others, the latter for each sample."""


def segmented(task: Task, state: Ints, work: Workspace, limit: Limit = NO_LIMIT) -> Ints:
    """`state` with neighbouring layers made one layer group, from first to last, wherever that is better.

    In the exact model its weights may come for each tile, so that they need not be in the buffer together.
    """
    best, grain = cost(task, state, work), -(-state.shape[1] // PLACES[task.model.exact])
    for low in range(0, state.shape[1], grain):
        if limit.late:
            break
        for span in (grain * span for span in SPANS):
            if low + span > state.shape[1]:
                break
            trials = [
                fused(state, low, low + span, tiles, streamed)
                for tiles in sorted({*COUNTS, *(task.batch * count for count in COUNTS)})
                for streamed in ((REUSED, REUSED | STREAMING) if task.model.exact else (0,))
            ]
            found, best = cheapest(task, trials, work, best)
            state = state if found is None else found
    return state


def head_before(state: Ints, place: int) -> int:
    """Where the fused group before the one at `place` begins."""
    place -= 1
    while state[State.CUT, place] == JOINED:
        place -= 1
    return place


def grouped(state: Ints, low: int, high: int, tiles: int) -> Ints:
    """`state` with the layers at places [low, high) as one fused group; groups that it cuts keep their tiles."""
    found = state.copy()
    if high < state.shape[1] and state[State.CUT, high] == JOINED:
        head = head_before(state, high)
        found[State.TILES, high], found[State.STREAMED, high] = state[State.TILES, head], state[State.STREAMED, head]
        found[State.CUT, high] = FUSED_GROUP
    if state[State.CUT, low] == JOINED:
        found[State.CUT, low], found[State.STREAMED, low] = FUSED_GROUP, 0
    found[State.TILES, low] = tiles
    found[State.CUT, low + 1 : high] = JOINED
    found[State.TILES, low + 1 : high] = found[State.STREAMED, low + 1 : high] = 0
    return found


def fused(state: Ints, low: int, high: int, tiles: int, streamed: int) -> Ints:
    """`state` with the layers at places [low, high) as a layer group of one fused group."""
    found = grouped(state, low, high, tiles)
    found[State.CUT, low], found[State.STREAMED, low] = LAYER_GROUP, streamed
    if high < state.shape[1]:
        found[State.CUT, high] = LAYER_GROUP
    return found


SHARES = 1.0, 0.75, 0.5
"""Parts of the buffer that a layer by itself is cut to fit: interior tiles may need more than the first."""


def alone(network: Network, task: Task, limit: int | None = None) -> Ints:
    """Every layer a layer group, in the fewest tiles (powers of two) whose needs fit the buffer, or `limit` bytes.

    Raises InfeasibleError where a layer's smallest tiles do not fit, or no blocking of them fits the cores.
    """
    state, work = uniform_state(len(task.net.layers), LAYER_GROUP, 1), workspace(task.net, 1)
    for layer in range(len(network.layers)):
        _shrink(network, task, state, layer, task.limit if limit is None else limit, work)
    return state


def _shrink(network: Network, task: Task, state: Ints, layer: int, limit: int, work: Workspace) -> None:
    """Fewest tiles at which layer `layer` fits."""
    least, tiles = -1, 1
    while tiles <= 1 << 12:
        state[State.TILES, layer] = tiles
        need = need_alone(task.net, state, layer, task.batch, work)
        if need < 0:
            break
        if need <= limit:
            return
        least = need if least < 0 else min(least, need)
        tiles *= 2
    row = network.layers[layer]
    weights = network.weight_bytes(layer)
    lever = f"{least - limit} bytes more of buffer would do"
    if weights:
        lever += f"; the layer's weights take {weights} bytes"
    raise InfeasibleError("global buffer", max(least, 0), limit, "bytes", lever, f"layer {layer} ({row.name})")
