"""From the name of a kernel or network, and of a machine, to mappings."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..costs.hierarchy import Architecture, Problem
from ..driver import Progress
from ..errors import TilewrightError, check_type
from ..frontends.input_shapes import InputShapes
from ..option_fields import check_fields
from ..search.mapping.mappers import map_problems
from ..search.mapping.values import CostModel, Factors, Objective, Request, Space
from .answer import FIGURES, LayerMapping, relative_gap
from .kernels import Layer, find_layers
from .machines import find_architecture

KERNEL_LIMIT_S = 30.0
LAYER_LIMIT_S = 1.0
THREADS_LIMIT_S = 0.5
"""Processor seconds of the search where no limit is given: for one kernel, for each layer of a network, and for each
layer on machines of threads, whose kernels are then written within a second."""


@dataclass(frozen=True)
class MapOptions:
    """What a caller may choose about a mapping.

    `objective` is what is minimised: energy times delay, energy, cycles, or words to and from off-chip memory.
    `mapper` searches (`search.mapping`); `factors` may be perfect (loop bounds that divide) or imperfect (a last,
    shorter tile).  `model` prices: `exact`, or `timeloop` with that tool's simplifications (perfect factors only).
    Without `bypass` every memory keeps all that it may; without `split_axes` a dimension is spread over columns or over
    rows of an array, not both (as Timeloop's files can say).  `time_limit_s` is processor time per layer, whatever
    `jobs`, which is how many processes map layers side by side; the exact mapper may end as soon as it is within `gap`
    (0.01 for 1 %) of the best.  `types` gives element types of an einsum's tensors, `shapes` the batch of a network and
    what a model leaves open.
    """

    objective: Objective = "edp"
    mapper: str = "exact"
    factors: Factors | None = None
    model: CostModel = "exact"
    bypass: bool = True
    split_axes: bool = True
    seed: int = 0
    time_limit_s: float | None = None
    jobs: int = 1
    shapes: InputShapes = field(default_factory=InputShapes)
    types: Mapping[str, str] | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, seed=0, time_limit_s=0, jobs=1, gap=0)

    def request(self, default_limit_s: float) -> Request:
        """What the mapper is asked."""
        factors = self.factors or ("perfect" if self.model == "timeloop" else "imperfect")
        if self.model == "timeloop" and factors == "imperfect":
            lever = "take --factors perfect, or --model exact"
            raise TilewrightError("usage", "factors of model timeloop", "perfect ones", factors, lever)
        space = Space(bypass=self.bypass, split_axes=self.split_axes, factors=factors)
        limit = default_limit_s if self.time_limit_s is None else self.time_limit_s
        return Request(self.objective, self.model, space, self.seed, limit, gap=self.gap)


@dataclass(frozen=True)
class NetworkMapping:
    """Mappings of all layers of a network; totals count each layer as often as it occurs.

    Layers `unmapped` had no mapping yet when the process was asked to stop; they are in no total.
    """

    network: str
    arch: Architecture
    layers: tuple[LayerMapping, ...]
    wall_s: float
    unmapped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        cycles, energy = self.total("prices", "cycles"), self.total("prices", "energy_pj")
        figures = f"{len(self.layers)} layers, {cycles:.0f} cycles, {energy:.6g} pJ"
        return f"<NetworkMapping of {self.network} on {self.arch.name}: {figures}>"

    def total(self, which: str, key: str) -> float:
        """The sum over all layers of one figure (`energy_pj`, `cycles`) of `prices`, `exact_prices` or `bounds`."""
        return sum(layer.layer.repeats * getattr(getattr(layer, which), key) for layer in self.layers)

    def totals(self, which: str) -> dict[str, float]:
        """Energy, cycles and their product of all layers, one after another."""
        energy, cycles = self.total(which, "energy_pj"), self.total(which, "cycles")
        return {"edp": energy * 1e-12 * cycles, "energy_pj": energy, "cycles": cycles}

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright map --json` for a network."""
        objective = self.layers[0].request.objective
        key = FIGURES[objective].removesuffix("_j_cycle")
        exact, bounds = self.totals("exact_prices"), self.totals("bounds")
        exact["dram_words"] = sum(layer.layer.repeats * layer.dram_words for layer in self.layers)
        bounds["dram_words"] = self.total("bounds", "dram_words")
        solved = {id(layer.mapped): layer.mapped for layer in self.layers}.values()
        return {
            "network": self.network,
            "target": self.arch.name,
            "objective": objective,
            **self.totals("prices"),
            "valid": all(layer.prices.valid for layer in self.layers),
            "proven": not self.unmapped and all(layer.mapped.proven for layer in self.layers),
            "lower_bound": bounds,
            "exact": exact,
            "gap": relative_gap(exact[key], bounds[key]),
            "evaluated": sum(mapped.evaluated for mapped in solved),
            "solved": len(solved),
            **({"unmapped": list(self.unmapped)} if self.unmapped else {}),
            "layers": [layer.as_dict() | {"repeats": layer.layer.repeats} for layer in self.layers],
            "cpu_s": sum(mapped.cpu_s for mapped in solved),
            "wall_s": self.wall_s,
        }


def map_kernel(
    kernel: str | Path | Problem, target: str | Path | Architecture, options: MapOptions | None = None
) -> LayerMapping:
    """The best mapping of one kernel on a machine.

        mapped = tilewright.map_kernel("O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=64", "eyeriss_like")
        print(mapped.loops, mapped.prices.edp_j_cycle, mapped.gap)

    `kernel` is einsum text with bounds, a layer of a network (`resnet18:conv2_1`, `model.onnx:node`), or a file
    (`mapping.kernels.FORMS`); `target` a shipped machine or a file that describes one.  Raises `TilewrightError` for
    what cannot be read, and where the machine has no path for a tensor; `InfeasibleError` where nothing fits.
    """
    check_type("kernel", kernel, (str, Path, Problem), "einsum text, the name of a layer, a path, or a Problem")
    check_type("options", options, (MapOptions, type(None)), "MapOptions")
    options = options or MapOptions()
    found = _layers(kernel, options)
    if len(found) != 1:
        names = ", ".join(layer.name for layer in found[:4])
        lever = f"name one of its layers ({names}, ...), or take map_network"
        raise TilewrightError("usage", str(kernel), "one kernel", f"{len(found)} layers", lever)
    return map_layers(str(kernel), found, target, options).layers[0]


def map_network(
    network: str | Path,
    target: str | Path | Architecture,
    options: MapOptions | None = None,
    progress: Progress | None = None,
) -> NetworkMapping:
    """The best mappings of all layers of a network that sum products; equal layers are mapped once.

    `network` is a name of the zoo, an ONNX file or a `.mlir` file.  Errors as for `map_kernel`.
    """
    check_type("network", network, (str, Path), "the name of a network, or a path")
    check_type("options", options, (MapOptions, type(None)), "MapOptions")
    options = options or MapOptions()
    return map_layers(str(network), _layers(network, options), target, options, progress)


def _layers(kernel: str | Path | Problem, options: MapOptions) -> tuple[Layer, ...]:
    if isinstance(kernel, Problem):
        return (Layer(kernel.name, kernel),)
    return find_layers(str(kernel), options.shapes, options.types)


def map_layers(
    name: str,
    layers: tuple[Layer, ...],
    target: str | Path | Architecture,
    options: MapOptions,
    progress: Progress | None = None,
) -> NetworkMapping:
    """The best mappings of given layers; errors as for `map_kernel`."""
    start = time.perf_counter()
    arch = target if isinstance(target, Architecture) else find_architecture(target)
    request = options.request(_default_limit_s(arch, len(layers)))
    problems = [layer.problem for layer in layers]

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress("layers", done, total)

    if len(layers) == 1 and progress is not None:
        request = replace(request, report=_reporter(progress, request.objective))
    mapped = map_problems(arch, problems, options.mapper, request, options.jobs, tell)
    pairs = list(zip(layers, mapped, strict=True))
    found = tuple(LayerMapping(layer, arch, options.mapper, request, answer) for layer, answer in pairs if answer)
    unmapped = tuple(layer.name for layer, answer in pairs if answer is None)
    return NetworkMapping(name, arch, found, time.perf_counter() - start, unmapped)


def _default_limit_s(arch: Architecture, layers: int) -> float:
    if arch.sums_apart:  # threads
        return THREADS_LIMIT_S
    return LAYER_LIMIT_S if layers > 1 else KERNEL_LIMIT_S


def _reporter(progress: Progress, objective: Objective) -> Callable[[float, float], None]:
    """Shows the best value so far, and how much of it its lower bound is."""
    unit = {"edp": "J*cycle", "energy": "pJ", "latency": "cycles", "dram": "words", "noc": "cycles"}[objective]

    def report(best: float, bound: float) -> None:
        if best > 0:
            progress(f"best {best:.4g} {unit}, at least {bound:.4g}", round(100 * min(1.0, bound / best)), 100)

    return report
