"""Where the regions of a fused group lie: MAIN of each map, and SIDE where tiles are narrower than the maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..costs.fusion.platform import Platform
from ..costs.fusion.regions import Region, RegionManager
from ..costs.fusion.scheme import Held, Scheme


@dataclass(frozen=True)
class Regions:
    """The regions of each source of a group by its number, and the bytes that all need."""

    main: dict[int, Region]
    side: dict[int, Region]
    demand_bytes: int


def regions_of(scheme: Scheme, platform: Platform, row_bytes: Callable[[Held], int]) -> Regions:
    """The regions of a scheme; `row_bytes` is what one row of a source takes.

    Programs copy columns to SIDE as soon as they are made, so that it holds `rows.kept` rows of all columns: those in
    MAIN are in it, too (the paper's has the other columns only, and moves each as it leaves MAIN).
    """
    if scheme.tile[1] == 0:
        return Regions({source.number: source.main for source in scheme.sources}, {}, scheme.demand_bytes)
    manager = RegionManager(platform.regions, platform.buffers.global_bytes, platform.align_bytes)
    main: dict[int, Region] = {}
    side: dict[int, Region] = {}

    def place(source: Held) -> None:
        main[source.number] = manager.take(source.main.name, source.main.size)
        if source.side is not None:
            side[source.number] = manager.take(source.side.name, source.rows.kept * row_bytes(source))

    for source in scheme.sources:
        if source.whole:
            place(source)
    whole = len(manager.held)
    for stage in range(scheme.stages):
        manager.release_to(whole)
        for source in scheme.sources:
            if not source.whole and source.stage == stage:
                place(source)
    return Regions(main, side, manager.peak_bytes)
