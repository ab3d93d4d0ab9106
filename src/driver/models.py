"""The pipelines that a person calls: a model in, a program out; a program and inputs in, outputs and numbers out."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ..algebra.element import Array
from ..arrays import Comparison, verdict, write_arrays
from ..costs.clock import cpu_seconds
from ..dialects.types import element_bytes
from ..errors import InfeasibleError, TilewrightError, check_type
from ..files import make_folder, read_text
from ..frontends.acg import load_target
from ..frontends.einsum import is_kernel
from ..frontends.input_shapes import InputShapes
from ..frontends.mlir_text import check_order, check_strings, compact_literals, shown
from ..machine import Machine
from ..machine.rules import check_machine
from ..option_fields import answer_fields
from ..passes.functions import functions_of
from ..passes.load_target import place_machine
from ..resources import Resources, attach, resources_of
from ..targets import DEFAULT_TARGET
from ..universe import TILEWRIGHT_UNIVERSE
from .fixed_shapes import with_fixed_shapes
from .model_kinds import MODEL_KINDS, check_kind
from .pipelines import AUTO, INTEGER_PART, CompileOptions, Target, parse_passes, pipeline_of, pipeline_text
from .run_arrays import check_given, choose_inputs, judge, read_expected, rows_of_inputs, rows_of_program
from .run_options import RunOptions, against_flat
from .side_by_side import told_here
from .watch import Watch

if TYPE_CHECKING:
    from onnx import ModelProto

    from ..backends.program import Program
    from ..backends.simulator import SimulationResult
    from ..frontends.torch import ExportedProgram

Progress = Callable[[str, int, int], None]
"""Called as `progress(what, done, total)`."""

Model: TypeAlias = "str | Path | bytes | ModelProto | ExportedProgram | ModuleOp"
"""The name of a file, kernel or network, what an ONNX file has in it, a program of torch, or a module."""


def make_context() -> Context:
    """A context that knows upstream's and tilewright's dialects, each loaded when it is first used."""
    context = Context()
    for name, get in (XDSL_UNIVERSE.all_dialects | TILEWRIGHT_UNIVERSE.all_dialects).items():
        context.register_dialect(name, get)
    return context


def load_model(model: Model, shapes: InputShapes | None = None, products: tuple[str, str] | None = None) -> ModuleOp:
    """A model as a module with its weights attached: a file, an ONNX object, a program of torch, a kernel, or a module.

    A kernel is einsum text with bounds, `O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=6`, or a layer by name,
    `covenant:bert_gemm1` (`zoo.covenant_layers`) or `resnet18:conv2_1` (`zoo.mapping_layers`).  Networks of the
    zoo have names, too (`frontends.networks`): `resnet50` has 8-bit integers, `resnet50:f32` floats, with seeded
    weights.  A module is copied, so that the caller's stays as it is.  `shapes` are for what a model in a
    file leaves open; what differs from a fixed extent is refused.
    Einsum text says no element types: f32, or integers where products are of the types `products`.
    """
    check_type("shapes", shapes, (InputShapes, type(None)), "InputShapes")
    shapes = shapes or InputShapes()
    if isinstance(model, ModuleOp):
        attach(copy := model.clone(), Resources(resources_of(model)))
        return with_fixed_shapes(copy, "the module", shapes)
    if isinstance(model, str) and not is_kernel(model):
        from ..frontends.layers import layer_text

        if (text := layer_text(model, shapes.samples)) is not None:
            shapes.refuse_names(model)
            model, shapes = text, InputShapes()
    if isinstance(model, str) and is_kernel(model):
        from ..frontends.einsum import check_written, einsum_module, integer_types, parse_einsum

        shapes.refuse(model)
        statement, extents = parse_einsum(model)
        module = einsum_module(model, integer_types(statement, products) if products is not None else None)
        check_written(statement, extents)
        return module
    if isinstance(model, str):
        from ..frontends.layers import named_model, named_network

        if (network := named_network(model, shapes)) is not None:
            return network
        if isinstance(named := named_model(model), ModuleOp):
            return with_fixed_shapes(named, model, shapes)
        model = named or model
    if isinstance(model, str | Path):
        if (path := Path(model)).suffix == ".mlir":
            return parse_mlir(path, shapes)
        check_kind(path)
        if path.suffix == ".pt2":
            from ..frontends.torch import refuse_archive

            refuse_archive(path)
        if path.suffix == ".tflite":
            from ..frontends.tflite import import_tflite

            return import_tflite(path, shapes)
    if not isinstance(model, str | Path | bytes):
        from ..frontends.torch import ExportedProgram, import_exported

        if isinstance(model, ExportedProgram):
            return import_exported(model, shapes)
    from ..frontends.onnx import import_onnx

    return import_onnx(model, shapes=shapes)


def parse_mlir(path: Path, shapes: InputShapes | None = None) -> ModuleOp:
    """The module in a `.mlir` file: in one of tilewright's dialects, or StableHLO or linalg, which become layers.

    A resource file is looked for beside it.
    """
    from ..frontends.mlir import import_mlir, is_foreign

    text = read_text(path)
    if is_foreign(text):
        return import_mlir(text, str(path), shapes)
    return with_fixed_shapes(parse_text(text, path), str(path), shapes or InputShapes())


def parse_text(text: str, path: Path) -> ModuleOp:
    """The verified module of text in tilewright's dialects; errors name `path`."""
    from xdsl.parser import Parser

    try:
        check_strings(text, str(path))
        module = Parser(make_context(), compact_literals(text), str(path)).parse_module()
        module.verify()
        check_order(module, str(path))
    except (ParseError, DiagnosticException) as error:
        found = shown(error)
        raise TilewrightError("ir", str(path), "IR that parses and verifies", found, "correct it there") from error
    except (ValueError, KeyError, struct.error) as error:  # values that xDSL cannot hold
        found = f"what no attribute can hold ({str(error)[:200]})"
        raise TilewrightError("ir", str(path), "IR that parses and verifies", found, "correct it there") from error
    resources_of(module, path.parent)
    return module


