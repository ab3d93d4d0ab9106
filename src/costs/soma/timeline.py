"""When every tile and every transfer of a schedule runs, and what the buffer holds meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .plan import OUTPUT, Ints, Plan
from .run import BAD_LIFE, LATE_START, PlanColumns, Scratch, TransferColumns, first_bad_life, run
from .transfers import Transfers


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
