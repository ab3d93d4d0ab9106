"""Compiled: small changes of a fusion."""

from ...algebra.element import Ints
from ...costs.dram.tables import FUSED_GROUP, JOINED, LAYER_GROUP, REUSED, STREAMING, Edges, Layers, Net, State, inner
from ..random_numbers import Seed, below, uniform

ANY = -1
"""Cuts of any kind."""


@inner
def copy_state(source: Ints, target: Ints) -> None:
    """Make `target` equal to `source`."""
    for row in range(source.shape[0]):
        for place in range(source.shape[1]):
            target[row, place] = source[row, place]


@inner
def head_of(state: Ints, place: int) -> int:
    """Where the fused group of the layer at `place` begins."""
    while state[State.CUT, place] == JOINED:
        place -= 1
    return place


@inner
def end_of(state: Ints, place: int) -> int:
    """The place after the fused group of the layer at `place`."""
    place += 1
    while place < state.shape[1] and state[State.CUT, place] == JOINED:
        place += 1
    return place


@inner
def layer_range(net: Net, state: Ints, place: int) -> tuple[int, int]:
    """First and last place to which the layer at `place` may move."""
    layer, low, high = state[State.ORDER, place], place, place
    while low > 0 and not _reads(net, layer, state[State.ORDER, low - 1]):
        low -= 1
    while high + 1 < state.shape[1] and not _reads(net, state[State.ORDER, high + 1], layer):
        high += 1
    return low, high


@inner
def _reads(net: Net, layer: int, other: int) -> bool:
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        if net.edges[Edges.SOURCE, edge] == other:
            return True
    return False


@inner
def _shift_layer(state: Ints, place: int, target: int) -> None:
    """Move the layer at `place` to `target`; cuts stay at their places."""
    layer = state[State.ORDER, place]
    step = 1 if target > place else -1
    while place != target:
        state[State.ORDER, place] = state[State.ORDER, place + step]
        place += step
    state[State.ORDER, target] = layer


@inner
def _move_layer(net: Net, state: Ints, random: Seed) -> bool:
    place = below(random, state.shape[1])
    low, high = layer_range(net, state, place)
    if high == low:
        return False
    target = low + below(random, high - low)
    if target >= place:
        target += 1
    _shift_layer(state, place, target)
    return True


@inner
def double_tiles(net: Net, batch: int, state: Ints, head: int) -> bool:
    """Double the tiles of a fused group, if its last layer has as many pixels."""
    last = state[State.ORDER, end_of(state, head) - 1]
    if state[State.TILES, head] * 2 > batch * net.layers[last, Layers.HEIGHT] * net.layers[last, Layers.WIDTH]:
        return False
    state[State.TILES, head] *= 2
    return True


@inner
def _change_tiles(net: Net, batch: int, state: Ints, random: Seed) -> bool:
    """Double or halve the tiles of a fused group, or change them by a third or so."""
    head = head_of(state, below(random, state.shape[1]))
    draw = uniform(random)
    if draw < 0.3:
        return _shift_tiles(state, head, random)
    if draw < 0.65:
        return double_tiles(net, batch, state, head)
    if state[State.TILES, head] % 2:
        return False
    state[State.TILES, head] //= 2
    return True


@inner
def _shift_tiles(state: Ints, head: int, random: Seed) -> bool:
    """Other counts than powers of two: a few more or less."""
    reach = 1 + state[State.TILES, head] // 3
    tiles = state[State.TILES, head] - reach + below(random, 2 * reach + 1)
    if tiles < 1 or tiles == state[State.TILES, head]:
        return False
    state[State.TILES, head] = tiles
    return True


@inner
def _change_cut(state: Ints, random: Seed) -> bool:
    """Cut, join, or change the kind of a cut."""
    if state.shape[1] < 2:
        return False
    place = 1 + below(random, state.shape[1] - 1)
    kind = state[State.CUT, place]
    if kind == JOINED or uniform(random) < 0.25:
        other = FUSED_GROUP if uniform(random) < 0.6 else LAYER_GROUP
        if other == kind:
            return False
        if kind == JOINED:
            head = head_of(state, place)
            state[State.TILES, place], state[State.STREAMED, place] = (
                state[State.TILES, head],
                state[State.STREAMED, head],
            )
        state[State.CUT, place] = other
        return True
    _join(state, place, random)
    return True


@inner
def _join(state: Ints, place: int, random: Seed) -> None:
    """Fuse the group at `place` with the one before; either's tiles stay, the larger's more likely."""
    head, end = head_of(state, place - 1), end_of(state, place)
    if uniform(random) * (end - head) < end - place:
        state[State.TILES, head], state[State.STREAMED, head] = state[State.TILES, place], state[State.STREAMED, place]
    state[State.CUT, place] = JOINED
    state[State.TILES, place] = 0
    state[State.STREAMED, place] = 0


