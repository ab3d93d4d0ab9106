"""The second witness of the notation: section IV-A in plain Python, a box for every tile and tensor.

Order, cuts and tiling numbers become tiles in order and the tensors that they need.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tilewright.costs.notation import INPUT, OUTPUT, WEIGHT, Choices, Tensor
from tilewright.costs.soma.tiling import FusedGroup, check_fusion
from tilewright.zoo.schedule_networks.layers import Network

from .reference_reach import COLUMNS, ROWS, Region, Span, cuts_of, read_region, read_span, source_channels, sources_of


class Tile(NamedTuple):
    """Tile number `tile` of `layer`, and what it makes."""

    layer: int
    tile: int
    region: Region


@dataclass
class _Load:
    """A load being made; `edge` is the (layer, source) that asked for it first."""

    edge: tuple[int, int]
    tile: int
    region: Region | None
    size_bytes: int
    first: int
    last: int


@dataclass
class _Group:
    """A fused group with its cuts, and the spans of rows and columns of each layer's tiles."""

    number: int
    given: FusedGroup
    first: int
    cuts: tuple[int, int, int]
    spans: dict[int, tuple[list[Span], list[Span]]]


@dataclass
class _State:
    network: Network
    choices: Choices
    groups: list[_Group]
    where: dict[int, tuple[_Group, int]]
    readers: dict[int, list[tuple[int, int]]]
    loads: list[_Load] = field(default_factory=list[_Load])
    made: dict[tuple[int, int], list[int]] = field(default_factory=dict[tuple[int, int], list[int]])
    stays: dict[tuple[int, int], list[int]] = field(default_factory=dict[tuple[int, int], list[int]])


def reference(network: Network, choices: Choices) -> tuple[list[Tile], list[Tensor]]:
    """Tiles and tensors of `choices`; each tile has its own borders, and inputs that tiles share are loaded once.

    Raises TilewrightError (kind `schedule`) where the choices do not describe a computation of `network`.
    """
    check_fusion(network, choices.fusion)
    groups = _groups(network, choices)
    where = {layer: (group, i) for group in groups for i, layer in enumerate(group.given.layers)}
    readers: dict[int, list[tuple[int, int]]] = {}
    for number in range(len(network.layers)):
        for source in sources_of(network, number):
            readers.setdefault(source, []).append((number, source))
    state = _State(network, choices, groups, where, readers)
    tiles: list[Tile] = []
    for group in groups:
        for tile in range(group.given.tiles):
            for layer in group.given.layers:
                tiles.append(Tile(layer, tile, _region(state, group, layer, tile)))
                _feed(state, group, tiles[-1])
                _weights(state, group, layer, tile)
    tensors = [_load_tensor(load) for load in state.loads]
    return tiles, tensors + [_result(state, position, tile) for position, tile in enumerate(tiles)]


def _groups(network: Network, choices: Choices) -> list[_Group]:
    found: list[_Group] = []
    first = 0
    for number, given in enumerate(choices.fusion.fused_groups):
        after = first + len(given.layers) * given.tiles
        cuts = cuts_of(network, given.layers, given.tiles, choices.batch)
        found.append(_Group(number, given, first, cuts, _spans(network, given, cuts)))
        first = after
    return found