def compile(
    model: Model,
    target: str | Path | Machine = DEFAULT_TARGET,
    *,
    shapes: InputShapes | None = None,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
) -> Program:
    """Compile `model` for `target` (a shipped target's name, an `.acg` file, or a machine) down to a binary.

    `shapes` gives extents that an ONNX model leaves open.
    Raises `TilewrightError` for a model or target that cannot be read or is not supported, `InfeasibleError` where a
    resource of the target does not suffice.
    """
    check_type("options", options, (CompileOptions, type(None)), "CompileOptions")
    machine = load_target(target)
    lowered = load_model(model, shapes, pipeline_of(machine).products)
    _check_room(lowered, machine)
    options = options or CompileOptions()
    if isinstance(target, Machine):
        check_machine(target)
        place_machine(lowered, target)
    named = target if isinstance(target, Machine) else str(target)
    program = compile_module(lowered, named, options, told_here(progress), _name_of(model))
    return replace(program, origin=_origin(model, shapes, options))


def _check_room(module: ModuleOp, machine: Machine) -> None:
    """Raise `InfeasibleError` where an input alone is over 1,024 times the memory off chip: bounds would not end.

    On machines without floats an element may become a byte.  Placing tensors refuses what exceeds it by less.
    """
    room = max((memory.capacity_bytes for memory in machine.memories if memory.offchip), default=0)
    bytes_each = element_bytes if pipeline_of(machine).products is None else lambda _: 1
    for value in (value for function in functions_of(module) for value in function.body.block.args):
        size = prod(value.type.get_shape()) * bytes_each(value) if isinstance(value.type, TensorType) else 0
        if size > 1024 * room > 0:
            lever = "make the input smaller, or the memory larger"
            raise InfeasibleError("memory off chip", size, room, "bytes", lever, f"input of {value.type}")


