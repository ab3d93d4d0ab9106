"""The price of a schedule in SoMa's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .plan import Plan
from .timeline import Timeline, timeline
from .transfers import Transfers, double_buffered


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
