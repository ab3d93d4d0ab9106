"""The same notation as SoMa's own model reads it: every tile is the top left one, every reader loads for itself."""

from __future__ import annotations

from ...zoo.schedule_networks.layers import Network
from ..dram.tables import Model
from ..soma.hardware import Hardware
from ..soma.plan import Plan
from ..soma.planner import plan
from .values import OUTPUT, Choices, Parsed, Tensor, Tile


def parse_soma(network: Network, choices: Choices, model: Model) -> Parsed:
    """Tiles and tensors of `choices`, without regions and feeds.

    Raises TilewrightError (kind `schedule`) where the choices do not describe a computation of `network`.
    """
    machine = Hardware(model.array, model.buffer_bytes, model.bandwidth)
    found = plan(network, machine, choices.fusion, choices.batch)
    tiles = tuple(
        Tile(layer, tile, None)
        for layer, tile in zip(found.tile_layer.tolist(), found.tile_index.tolist(), strict=True)
    )
    columns = found.tensors
    rows = zip(
        columns.kind.tolist(),
        columns.layer.tolist(),
        columns.tile.tolist(),
        columns.source.tolist(),
        columns.size_bytes.tolist(),
        columns.position.tolist(),
        columns.end.tolist(),
        columns.moves.tolist(),
        strict=True,
    )
    tensors: list[Tensor] = []
    for kind, layer, tile, source, size, position, end, moves in rows:
        last = _last_use(found, layer, position) if kind == OUTPUT else end
        tensors.append(Tensor(kind, layer, tile, source, None, size, position, last, moves))
    return Parsed(network, choices, tiles, tuple(tensors), (), (), ())


def _last_use(found: Plan, layer: int, position: int) -> int:
    """The position after the last tile that reads the result of `layer` at `position` on chip."""
    columns, last = found.columns, position + 1
    group, fused, tiles, first, step = columns[:5]
    for reader in found.network.consumers[layer]:
        if fused[reader] == fused[layer]:
            last = max(last, position + 1 + int(first[reader] - first[layer]))
        elif group[reader] == group[layer]:
            last = max(last, int(first[reader] + (tiles[reader] - 1) * step[reader]) + 1)
    return last