def _origin(model: Model, shapes: InputShapes | None, options: CompileOptions) -> dict[str, Any]:
    """What a model was compiled from, as plain data: nothing for one that has no name."""
    if not isinstance(model, str | Path):
        return {}
    return {"model": str(model), "shapes": asdict(shapes or InputShapes()), "options": answer_fields(options)}


def _name_of(model: Model) -> str:
    """What errors call a model: its file or text, or "module" where it is an object."""
    return str(model) if isinstance(model, str | Path) else "module"


def compile_module(
    module: ModuleOp, target: Target, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """Lower `module`, in place if there are no groups, and take the program out of it; errors call it `name`."""
    from .groups import BEST, best_groups, default_program, lower_groups, scheduled_program

    if options.schedule:
        return scheduled_program(module, target, options, progress, name)
    if options.partition == AUTO:
        return default_program(module, target, options, progress, name)
    if options.partition == BEST:
        return best_groups(module, target, options, progress, name)
    if options.partition:
        return lower_groups(module, target, options, progress, name)
    return lower(module, pipeline_text(target, options), options, progress, name)


def lower(module: ModuleOp, text: str, options: CompileOptions, progress: Progress | None, name: str) -> Program:
    """Lower `module`, which errors call `name`, in place by the passes of `text`, and take the program out of it."""
    watch = Watch(name, options, text.count(",") + 1, progress)
    parse_passes(text, watch).apply(make_context(), module)
    return program_of(module, watch)


def program_of(module: ModuleOp, watch: Watch) -> Program:
    """The program in a module that was lowered, with what `watch` has seen between the passes."""
    from ..backends.link import link

    program = replace(link(module, watch.ops_max), sources=watch.recorder.sources)
    if watch.bound is None:
        return program
    return replace(program, lower_bound=watch.bound.figures, bound_by=watch.bound.bound_by)


@dataclass(frozen=True)
class RunResult:
    """A simulated run: its numbers, those predicted, outputs and trace, and how close these are to `compared_with`.

    `bounds` has what no program goes below (`lower_bound`, `bound_by`), and how far above it the run is (`gap`).

    `independent` tells of a run on tools independent of the simulator, for machines that name some; `flat` is the run
    by the links' own bandwidth where the memory off chip has a timing.
    """

    simulation: SimulationResult
    predicted: Mapping[str, float]
    outputs: Path
    trace: Path | None
    compared_with: str
    comparison: Comparison | None
    cpu_s: float
    choice: Mapping[str, Any] = field(default_factory=dict[str, Any])
    independent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    bounds: Mapping[str, Any] = field(default_factory=dict[str, Any])
    report: Path | None = None
    flat: SimulationResult | None = None

    def __repr__(self) -> str:
        agrees = {True: ", agrees with ", False: ", differs from ", None: ""}[self.agrees]
        return f"<RunResult: {self.simulation!r}{agrees}{self.compared_with}>"

    @property
    def predicted_gap(self) -> dict[str, float]:
        """How far each prediction is from the run: 0.01 is 1 % more than happened."""
        ran = {"cycles": self.simulation.cycles, "energy_pj": self.simulation.energy_pj}
        ran |= {"dram_bytes": self.simulation.dram_bytes, "model_cycles": ran["cycles"]}
        ran |= {"model_energy_pj": ran["energy_pj"]}
        return {key: self.predicted[key] / value - 1 for key, value in ran.items() if key in self.predicted and value}

    @property
    def agrees(self) -> bool | None:
        """Whether the outputs are within the tolerance of what they were compared with, and an independent run equal.

        None where nothing was compared.
        """
        verdicts = [self.comparison.agrees] if self.comparison is not None else []
        verdicts += [self.independent["qemu"]["equal"]] if self.independent.get("qemu") else []
        return all(verdicts) if verdicts else None

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright run --json`."""
        return {
            **self.simulation.as_dict(),
            "predicted": dict(self.predicted),
            "predicted_gap": self.predicted_gap,
            **self.bounds,
            "outputs": str(self.outputs),
            "trace": str(self.trace) if self.trace is not None else None,
            **({"report": str(self.report)} if self.report is not None else {}),
            "compared_with": self.compared_with,
            **verdict(self.comparison),
            "agrees": self.agrees,
            **self.independent,
            **(against_flat(self.simulation, self.flat) if self.flat is not None else {}),
            **self.choice,
            "cpu_s": self.cpu_s,
        }


def run(
    model: str | Path,
    target: str | Path | Machine = DEFAULT_TARGET,
    *,
    folder: str | Path,
    shapes: InputShapes | None = None,
    compile_options: CompileOptions | None = None,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Simulate a model file, a kernel, or a folder that `compile` wrote, and compare its outputs.

    On a machine without floats a quantised network is its integer part (`graph-integers`).
    Writes `outputs.npz` and, on machines that have traces, `trace.json` to `folder`.
    """
    from ..backends.program import load_program
    from ..backends.report.page import write_report
    from ..backends.simulator import simulate
    from ..backends.simulator.dram_links import FLAT

    check_type("model", model, (str, Path), f"{MODEL_KINDS}, or a folder that `compile` wrote")
    check_type("options", options, (RunOptions, type(None)), "RunOptions")
    options = options or RunOptions()
    start = cpu_seconds()
    compiled = not is_kernel(str(model)) and Path(model).is_dir()
    if compiled and shapes is not None:
        shapes.refuse(str(model))
    if compiled:
        module, program = None, load_program(Path(model))
    else:
        products = pipeline_of(load_target(target)).products
        module = load_model(model, shapes, products)
        if products is not None:
            parse_passes(INTEGER_PART).apply(make_context(), module)
        is_lowered = not functions_of(module)  # there are no layers to compare with any more
        if not is_lowered:
            check_given(module, options)
        program = compile(module, target, options=compile_options, progress=progress)
        module = None if is_lowered else module
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    rows = rows_of_program(program) if module is None else rows_of_inputs(module)
    inputs = choose_inputs(signature, options, rows)
    given = read_expected(options, {t.name: t.shape for t in program.tensors if t.role == "output"})
    folder = make_folder(folder)
    trace = folder / "trace.json" if options.trace and program.control.traced else None
    result = simulate(program, inputs, trace=trace, progress=progress, dram=options.dram)
    flat = simulate(program, functional=False, checks=False, dram=FLAT) if result.dram else None
    outputs = folder / "outputs.npz"
    write_arrays(outputs, result.outputs)
    if options.report is not None:
        write_report(options.report, program, result, program.title or Path(model).name)
    judged = judge(result.outputs, module, inputs, given, options)
    independent = _run_independently(program, inputs, result, judged.expected)
    spent = cpu_seconds() - start
    known = program.predicted, outputs, trace, judged.compared_with, judged.comparison, spent, program.choice
    return RunResult(result, *known, independent, program.bounds(result.cycles), options.report, flat)


def _run_independently(
    program: Program, inputs: Mapping[str, Array], result: SimulationResult, expected: Mapping[str, Array] | None
) -> dict[str, Any]:
    """The answer about a run on independent tools: equal to the simulation and to what is expected, or what is missing.

    Nothing for machines that name no such tools.
    """
    ran = program.control.execute(program, inputs)
    if ran is None:
        return {}
    told = None
    if (found := ran.outputs) is not None:
        sides = [result.outputs, *([expected] if expected is not None else [])]
        equal = ran.packets == result.cycles and all(
            np.array_equal(s[name], found[name]) for s in sides for name in found
        )
        told = {"equal": equal, "instructions": ran.instructions, "packets": ran.packets}
    return {"qemu": told, "missing_tools": list(ran.missing)}


def reference(module: ModuleOp, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a module by NumPy, layer by layer; quantised layers in integers, as `graph-quantize` has them."""
    from ..dialects.graph import QuantizeOp
    from ..interpreters.graph import run_graph
    from ..interpreters.nest import NestFunctions

    if any(isinstance(op, QuantizeOp) for op in module.walk()):
        module = load_model(module)
        parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    return run_graph(module, inputs, functions=(NestFunctions(),))
