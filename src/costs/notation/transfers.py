"""Order and lives of tensors as SoMa numbers them, and what a schedule costs with them.

Tiles run in order on the cores, transfers in order on one channel (J. Cai et al., "SoMa", HPCA 2025, section V-D).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...zoo.schedule_networks.layers import Network
from ..dram.tables import Ints, Model
from ..json_fields import Json
from ..soma.fusion import INPUT, WEIGHT, Fusion
from ..soma.hardware import DRAM_PJ, Hardware
from ..soma.run import BAD_LIFE, LATE_START, PlanColumns, Scratch, TransferColumns, first_bad_life, run
from ..soma.tiling import tile_cost, tiles_of
from .parse import parse
from .values import OUTPUT, Choices, Move, Parsed, Tensor


@dataclass(frozen=True)
class Times:
    """Cycles at which tiles begin, by position, and transfers, in their order."""

    latency_cycles: int
    tile_begin: tuple[int, ...]
    move_begin: tuple[int, ...]


def transfer_cycles(parsed: Parsed, bandwidth: int, latency: int) -> tuple[int, ...]:
    """Cycles of each tensor's transfer at `bandwidth` bytes per cycle after `latency` cycles."""
    return tuple(latency - (-tensor.size_bytes // bandwidth) for tensor in parsed.tensors)


def columns_of(parsed: Parsed, transfers: Sequence[int]) -> PlanColumns:
    """Tiles and tensors as the compiled functions take them, each tensor's transfer taking so many cycles."""
    rows = [(t.layer, t.first, t.first if t.kind == OUTPUT else -1, t.size_bytes) for t in parsed.tensors]
    layer, first, made, size = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    layers, cycles = np.array([tile.layer for tile in parsed.tiles]), np.array(parsed.tile_cycles, np.int64)
    return PlanColumns(cycles, layers, layer, first, made, size, np.array(transfers, np.int64))


def times_of(parsed: Parsed, moves: Sequence[Move], transfers: Sequence[int]) -> Times:
    """The times of a legal schedule (`check_schedule`), each tensor's transfer taking so many cycles."""
    tensors, count = parsed.tensors, len(parsed.tiles)
    order, start, end = np.array(moves, np.int64).reshape(-1, 3).T.copy()
    begins, ends = np.array([[t.first, t.last] for t in tensors], np.int64).T.copy()
    begins[order], ends[order] = start, end
    begin, move_begin, usage = np.zeros(count, np.int64), np.zeros(len(order), np.int64), np.zeros(count + 2, np.int64)
    scratch = Scratch(np.zeros(count + 1, np.int64), usage, begin, move_begin)
    _, latency, _ = run(columns_of(parsed, transfers), TransferColumns(order, begins, ends), scratch)
    return Times(latency, tuple(begin.tolist()), tuple(move_begin.tolist()))


LATE = "a tile waits for a transfer that may begin only after it"


class Transfers(NamedTuple):
    """`order` lists the tensors that pass through DRAM; `start` and `end` are the lives of all tensors, by number.

    A load may begin once position `start` begins; a store must be complete when position `end - 1` ends.
    """

    order: Ints
    start: Ints
    end: Ints


def soma_parsed(network: Network, machine: Hardware, fusion: Fusion, batch: int, exact: int = 0) -> Parsed:
    """`parse` with SoMa's numbers of tensors: layer by layer inputs by source and tile, weights, results.

    Each reader loads for itself, in the exact model, too.

    Raises TilewrightError (kind `schedule`) for a fusion that does not describe a computation of `network`.
    """
    model = Model(machine.array, machine.buffer_bytes, machine.dram_bandwidth, 0, machine.array.read_port, exact)
    found = parse(network, Choices(fusion, batch), model, shared=False)
    place = {layer: i for i, layer in enumerate(fusion.order)}

    def key(tensor: Tensor) -> tuple[int, int, bool, int, int]:
        return place[tensor.layer], tensor.kind, tensor.source < 0, abs(tensor.source), tensor.tile

    return replace(found, tensors=tuple(sorted(found.tensors, key=key)))


def moved(parsed: Parsed) -> list[int]:
    """Numbers of the tensors that pass through DRAM."""
    return [number for number, tensor in enumerate(parsed.tensors) if tensor.moves]


def double_buffered(parsed: Parsed) -> Transfers:
    """What SoMa's first stage assumes: loads while the tile before runs, stores while the next tile runs."""
    groups = parsed.choices.fusion.fused_groups
    ends = np.zeros(parsed.choices.fusion.layer_group_count, np.int64)
    np.add.at(ends, [group.group for group in groups], [len(group.layers) * group.tiles for group in groups])
    ends = np.cumsum(ends)
    group_of = {layer: group.group for group in groups for layer in group.layers}
    start, end = np.array([(t.first, t.last) for t in parsed.tensors], np.int64).reshape(-1, 2).T.copy()
    for number, tensor in enumerate(parsed.tensors):
        if tensor.kind != OUTPUT:
            start[number] = max(tensor.first - 1, -1)
        elif tensor.moves:
            end[number] = max(tensor.last, min(tensor.first + 2, ends[group_of[tensor.layer]]))
    rank = {WEIGHT: 0, INPUT: 1, OUTPUT: 2}
    kinds = [tensor.kind for tensor in parsed.tensors]

    def turn(number: int) -> tuple[int, bool, int, int]:
        kind = kinds[number]
        return int(start[number]), kind != WEIGHT, int(end[number]), rank[kind]

    return Transfers(np.array(sorted(moved(parsed), key=turn), np.int64), start, end)


def price_transfers(parsed: Parsed, transfers: Transfers, machine: Hardware) -> Json:
    """The answer of `tilewright price-schedule` for one stage; prices of an illegal schedule are null."""
    cycles = transfer_cycles(parsed, machine.dram_bandwidth, 0)
    columns, given, count = columns_of(parsed, cycles), TransferColumns(*transfers), len(parsed.tiles)
    begin, usage = np.zeros(count, np.int64), np.zeros(count + 2, np.int64)
    scratch = Scratch(np.zeros(count + 1, np.int64), usage, begin, np.zeros(len(transfers.order), np.int64))
    outcome, latency, peak = run(columns, given, scratch)
    violations: list[str] = [LATE] if outcome == LATE_START else []
    if outcome == BAD_LIFE:
        tensor = first_bad_life(columns, given)
        life = f"[{transfers.start[tensor]}, {transfers.end[tensor]})"
        violations.append(f"tensor {tensor} lives during {life} but is used at {parsed.tensors[tensor].first}")
    timed = not violations
    if peak > machine.buffer_bytes:
        violations.append(f"{peak} bytes of buffer where there are {machine.buffer_bytes}")
    # As SoMa does, each interval is charged with the use at its end.
    lengths = np.diff(np.concatenate([[0], begin, [latency]]))
    mean = float((lengths * np.append(usage[1:-1], 0)).sum() / latency) if latency else 0.0
    fusion = parsed.choices.fusion
    return {
        "latency_cycles": latency if timed else None,
        "energy_pj": parsed.energy_pj if timed else None,
        "max_buffer_bytes": peak,
        "mean_buffer_bytes": mean if timed else None,
        "dram_tensors": len(transfers.order),
        "dram_bytes": _dram_bytes(parsed),
        "compute_cycles": sum(parsed.tile_cycles),
        "dram_cycles": sum(cycles[number] for number in moved(parsed)),
        "tiles": count,
        "layer_groups": fusion.layer_group_count,
        "fused_groups": len(fusion.fused_groups),
        "valid": not violations,
        "violations": violations,
    }


def _dram_bytes(parsed: Parsed) -> int:
    return sum(tensor.size_bytes for tensor in parsed.tensors if tensor.moves)


def energy_by_place(parsed: Parsed, machine: Hardware) -> dict[str, float]:
    """pJ by place in SoMa's model, whenever transfers happen; DRAM at the same price for loads and stores."""
    found = {"buffer": 0.0, "core": 0.0, "hops": 0.0, "arithmetic": 0.0, "dram": DRAM_PJ * _dram_bytes(parsed)}
    for group in parsed.choices.fusion.fused_groups:
        boxes = tiles_of(parsed.network, group, parsed.choices.batch)
        for layer in group.layers:
            cost = tile_cost(parsed.network, layer, boxes[layer], machine)
            found["buffer"] += cost.buffer_pj * group.tiles
            found["core"] += cost.core_pj * group.tiles
            found["hops"] += cost.hop_pj * group.tiles
            found["arithmetic"] += cost.arithmetic_pj * group.tiles
    return found
