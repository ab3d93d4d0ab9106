"""Compiled: what a fusion costs with its transfers decided."""

from __future__ import annotations

from ..soma.blocks import Split
from ..soma.hardware import DRAM_PJ
from .compiled import compiled
from .emit import FITS, emit
from .prefetch import prefetch
from .tables import Ints, Model, Net
from .workspace import Tally, Workspace


@compiled
def score(
    net: Net, model: Model, splits: tuple[Split, ...], batch: int, state: Ints, work: Workspace, limit: int, policy: int
) -> int:
    """Fill `work` for the fusion `state` and decide its transfers within `limit` bytes of buffer; the outcome."""
    outcome = emit(net, model, splits, batch, state, work)
    if outcome != FITS:
        return outcome
    work.energy[len(work.energy) - 1] += DRAM_PJ * work.tally[Tally.DRAM_BYTES]
    return prefetch(work, limit, policy)
