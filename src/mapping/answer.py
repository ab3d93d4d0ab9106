"""What mapping a kernel answers."""

from dataclasses import dataclass
from functools import cached_property
from json import dumps
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import StringAttr

from ..backends.report import TrafficRow, loop_nest, mapping_svg, traffic_rows
from ..costs.bounds import Bounds, bounds_of
from ..costs.clock import Limit
from ..costs.exact import dram_bits, dram_bytes
from ..costs.hierarchy import Architecture, LoopMapping, mapping_as_json
from ..costs.hierarchy.statement import text_of_problem
from ..costs.mapping.levels import canonical
from ..costs.model import evaluate_with
from ..costs.timeloop import Prices
from ..dialects.nest import WORDS, GroupOp
from ..errors import TilewrightError
from ..frontends.acg import target_files
from ..search.mapping.values import Mapped, Objective, Request
from .kernels import Layer
from .machines import TARGET

FIGURES: dict[Objective, str] = {
    "edp": "edp_j_cycle",
    "energy": "energy_pj",
    "latency": "cycles",
    "dram": "dram_words",
    "noc": "cycles",
}
"""The figure of prices and bounds that each objective makes small."""


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

    def __repr__(self) -> str:
        prices, proven = self.prices, ", proven best" if self.mapped.proven else ""
        figures = f"{prices.cycles} cycles, {prices.energy_pj:.6g} pJ"
        return f"<LayerMapping of {self.layer.name} on {self.arch.name}: {figures}{proven}>"

    @cached_property
    def mapping(self) -> LoopMapping:
        """Loops and kept tensors of each memory, innermost first."""
        return canonical(self.arch, self.layer.problem, self.mapped.mapping)

    @cached_property
    def prices(self) -> Prices:
        """Counts, cycles and energy by the cost model of the request."""
        return evaluate_with(self.request.model, self.arch, self.layer.problem, self.mapping)

    @cached_property
    def exact_prices(self) -> Prices:
        """Counts, cycles and energy by the exact model, whose bounds `bounds` are."""
        if self.request.model == "exact":
            return self.prices
        return evaluate_with("exact", self.arch, self.layer.problem, self.mapping)

    @cached_property
    def bounds(self) -> Bounds:
        """What no mapping can go below, by the exact model."""
        return bounds_of(self.arch, self.layer.problem)

    @property
    def gap(self) -> float:
        """By how much the objective is above its bound, both by the exact model: 0.25 is 25 % more than the limit."""
        figure = FIGURES[self.request.objective]
        value = self.dram_words if figure == "dram_words" else getattr(self.exact_prices, figure)
        return relative_gap(value, getattr(self.bounds, figure))

    @property
    def search_gap(self) -> float | None:
        """By how much the objective may be above the best mapping's: 0 is proven best, None is not known."""
        if self.mapped.proven:
            return 0.0
        bound = self.mapped.lower_bound
        return relative_gap(self.searched, bound) if bound > 0 else None

    @property
    def searched(self) -> float:
        """What was minimised: EDP, energy, cycles or words to and from the outermost memory by the request's model."""
        if self.request.objective == "dram":
            arch, problem = self.arch.counting_words(), self.layer.problem
            return evaluate_with(self.request.model, arch, problem, self.mapping).energy_pj
        found = self.mapped if self.request.objective == "noc" else self.prices
        return getattr(found, FIGURES[self.request.objective])

    @property
    def dram_words(self) -> float:
        """Words of the outermost memory that move to and from it, by the exact model (elements may be narrower)."""
        return self.arch.levels[-1].words_of(dram_bits(self.arch, self.layer.problem, self.exact_prices))

    @property
    def dram_bytes(self) -> int:
        """Bytes to and from the outermost memory, by the exact model, rounded up."""
        return dram_bytes(self.arch, self.layer.problem, self.exact_prices)

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

    def mlir(self, target: str | Path | None = None) -> str:
        """The mapped kernel as text of the nest dialect, a function of the kernel's tensors.

        It names `target` as the machine that it is for, the shipped one of this name where that is None.
        """
        from ..frontends.einsum import einsum_module
        from ..passes.nest.trees import put_mapping

        module = einsum_module(text_of_problem(self.layer.problem), self.layer.types)
        (group,) = (op for op in module.walk() if isinstance(op, GroupOp))
        if self.layer.types is None:
            group.attributes["elements"] = WORDS
        if target is None and self.arch.name in target_files():
            target = self.arch.name
        if target is not None:
            group.attributes[TARGET] = StringAttr(str(target))
        put_mapping(group, self.arch, self.layer.problem, self.mapping)
        return str(module) + "\n"

    def certificate(self) -> str:
        """A certificate, as JSON text, that no mapping of the request's space is better; see docs/exact-mapper.md.

        It is made in what the search left of the time limit, and tells a gap where that is too little.
        """
        from ..certificates.make import as_json
        from .certify import certify

        if not self.mapped.proven:
            subject = f"certificate of {self.layer.name} on {self.arch.name}"
            lever = "search longer (--time-limit), by --method exact"
            raise TilewrightError("unsupported", subject, "a mapping that is proven best", "one that is not", lever)
        all_s = self.request.time_limit_s
        left = Limit(None if all_s is None else all_s - self.mapped.cpu_s)
        made = certify(self.arch, self.layer.problem, self.mapping, self.request, limit=left)
        return dumps(as_json(made)) + "\n"

    def write_timeloop(self, folder: Path) -> list[Path]:
        """Writes problem, architecture and mapping as Timeloop reads them; the files."""
        from ..backends.timeloop import write_timeloop

        return write_timeloop(folder, self.arch, self.layer.problem, self.mapping)

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright map --json`."""
        mapped, prices, exact = self.mapped, self.prices, self.exact_prices
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
            **({"noc_cycles": mapped.cycles} if self.request.objective == "noc" else {}),
            "dram_words": self.dram_words,
            "dram_bytes": self.dram_bytes,
            "valid": prices.valid,
            "violations": [violation.as_json() for violation in prices.violations],
            "proven": mapped.proven,
            "search_bound": mapped.lower_bound,
            "search_gap": self.search_gap,
            "lower_bound": self.bounds.as_json(),
            "exact": {"edp": exact.edp_j_cycle, "energy_pj": exact.energy_pj, "cycles": exact.cycles},
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


def relative_gap(value: float, bound: float) -> float:
    """By how much a value is above its bound, relative to the bound: a value of 0 meets it, others are infinitely far
    above a bound of 0."""
    if bound > 0:
        return value / bound - 1
    return 0.0 if value == 0 else float("inf")
