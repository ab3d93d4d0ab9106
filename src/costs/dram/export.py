"""A timetable in SoMa's terms, so that its own evaluator can price it."""

from __future__ import annotations

import numpy as np

from ..soma.plan import Plan
from ..soma.transfers import Transfers
from .timetable import Timetable


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
