"""The second half of a schedule: when tensors come into and leave the buffer, and in which order DRAM moves them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .plan import INPUT, OUTPUT, WEIGHT, Ints, Plan


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
