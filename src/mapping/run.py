"""Running what a person names: compiled programs, and mappings on machines that have no instructions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from ..algebra.element import Array
from ..arrays import Comparison, verdict, write_arrays
from ..backends.report import loop_nest, mapping_svg
from ..backends.report.mapping import level_loops
from ..backends.report.page.pages import write_kernel
from ..backends.simulator.nests import NestKernel, NestRun, check_points, simulate_nest
from ..costs.bounds import bounds_of
from ..costs.exact import ExactPrices, TensorTotals, dram_bytes, evaluate
from ..costs.hierarchy import Architecture, LoopMapping, Problem, architecture_of, mapping_as_json
from ..costs.hierarchy.statement import text_of_problem
from ..costs.mapping.levels import canonical
from ..dialects import nest
from ..dialects.types import dtype_of, element_of, shape_of
from ..driver import CompileOptions, Progress, RunOptions, RunResult, load_model
from ..driver import run as run_program
from ..driver.run_arrays import choose_inputs, judge, read_expected, signature_of
from ..errors import TilewrightError, check_type
from ..files import make_folder
from ..frontends.acg import load_target
from ..frontends.einsum import einsum_module, is_kernel
from ..frontends.input_shapes import InputShapes
from ..frontends.machine_files import is_architecture, is_threads
from ..interpreters.graph import argument_names, find_function, result_names
from ..machine import Machine
from ..passes.nest.hierarchy import price
from ..passes.nest.trees import capability_of, in_group, only_kernel, problem_of, read_mapping
from .kernels import Layer, find_layers, has_groups
from .machines import find_architecture, runs_mapping, target_of
from .matrices import map_matrix
from .pipeline import MapOptions, map_layers
from .threads import DeviceRun, kernel_from, on_device

if TYPE_CHECKING:
    from ..costs.noc import MeshRun

Words = dict[str, dict[str, dict[str, Any]]]
"""Memory -> `tensors` (reads, fills, updates of each) and `network_words` (of each tensor)."""

FORM = "one kernel whose tensors are the inputs and the output of its function"


@dataclass(frozen=True)
class MappedRun:
    """A mapping that ran: what was counted, `simulation`, beside the cost model's `prices` of the same mapping.

    `mesh` is the run on the machine's mesh, where that was asked for.
    """

    kernel: str
    arch: Architecture
    problem: Problem
    mapping: LoopMapping
    simulation: NestRun
    prices: ExactPrices
    outputs: Path
    compared_with: str
    comparison: Comparison | None
    cpu_s: float
    proven: bool | None = None
    executed: DeviceRun | None = None
    mesh: MeshRun | None = None
    report: Path | None = None

    def __repr__(self) -> str:
        agrees = {True: ", agrees with ", False: ", differs from ", None: ""}[self.agrees]
        figures = f"{self.cycles} cycles, {self.energy_pj:.6g} pJ, {self.dram_bytes} DRAM bytes"
        return f"<MappedRun of {self.kernel} on {self.arch.name}: {figures}{agrees}{self.compared_with}>"

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return self.simulation.prices.cycles

    @property
    def energy_pj(self) -> float:
        """Energy of the run."""
        return self.simulation.prices.energy_pj

    @property
    def dram_bytes(self) -> int:
        """Bytes to and from the memory off chip."""
        return dram_bytes(self.arch, self.problem, self.simulation.prices)

    @property
    def agrees(self) -> bool | None:
        """Whether outputs, a device's too, are within the tolerance of what is expected; None where nothing is."""
        found = [self.comparison, self.executed.compared if self.executed is not None else None]
        verdicts = [comparison.agrees for comparison in found if comparison is not None]
        return all(verdicts) if verdicts else None

    @property
    def counted(self) -> Words:
        """Words of each tensor at each memory and on the network below it, counted in the run."""
        return _words(self.simulation.prices)

    @property
    def modelled(self) -> Words:
        """The same words by the cost model."""
        return _words(self.prices)

    @property
    def as_modelled(self) -> bool:
        """Whether all words and cycles are those of the cost model."""
        return self.cycles == self.prices.cycles and self.counted == self.modelled

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright run --json`."""
        counted = _counts(self.simulation.prices)
        predicted = {
            "cycles": self.prices.cycles,
            "energy_pj": self.prices.energy_pj,
            "dram_bytes": dram_bytes(self.arch, self.problem, self.prices),
        }
        bounds = bounds_of(self.arch, self.problem)
        return {
            "kernel": self.kernel,
            "target": self.arch.name,
            "cycles": self.cycles,
            "energy_pj": self.energy_pj,
            "dram_bytes": self.dram_bytes,
            "peak_bytes": dict(self.simulation.peak_bytes),
            "utilization": {self.arch.mac_name: self.simulation.prices.utilization},
            "counts": counted,
            "model": _counts(self.prices) | {"equal": self.as_modelled},
            "predicted": predicted,
            "predicted_gap": {key: value / had - 1 for key, value in predicted.items() if (had := getattr(self, key))},
            "lower_bound": bounds.figures(self.arch.levels[-1].word_bits),
            "gap": self.cycles / bounds.cycles - 1,
            "bound_by": bounds.binding["cycles"],
            "proven": self.proven,
            "loops": loop_nest(self.arch, self.problem, self.mapping),
            "mapping": mapping_as_json(self.arch, self.problem, self.mapping),
            "outputs": str(self.outputs),
            "trace": None,
            **({"report": str(self.report)} if self.report is not None else {}),
            "compared_with": self.compared_with,
            **verdict(self.comparison),
            "agrees": self.agrees,
            **({"executed": self.executed.as_dict()} if self.executed is not None else {}),
            **({"noc": self.mesh.as_dict()} if self.mesh is not None else {}),
            "cpu_s": self.cpu_s,
        }


def write_page(path: Path, run: MappedRun) -> None:
    """Write the page about a run: its answer, the bounds of any mapping, and a picture of this one."""
    arch, problem = run.arch, run.problem
    mapping, loops = canonical(arch, problem, run.mapping), level_loops(arch, problem, run.mapping)
    levels = zip(arch.levels, mapping.levels, loops, strict=True)
    tree = [
        {"memory": level.name, "keeps": [t.name for t in problem.tensors if t.name not in own.bypass], "loops": lines}
        for level, own, lines in levels
    ]
    facts = {"name": run.kernel, "tree": tree, "statement": text_of_problem(problem), "offchip": arch.levels[-1].name}
    bounds = bounds_of(arch, problem).as_json()
    energies = {"energy_by_component_pj": dict(run.simulation.prices.energy_by_component_pj)}
    answer = {**run.as_dict(), **facts, **energies, "lower_bound": bounds}
    write_kernel(path, answer, mapping_svg(arch, problem, run.mapping, run.simulation.prices))


def _totals(prices: ExactPrices, memory: str) -> dict[str, dict[str, int]]:
    tensors = prices.levels[memory].tensors.items()
    names = ("reads", "fills", "updates")
    return {name: dict(zip(names, t.totals, strict=True)) for name, t in tensors if isinstance(t, TensorTotals)}


def _words(prices: ExactPrices) -> Words:
    """Words at each memory, and those that the network below it carries."""
    return {m: {"tensors": _totals(prices, m), "network_words": prices.network_words[m]} for m in prices.levels}


def _counts(prices: ExactPrices) -> dict[str, Any]:
    energy = prices.energy_by_component_pj
    return {
        "memories": {memory: words | {"energy_pj": energy[memory]} for memory, words in _words(prices).items()},
        "network_energy_pj": energy["network"],
        "macs": prices.macs,
        "steps": prices.compute_cycles,
        "cycles": {"steady": prices.steady_cycles, "fill": prices.fill_cycles, "drain": prices.drain_cycles},
    }


@dataclass(frozen=True)
class Chosen:
    """A mapping to run, and the kernel as IR."""

    name: str
    module: ModuleOp
    group: nest.GroupOp
    arch: Architecture
    problem: Problem
    mapping: LoopMapping
    proven: bool | None = None


def run(
    model: str | Path,
    target: str | Path | Machine | None = None,
    *,
    folder: str | Path,
    shapes: InputShapes | None = None,
    compile_options: CompileOptions | None = None,
    options: RunOptions | None = None,
    progress: Progress | None = None,
    types: Mapping[str, str] | None = None,
) -> RunResult | MappedRun:
    """Simulate a model file, a kernel, or a folder that `compile` wrote, and compare its outputs.

    Without `target` it is the machine that a `.mlir` file has or names (`target_of`), else `edge16`; with one, the
    machine in the file is not used.
    On a target without instructions a kernel (see `map_kernel`) is mapped and the mapping runs; a mapped `nest.group`
    of a `.mlir` file runs as it stands, elsewhere if `map -o` wrote it; `types` are those of an einsum's tensors.
    On a machine of threads the mapping's kernel runs, too, where there is an OpenCL device.  Otherwise as `driver.run`.
    `outputs.npz` is written to `folder`.
    """
    check_type("model", model, (str, Path), "a kernel, the name of a model or layer, a file, or a folder of a program")
    target = target_of(model) if target is None else target
    if not runs_mapping(model, target):
        return run_program(
            model,
            target,
            folder=folder,
            shapes=shapes,
            compile_options=compile_options,
            options=options,
            progress=progress,
        )
    search = compile_options or CompileOptions()
    how = MapOptions(
        seed=search.seed, time_limit_s=search.time_limit_s or None, shapes=shapes or InputShapes(), types=types
    )
    return run_mapped(str(model), target, folder=folder, map_options=how, options=options, progress=progress)


def run_mapped(
    kernel: str,
    target: str | Path | Machine,
    *,
    folder: str | Path,
    map_options: MapOptions | None = None,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> MappedRun:
    """Map a kernel, or take its mapping from a `.mlir` file, and run the mapping; see `simulate_nest`."""
    start, options = time.process_time(), options or RunOptions()
    arch = find_architecture(target)
    chosen = choose(kernel, target, arch, map_options or MapOptions(), progress)
    arch = chosen.arch
    entry, op = find_function(chosen.module), only_kernel(chosen.group)
    inputs = choose_inputs(signature_of(entry), options)
    (output,) = result_names(entry)
    given = read_expected(options, {output: tuple(shape_of(op.result))})
    folder = make_folder(folder)
    mesh = _on_mesh(arch, chosen) if options.platform == "noc" else None
    work = _kernel_of(chosen.group, inputs, argument_names(entry))
    found = simulate_nest(arch, chosen.problem, chosen.mapping, work, progress)
    written = {output: found.output}
    write_arrays(folder / "outputs.npz", written)
    judged = judge(written, _unmapped(chosen.module), inputs, given, options)
    executed = None
    if is_threads(target):
        threads = kernel_from(chosen.name, chosen.module, target, arch, chosen.problem, chosen.mapping)
        executed = on_device(threads, work.arrays, (judged.expected or written)[output], options.tolerance)
    ran = MappedRun(
        chosen.name,
        arch,
        chosen.problem,
        chosen.mapping,
        found,
        evaluate(arch, chosen.problem, chosen.mapping),
        folder / "outputs.npz",
        judged.compared_with,
        judged.comparison,
        time.process_time() - start,
        chosen.proven,
        executed,
        mesh,
        options.report,
    )
    if options.report is not None:
        write_page(options.report, ran)
    return ran


def _on_mesh(arch: Architecture, chosen: Chosen) -> MeshRun:
    from ..costs.noc import make_program, run_program

    return run_program(arch, make_program(arch, chosen.problem, chosen.mapping))


def choose(
    kernel: str,
    target: str | Path | Machine,
    arch: Architecture,
    options: MapOptions,
    progress: Progress | None,
    *,
    simulated: bool = True,
) -> Chosen:
    """The mapping that a file has, or else the best that is found; not of more points than can be `simulated`."""
    module = load_model(Path(kernel), options.shapes) if Path(kernel).suffix == ".mlir" else None
    if module is not None and has_groups(module):
        group = _only_group(module, kernel)
        name = group.sym_name.data
        layer = Layer(name, problem_of(only_kernel(group), name))
        if group.is_mapped:
            if not is_architecture(target):
                machine = load_target(target)
                arch = architecture_of(machine, capability_of(group, machine))
            return Chosen(name, module, group, arch, layer.problem, _read(group, target, arch, layer.problem))
    else:
        layers = find_layers(kernel, options.shapes, options.types)
        if len(layers) != 1:
            names = f"name one of them ({', '.join(layer.name for layer in layers[:4])}, ...; in a file, FILE:LAYER)"
            raise TilewrightError("usage", kernel, "one kernel", f"{len(layers)} layers", names)
        layer = layers[0]
        module = einsum_module(kernel if is_kernel(kernel) else text_of_problem(layer.problem), layer.types)
        group = _only_group(module, kernel)
    if simulated:
        check_points(layer.problem)
    if is_threads(target):
        options = replace(options, bypass=False)  # what threads read they hold, in registers and in shared memory
        if (matrix := map_matrix(group, layer.problem, target, options, progress)) is not None:
            return Chosen(layer.name, module, group, matrix.arch, layer.problem, matrix.mapping)
    (mapped,) = map_layers(kernel, (layer,), arch, options, progress).layers
    return Chosen(layer.name, module, group, arch, layer.problem, mapped.mapping, mapped.mapped.proven)


def _read(group: nest.GroupOp, target: str | Path | Machine, arch: Architecture, problem: Problem) -> LoopMapping:
    """The mapping of a group, proven to visit each point once and to fit."""
    from ..passes.nest.nest_verify import verify_group

    try:
        machine = None if is_architecture(target) else load_target(target)
        if machine is not None:
            verify_group(group, machine)
        mapping = read_mapping(group, machine, arch, problem)
        price(arch, problem, mapping, "exact")
    except TilewrightError as error:
        raise in_group(error, group) from error
    return mapping


def _only_group(module: ModuleOp, name: str) -> nest.GroupOp:
    """The group that is all of a function; its only kernel starts from nothing."""
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    if len(groups) != 1:
        raise TilewrightError("kernel", name, "one nest.group", str(len(groups)), "put each in a file of its own")
    group, entry = groups[0], find_function(module)
    last = entry.body.block.last_op
    alone = isinstance(last, ReturnOp) and list(last.operands) == list(group.results)
    if not alone or list(entry.body.block.ops) != [group, last] or set(group.inputs) - set(entry.body.block.args):
        raise TilewrightError(
            "unsupported", f"group @{group.sym_name.data}", FORM, "more around it", "put it in a file of its own"
        )
    if only_kernel(group).init is not None:
        raise TilewrightError(
            "unsupported", f"kernel @{only_kernel(group).sym_name.data}", "a sum that starts from nothing", "`into`"
        )
    return group


def _kernel_of(group: nest.GroupOp, inputs: Mapping[str, Array], names: list[str]) -> NestKernel:
    """The kernel of a group, with the function's inputs."""
    op, entry = only_kernel(group), group.parent_block()
    assert entry is not None
    by_argument: dict[SSAValue, Array] = {arg: inputs[name] for arg, name in zip(entry.args, names, strict=True)}
    by_value = group.outside
    arrays = {tensor: by_argument[by_value[value]] for tensor, value in op.operands_by_name.items()}
    dtype = np.dtype(dtype_of(element_of(op.result)))
    return NestKernel(op.statement.data, arrays, tuple(shape_of(op.result)), dtype, op.pads)


def _unmapped(module: ModuleOp) -> ModuleOp:
    """The module with its kernels on whole tensors."""
    copy = module.clone()
    for op in copy.walk():
        if isinstance(op, nest.GroupOp):
            for block in list(op.mapping.blocks):
                op.mapping.erase_block(block)
    return copy
