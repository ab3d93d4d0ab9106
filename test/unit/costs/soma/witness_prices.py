"""The second witness of SoMa's model: what plans cost with their transfers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.costs.dram import Timetable
from tilewright.costs.dram.tables import Ints
from tilewright.costs.soma.run import BAD_LIFE, LATE_START, PlanColumns, Scratch, TransferColumns, first_bad_life, run
from tilewright.costs.soma.tiling import INPUT, OUTPUT, WEIGHT

from .witness import Plan


@dataclass(frozen=True)
class Transfers:
    """`order` lists the tensors that pass through DRAM; `start` and `end` are the lives of all tensors, by number.

    A load may begin once position `start` begins; a store must be complete when position `end - 1` ends.
    """

    order: Ints
    start: Ints
    end: Ints


def double_buffered(plan: Plan) -> Transfers:
    """What SoMa's first stage assumes: loads while the tile before runs, stores while the next tile runs."""
    tensors, moved = plan.tensors, plan.moved
    rank = np.zeros(3, np.int64)
    rank[[WEIGHT, INPUT, OUTPUT]] = 0, 1, 2
    kind = tensors.kind[moved]
    keys = rank[kind], tensors.end[moved], kind != WEIGHT, tensors.start[moved]
    return Transfers(moved[np.lexsort(keys)], tensors.start, tensors.end)


@dataclass(frozen=True)
class Timeline:
    """Cycles at which each tile begins, and each transfer in order; bytes of buffer at positions -1, 0, ..., N - 1.

    `violation` is empty where the schedule can run; where it cannot, there are no cycles.
    """

    latency_cycles: int
    tile_begin: Ints
    transfer_begin: Ints
    usage_bytes: Ints
    violation: str = ""


def plan_columns(plan: Plan) -> PlanColumns:
    """`plan` as the compiled functions take it."""
    tensors = plan.tensors
    return PlanColumns(
        plan.tile_cycles,
        plan.tile_layer,
        tensors.layer,
        tensors.position,
        np.where(tensors.kind == OUTPUT, tensors.position, -1),
        tensors.size_bytes,
        plan.transfer_cycles,
    )


def timeline(plan: Plan, transfers: Transfers) -> Timeline:
    """The times of `plan` with `transfers`."""
    columns, given = plan_columns(plan), TransferColumns(transfers.order, transfers.start, transfers.end)
    count = len(plan.tile_cycles)
    begin, transfer_begin = np.zeros(count, np.int64), np.zeros(len(transfers.order), np.int64)
    usage = np.zeros(count + 2, np.int64)
    outcome, cycles, _ = run(columns, given, Scratch(np.zeros(count + 1, np.int64), usage, begin, transfer_begin))
    violation = ""
    if outcome == BAD_LIFE:
        violation = _bad_life(plan, transfers, first_bad_life(columns, given))
    elif len(transfers.order) != len(plan.moved):
        violation = "a transfer is missing"
    elif outcome == LATE_START:
        violation = "a tile waits for a transfer that may begin only after it"
    return Timeline(0 if violation else cycles, begin, transfer_begin, usage[:-1], violation)


def _bad_life(plan: Plan, transfers: Transfers, tensor: int) -> str:
    life = f"[{transfers.start[tensor]}, {transfers.end[tensor]})"
    return f"tensor {tensor} lives during {life} but is used at {plan.tensors.position[tensor]}"


@dataclass(frozen=True)
class Price:
    """Times and buffer use of a plan with transfers; energy is the plan's alone."""

    plan: Plan
    transfers: Transfers
    times: Timeline

    @property
    def latency_cycles(self) -> int:
        """End of the last tile or transfer; 0 for an illegal schedule."""
        return self.times.latency_cycles

    @property
    def energy_pj(self) -> float:
        """Energy of all tiles and transfers."""
        return self.plan.energy_pj

    @property
    def max_buffer_bytes(self) -> int:
        """The largest use of the buffer."""
        return int(self.times.usage_bytes.max())

    @property
    def mean_buffer_bytes(self) -> float:
        """Mean use of the buffer over time; as SoMa does, each interval is charged with the use at its end."""
        begin, latency = self.times.tile_begin, self.latency_cycles
        lengths = np.diff(np.concatenate([[0], begin, [latency]]))
        return float((lengths * np.append(self.times.usage_bytes[1:], 0)).sum() / latency) if latency else 0.0

    @property
    def violations(self) -> tuple[str, ...]:
        """Why the schedule cannot run; empty for a legal one."""
        found = [self.times.violation] if self.times.violation else []
        if not np.isfinite(self.energy_pj):
            found.append("a tile that does not fit into the cores' buffers")
        limit = self.plan.machine.buffer_bytes
        if self.max_buffer_bytes > limit:
            found.append(f"{self.max_buffer_bytes} bytes of buffer where there are {limit}")
        return tuple(found)

    def as_json(self) -> dict[str, object]:
        """The answer of `tilewright price-schedule` for one stage; prices of an illegal schedule are null."""
        plan, violations = self.plan, self.violations
        timed = not self.times.violation and bool(np.isfinite(self.energy_pj))
        return {
            "latency_cycles": self.latency_cycles if timed else None,
            "energy_pj": self.energy_pj if timed else None,
            "max_buffer_bytes": self.max_buffer_bytes,
            "mean_buffer_bytes": self.mean_buffer_bytes if timed else None,
            "dram_tensors": len(plan.moved),
            "dram_bytes": plan.dram_bytes,
            "compute_cycles": plan.compute_cycles,
            "dram_cycles": plan.dram_cycles,
            "tiles": len(plan.tile_cycles),
            "layer_groups": plan.fusion.layer_group_count,
            "fused_groups": len(plan.fusion.fused_groups),
            "energy_by_place_pj": plan.energy if timed else None,
            "valid": not violations,
            "violations": list(violations),
        }


def evaluate(plan: Plan, transfers: Transfers | None = None) -> Price:
    """Price `plan` with `transfers`, or double buffered as SoMa's first stage assumes."""
    moved = double_buffered(plan) if transfers is None else transfers
    return Price(plan, moved, timeline(plan, moved))


def transfers_of(table: Timetable, plan: Plan) -> Transfers:
    """Order and lives of the tensors of `plan`, the plan of `table.fusion`, as `table` has them."""
    tensors = plan.tensors
    keys = zip(tensors.kind.tolist(), tensors.layer.tolist(), tensors.tile.tolist(), tensors.source.tolist())
    number = {key: i for i, key in enumerate(keys)}
    start, end = tensors.start.copy(), tensors.end.copy()
    order = np.array([number[item.kind, item.layer, item.tile, item.source] for item in table.transfers], np.int64)
    start[order] = [item.start for item in table.transfers]
    end[order] = [item.end for item in table.transfers]
    return Transfers(order, start, end)