def _spans(network: Network, group: FusedGroup, cuts: tuple[int, int, int]) -> dict[int, tuple[list[Span], list[Span]]]:
    """Rows and columns of the tiles: results are cut evenly, producers make what readers in the group take."""
    found: dict[int, tuple[list[Span], list[Span]]] = {}
    inside = set(group.layers)
    for number in reversed(group.layers):
        shape = network.layers[number].shape
        readers = [reader for reader in network.consumers[number] if reader in inside]
        axes: list[list[Span]] = []
        for axis, (size, parts) in enumerate(zip(shape[1:], cuts[1:], strict=True)):
            spans = [(i * size // parts, (i + 1) * size // parts) for i in range(parts)]
            for i in range(parts) if readers else ():
                reads = [_reader_span(network, found, number, reader, axis, i) for reader in readers]
                spans[i] = min(low for low, _ in reads), max(high for _, high in reads)
            axes.append(spans)
        found[number] = axes[0], axes[1]
    return found


def _reader_span(
    network: Network, spans: dict[int, tuple[list[Span], list[Span]]], source: int, reader: int, axis: int, part: int
) -> Span:
    low, high = spans[reader][1 - axis][0]
    channels = network.layers[reader].shape.channels
    return read_span(network, reader, source, axis, spans[reader][axis][part], high - low, channels)


def _region(state: _State, group: _Group, layer: int, tile: int) -> Region:
    samples, rows, columns = group.cuts
    size, part = state.choices.batch // samples, tile // (rows * columns)
    spans = group.spans[layer]
    return Region(
        (part * size, (part + 1) * size),
        state.network.layers[layer].shape.channels,
        spans[ROWS][tile // columns % rows],
        spans[COLUMNS][tile % columns],
    )


def _position(state: _State, layer: int, tile: int) -> int:
    group, place = state.where[layer]
    return group.first + tile * len(group.given.layers) + place


def _feed(state: _State, group: _Group, tile: Tile) -> None:
    """Makes the loads of a tile's inputs."""
    for source in sources_of(state.network, tile.layer):
        if source < 0 or state.where[source][0].given.group != group.given.group:
            _load(state, group, tile, source, read_region(state.network, tile.layer, source, tile.region))


def _load(state: _State, group: _Group, tile: Tile, source: int, region: Region) -> None:
    edge, at = (tile.layer, source), _position(state, tile.layer, tile.tile)
    shared = _joined(state, group, edge, tile.tile)
    if shared is not None:
        load = state.loads[shared]
        assert load.region is not None
        load.region = load.region.union(region)
        load.size_bytes, load.last = load.region.size_bytes, max(load.last, at + 1)
        return
    if state.choices.flags(group.number)[1]:
        before = state.made.get(edge, [])
        if before and state.loads[before[-1]].region == region:
            state.loads[before[-1]].last = at + 1
            return
        if tile.tile == 0:
            last = _position(state, tile.layer, group.given.tiles - 1) + 1
            state.stays[edge] = _staying(state, group, edge, last)
        if state.stays[edge]:
            return
    state.loads.append(_Load(edge, tile.tile, region, region.size_bytes, at, at + 1))
    state.made.setdefault(edge, []).append(len(state.loads) - 1)


def _twins(state: _State, edge: tuple[int, int]) -> list[tuple[int, int]]:
    """Other readers of the edge's source, from the next on around."""
    ring = state.readers[edge[1]]
    place = ring.index(edge)
    return ring[place + 1 :] + ring[:place]


def _joined(state: _State, group: _Group, edge: tuple[int, int], tile: int) -> int | None:
    """A load for this tile by another layer of the group from the same source."""
    for twin in _twins(state, edge):
        made = state.made.get(twin)
        if made and state.where[twin[0]][0] is group and state.loads[made[-1]].tile == tile:
            return made[-1]
    return None


def _staying(state: _State, group: _Group, edge: tuple[int, int], last: int) -> list[int]:
    """Loads of an earlier fused group of the layer group that together hold all of the source; they stay on."""
    network, shape = state.network, state.network.input_shapes[edge[0]]
    whole = source_channels(network, edge[1]) * shape.height * shape.width * state.choices.batch
    for twin in _twins(state, edge):
        other, made = state.where[twin[0]][0], state.made.get(twin, [])
        near = other.given.group == group.given.group and other.number < group.number
        if not (near and made and _reads_gapless(network, twin[0])):
            continue
        if sum(state.loads[load].size_bytes for load in made) >= whole:
            for load in made:
                state.loads[load].last = max(state.loads[load].last, last)
            return list(made)
    return []


def _reads_gapless(network: Network, number: int) -> bool:
    layer = network.layers[number]
    return layer.kernel[0] >= layer.stride[0] and layer.kernel[1] >= layer.stride[1]


def _weights(state: _State, group: _Group, layer: int, tile: int) -> None:
    """Makes the load of the weights that a tile uses."""
    size = state.network.weight_bytes(layer)
    streamed = state.choices.flags(group.number)[0]
    if size and (tile == 0 or streamed):
        first = _position(state, layer, tile)
        last = _position(state, layer, tile if streamed else group.given.tiles - 1) + 1
        state.loads.append(_Load((layer, WEIGHTS), tile, None, size, first, last))


WEIGHTS = 1 << 62
"""Stands for the source of weights."""


def _load_tensor(load: _Load) -> Tensor:
    layer, source = load.edge
    kind, source = (WEIGHT, -1) if source == WEIGHTS else (INPUT, source)
    return Tensor(kind, layer, load.tile, source, load.size_bytes, load.first, load.last, True)


def _result(state: _State, position: int, tile: Tile) -> Tensor:
    """A tile's result: it stays for readers of its layer group and is stored for those of others."""
    group, place = state.where[tile.layer]
    readers = state.network.consumers[tile.layer]
    last, moves = position + 1, not readers
    for reader in readers:
        other, at = state.where[reader]
        if other is group:
            last = max(last, position + 1 + at - place)
        elif other.given.group == group.given.group:
            last = max(last, _position(state, reader, other.given.tiles - 1) + 1)
        else:
            moves = True
    return Tensor(OUTPUT, tile.layer, tile.tile, -1, tile.region.size_bytes, position, last, moves)
