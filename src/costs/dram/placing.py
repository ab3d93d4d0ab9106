"""Compiled: how a tile lies in what it reads."""

from __future__ import annotations

from .compiled import inner
from .issue_tile import Place
from .tables import (
    INPUT_HEIGHT,
    INPUT_WIDTH,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    PAD_ABOVE,
    PAD_LEFT,
    SOURCE,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    Net,
)
from .workspace import (
    COLUMN_CUTS,
    COLUMN_FROM,
    COLUMN_TO,
    FUSED,
    GROUP,
    ROW_CUTS,
    ROW_FROM,
    ROW_TO,
    SAMPLES,
    Workspace,
)


@inner
def _beyond(net: Net, layer: int, vertical: bool, span: tuple[int, int]) -> tuple[int, int]:
    """Places of the windows at rows or columns `span` that lie before and after the map."""
    layers = net.layers
    stride, kernel, pad = layers[layer, STRIDE_WIDTH], layers[layer, KERNEL_WIDTH], layers[layer, PAD_LEFT]
    size = layers[layer, INPUT_WIDTH]
    if vertical:
        stride, kernel, pad = layers[layer, STRIDE_HEIGHT], layers[layer, KERNEL_HEIGHT], layers[layer, PAD_ABOVE]
        size = layers[layer, INPUT_HEIGHT]
    return max(0, pad - span[0] * stride), max(0, (span[1] - 1) * stride - pad + kernel - size)


@inner
def _tensors(parts: int, size: int, span: tuple[int, int], stride: int) -> int:
    """Tensors of a map cut into `parts` along `size` that hold what windows at `span` are centred on; 0 for one map."""
    if parts == 1:
        return 0
    low, high = min(span[0] * stride, size - 1), min((span[1] - 1) * stride, size - 1)
    return ((high + 1) * parts - 1) // size - ((low + 1) * parts - 1) // size + 1


@inner
def lies_in(net: Net, work: Workspace, layer: int, cell: tuple[int, int]) -> Place:
    """How a tile lies in its input."""
    stages, ranges, layers = work.stages, work.ranges, net.layers
    rows = ranges[ROW_FROM, layer, cell[0]], ranges[ROW_TO, layer, cell[0]]
    columns = ranges[COLUMN_FROM, layer, cell[1]], ranges[COLUMN_TO, layer, cell[1]]
    above, below = _beyond(net, layer, True, rows)
    left, right = _beyond(net, layer, False, columns)
    high, wide, samples = 0, 0, 1
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        source = net.edges[SOURCE, edge]
        if source < 0 or stages[GROUP, source] != stages[GROUP, layer] or stages[FUSED, source] == stages[FUSED, layer]:
            continue
        size = layers[layer, INPUT_HEIGHT], layers[layer, INPUT_WIDTH]
        high = max(high, _tensors(stages[ROW_CUTS, source], size[0], rows, layers[layer, STRIDE_HEIGHT]))
        wide = max(wide, _tensors(stages[COLUMN_CUTS, source], size[1], columns, layers[layer, STRIDE_WIDTH]))
        samples = max(samples, -(-stages[SAMPLES, layer] // stages[SAMPLES, source]))
    return above, below, left, right, high, wide, samples
