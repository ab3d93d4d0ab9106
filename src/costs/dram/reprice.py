"""Schedules made for SoMa's model, priced by another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import TilewrightError
from ..soma.blocks import splits
from ..soma.plan import OUTPUT, Plan
from ..soma.timeline import timeline
from ..soma.transfers import Transfers
from .emit import FITS, OVERFLOW
from .score import score
from .tables import TWIN, Model, net_tables
from .timetable import load_key, state_of
from .workspace import (
    CYCLES,
    LOAD_SIZE,
    LOADS,
    RESULT,
    workspace,
)


@dataclass(frozen=True)
class Repriced:
    """Latency, energy, DRAM traffic and buffer use of a schedule; `overflow_bytes` is what the buffer lacks.

    `overflow_layer` is the layer whose tile needs most; -1 where all fits.
    """

    latency_cycles: int
    energy_pj: float
    dram_bytes: int
    max_buffer_bytes: int
    overflow_bytes: int
    overflow_layer: int


def reprice(plan: Plan, transfers: Transfers, model: Model) -> Repriced:
    """What `plan` with `transfers` costs in `model`; each reader loads for itself, as the schedule says.

    Raises TilewrightError (kind `schedule`) where `model` cannot cut the fused groups so.
    """
    net = net_tables(plan.network)
    net.edges[TWIN] = np.arange(net.edges.shape[1])
    work = workspace(net, max(2048, len(plan.tile_layer) + 2))
    state = state_of(plan.fusion)
    outcome = score(net, model, splits(model.array.side), plan.batch, state, work, 1 << 60, 0)
    if outcome not in (FITS, OVERFLOW):
        raise TilewrightError("schedule", plan.network.name, "tiles that the model can cut and compute", "none")
    tensors = plan.tensors
    sizes = tensors.size_bytes.copy()
    loads: dict[tuple[int, int, int, int], int] = {}
    for row in work.loads[:, : work.tally[LOADS]].T.tolist():
        loads[load_key(net, row)] = row[LOAD_SIZE]
    keys = zip(tensors.kind.tolist(), tensors.layer.tolist(), tensors.tile.tolist(), tensors.source.tolist())
    for number, key in enumerate(keys):
        place = int(tensors.position[number])
        sizes[number] = work.positions[RESULT, place] if key[0] == OUTPUT else loads[key]
    cycles = np.where(tensors.moves, model.latency - (-sizes // model.bandwidth), 0)
    count = len(plan.tile_layer)
    exact = replace(
        plan,
        tile_cycles=work.positions[CYCLES, :count].copy(),
        tensors=replace(tensors, size_bytes=sizes),
        transfer_cycles=cycles,
    )
    times = timeline(exact, transfers)
    peak = int(times.usage_bytes.max())
    lacking = max(0, peak - model.buffer_bytes)
    place = max(0, int(times.usage_bytes.argmax()) - 1)
    layer = int(plan.tile_layer[place]) if lacking else -1
    return Repriced(times.latency_cycles, float(work.energy[-1]), exact.dram_bytes, peak, lacking, layer)