@inner
def pick_cut(state: Ints, kind: int, random: Seed, first: int = 1) -> int:
    """A place from `first` on where a cut of this kind is, or (`ANY`) where a group begins; -1 for none."""
    count = 0
    for place in range(first, state.shape[1]):
        count += _is_cut(state, place, kind)
    if count == 0:
        return -1
    wanted = below(random, count)
    for place in range(first, state.shape[1]):
        if _is_cut(state, place, kind):
            if wanted == 0:
                return place
            wanted -= 1
    return -1


@inner
def _is_cut(state: Ints, place: int, kind: int) -> bool:
    return state[State.CUT, place] == kind or (kind == ANY and state[State.CUT, place] != JOINED)


@inner
def _move_cut(state: Ints, random: Seed) -> bool:
    """Move a cut to another place between its neighbours."""
    place = pick_cut(state, ANY, random)
    if place < 0:
        return False
    low, high = head_of(state, place - 1), end_of(state, place)
    if high - low < 3:
        return False
    reach = 1 + below(random, min(8, high - low))
    target = place + (reach if uniform(random) < 0.5 else -reach)
    if not low < target < high or target == place:
        return False
    state[State.CUT, target], state[State.TILES, target] = state[State.CUT, place], state[State.TILES, place]
    state[State.STREAMED, target] = state[State.STREAMED, place]
    state[State.CUT, place], state[State.TILES, place], state[State.STREAMED, place] = JOINED, 0, 0
    return True


@inner
def _fuse_segment(net: Net, exact: int, state: Ints, random: Seed) -> bool:
    """Make one fused group of neighbouring layers, with tiles of its own; groups that it cuts keep theirs.

    One in four may be long, and takes away the DRAM cuts within; in the exact model its weights then may be streamed.
    """
    count, large = state.shape[1], uniform(random) < 0.25
    low = below(random, count)
    high = low + 2
    while high < count and uniform(random) < (0.93 if large else 0.75):
        high += 1
    if high > count:
        return False
    for place in range(low + 1, high):
        if state[State.CUT, place] == LAYER_GROUP and not large:
            return False
    if high < count and state[State.CUT, high] == JOINED:
        head = head_of(state, high)
        tiles, streamed = state[State.TILES, head], state[State.STREAMED, head]
        state[State.CUT, high], state[State.TILES, high], state[State.STREAMED, high] = FUSED_GROUP, tiles, streamed
    head = head_of(state, low)
    if state[State.CUT, low] == JOINED:
        state[State.CUT, low], state[State.STREAMED, low] = FUSED_GROUP, state[State.STREAMED, head]
    if large and exact and uniform(random) < 0.5:
        state[State.STREAMED, low] ^= STREAMING
    for place in range(low + 1, high):
        state[State.CUT, place] = state[State.TILES, place] = state[State.STREAMED, place] = 0
    state[State.TILES, low] = _draw_tiles(net, state[State.ORDER, high - 1], random)
    return True


@inner
def _draw_tiles(net: Net, last: int, random: Seed) -> int:
    """Tiles for a fused group that ends with layer `last`: any few, a power of two, or a few rows each."""
    draw = uniform(random)
    if draw < 0.2:
        return 1 + below(random, 16)
    if draw < 0.5:
        return 1 << below(random, 5)
    rows = 1 << below(random, 4)
    return (net.layers[last, Layers.HEIGHT] + rows - 1) // rows


@inner
def join_any(state: Ints, kind: int, random: Seed) -> bool:
    """Fuse two neighbouring groups with a cut of this kind between."""
    place = pick_cut(state, kind, random)
    if place < 0:
        return False
    _join(state, place, random)
    return True


@inner
def change_fusion(net: Net, batch: int, exact: int, state: Ints, random: Seed) -> bool:
    """Change `state` a little; False where the draw changes nothing."""
    draw = uniform(random)
    if draw < 0.22:
        return _move_layer(net, state, random)
    if draw < 0.4:
        return _change_tiles(net, batch, state, random)
    if draw < 0.6:
        return _fuse_segment(net, exact, state, random)
    if draw < 0.7:
        return _change_cut(state, random)
    if draw < 0.85:
        return _move_cut(state, random)
    if draw < 0.95 or not exact:
        return join_any(state, ANY, random)
    head = head_of(state, below(random, state.shape[1]))
    state[State.STREAMED, head] ^= STREAMING if uniform(random) < 0.5 else REUSED
    return True
