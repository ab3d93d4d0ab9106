"""What mapping a kernel answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from xdsl.printer import Printer

from ..backends.report import TrafficRow, loop_nest, mapping_svg, traffic_rows
from ..costs.hierarchy import Architecture, LoopMapping, mapping_as_json
from ..costs.hierarchy.statement import text_of_problem
from ..costs.mapping.levels import canonical
from ..costs.timeloop import Prices
from ..dialects.nest import GroupOp
from ..search.mapping.values import CostModel, Mapped, Request
from .floor import Bounds, bounds_of
from .kernels import Layer


@dataclass(frozen=True)
class LayerMapping:
    """The best mapping of a kernel on a machine, its price, and how far that is from any mapping's limit.

    `mapped` is the mapper's answer; the price is computed from the mapping anew.
    """

    layer: Layer
    arch: Architecture
    mapper: str
    request: Request
    mapped: Mapped

    @cached_property
    def mapping(self) -> LoopMapping:
        """Loops and kept tensors of each memory, innermost first."""
        return canonical(self.arch, self.layer.problem, self.mapped.mapping)

    @cached_property
    def prices(self) -> Prices:
        """Counts, cycles and energy by the cost model of the request."""
        return price(self.arch, self.layer, self.mapping, self.request.model)

    @cached_property
    def bounds(self) -> Bounds:
        """What no mapping can go below."""
        return bounds_of(self.arch, self.layer.problem)

    @property
    def gap(self) -> float:
        """By how much the objective is above its bound, relative to the bound: 0.25 is 25 % more than the limit."""
        match self.request.objective:
            case "edp":
                value, bound = self.prices.edp_j_cycle, self.bounds.edp
            case "energy":
                value, bound = self.prices.energy_pj, self.bounds.energy_pj
            case "latency":
                value, bound = float(self.prices.cycles), float(self.bounds.cycles)
        return value / bound - 1 if bound > 0 else float("inf")

    @property
    def loops(self) -> str:
        """The loop nest as text, outermost loop first."""
        return loop_nest(self.arch, self.layer.problem, self.mapping)

    @property
    def traffic(self) -> tuple[TrafficRow, ...]:
        """Words and energy of each tensor at each memory."""
        return traffic_rows(self.prices)

    def svg(self) -> str:
        """A picture of the mapping as SVG text: memories, what they keep, and the loops between them."""
        return mapping_svg(self.arch, self.layer.problem, self.mapping, self.prices)

    def mlir(self) -> str:
        """The mapped kernel as text of the nest dialect, a function of the kernel's tensors."""
        from ..frontends.einsum import einsum_module
        from ..passes.nest_problems import put_mapping

        module = einsum_module(text_of_problem(self.layer.problem))
        (group,) = (op for op in module.walk() if isinstance(op, GroupOp))
        put_mapping(group, self.arch, self.layer.problem, self.mapping)
        stream = StringIO()
        Printer(stream).print_op(module)
        return stream.getvalue() + "\n"

    def write_timeloop(self, folder: Path) -> list[Path]:
        """Writes problem, architecture and mapping as Timeloop reads them; the files."""
        from ..backends.timeloop import write_timeloop

        return write_timeloop(folder, self.arch, self.layer.problem, self.mapping)

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright map --json`."""
        mapped, prices, bounds = self.mapped, self.prices, self.bounds
        return {
            "kernel": self.layer.name,
            "target": self.arch.name,
            "mapper": self.mapper,
            "objective": self.request.objective,
            "model": self.request.model,
            "factors": self.request.space.factors,
            "edp": prices.edp_j_cycle,
            "energy_pj": prices.energy_pj,
            "cycles": prices.cycles,
            "valid": prices.valid,
            "violations": [violation.as_json() for violation in prices.violations],
            "proven": mapped.proven,
            "search_bound": mapped.lower_bound,
            "lower_bound": bounds.as_json(),
            "gap": self.gap,
            "evaluated": mapped.evaluated,
            "utilization": prices.utilization,
            "macs": prices.macs,
            "energy_by_component_pj": dict(prices.energy_by_component_pj),
            "levels": {name: level.as_json() for name, level in prices.levels.items()},
            "dims": dict(zip(self.layer.problem.dims, self.layer.problem.bounds, strict=True)),
            "mapping": mapping_as_json(self.arch, self.layer.problem, self.mapping),
            "cpu_s": mapped.cpu_s,
        }


def price(arch: Architecture, layer: Layer, mapping: LoopMapping, model: CostModel) -> Prices:
    """A mapping's price by a cost model."""
    if model == "timeloop":
        from ..costs.timeloop import evaluate as by_timeloop

        return by_timeloop(arch, layer.problem, mapping)
    from ..costs.exact import evaluate

    return evaluate(arch, layer.problem, mapping)
