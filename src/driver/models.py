"""The pipelines that a person calls: a model in, a program out; a program and inputs in, outputs and numbers out."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ..arrays import Array, Comparison, check_shapes, compare, make_inputs, read_arrays, verdict, write_arrays
from ..errors import TilewrightError, check_type
from ..files import file_error, make_folder, text_error
from ..frontends.input_shapes import InputShapes
from ..frontends.mlir_text import check_strings
from ..resources import Resources, attach, resources_of
from ..universe import TILEWRIGHT_UNIVERSE
from .model_kinds import MODEL_KINDS, check_kind
from .watch import Watch

if TYPE_CHECKING:
    from onnx import ModelProto

    from ..backends.program import Candidate, Program
    from ..backends.simulator import SimulationResult

Progress = Callable[[str, int, int], None]
"""Called as `progress(what, done, total)`."""


@dataclass(frozen=True)
class CompileOptions:
    """What a caller may choose about a compilation.

    `keep_intermediates` gives every tensor a DRAM address of its own, so that each layer's output can be read after a
    run.  `prove` runs the address proofs.  `verify_each` verifies the module between passes.  `dump` is a folder for
    the IR after each pass.  `partition` (one of `search.fusion.METHODS`) puts layers into groups that run tile by tile,
    `tile_rows` rows at most, searched for `time_limit_s` CPU seconds (0: to the end) from `seed`; `best` is the program
    of fewest predicted cycles, with groups or layer by layer.  Where full rows do not fit, tiles have `tile_columns`
    columns at most (0: only if a layer does not fit otherwise).
    """

    keep_intermediates: bool = False
    prove: bool = True
    verify_each: bool = False
    dump: Path | None = None
    partition: str = ""
    tile_rows: int = 32
    tile_columns: int = 0
    time_limit_s: float = 0
    seed: int = 0


def make_context() -> Context:
    """A context that knows upstream's and tilewright's dialects, each loaded when it is first used."""
    context = Context()
    for name, get in (XDSL_UNIVERSE.all_dialects | TILEWRIGHT_UNIVERSE.all_dialects).items():
        context.register_dialect(name, get)
    return context


def pipeline_text(target: str, options: CompileOptions | None = None, global_bytes: int = 0) -> str:
    """The way from the graph to mnemonics, as `tilewright-opt -p` takes it.

    `global_bytes` is what groups may take of the buffer for maps (0: all of it).
    """
    from ..frontends.acg import load_target

    loops = load_target(target).control == "loops"
    options = options or CompileOptions()
    limits = f"time_limit_s={options.time_limit_s} global_bytes={global_bytes}"
    tiles = f"rows={options.tile_rows} columns={options.tile_columns}"
    groups = f'graph-partition{{method="{options.partition}" {tiles} seed={options.seed} {limits}}}'
    allocate = "codelet-allocate{keep_intermediates=true}" if options.keep_intermediates else "codelet-allocate"
    stages = (
        f'load-target{{target="{target}"}}',
        "graph-normalize",
        "graph-quantize",
        "graph-integers" if loops else "",
        groups if options.partition else "",
        "graph-fuse",
        "convert-graph-to-nest",
        *(
            ("convert-nest-to-loops",)
            if loops
            else (
                "nest-tile",
                "nest-map",
                "convert-nest-to-codelet",
                "codelet-unroll",
                "codelet-parallelize",
                "codelet-pipeline",
                allocate,
                "codelet-verify" if options.prove else "",
                "convert-codelet-to-mnemonic",
            )
        ),
    )
    return ",".join(stage for stage in stages if stage)


def parse_passes(text: str, callback: Watch | None = None) -> PassPipeline:
    """The passes that `text` names, as `tilewright-opt -p` takes it."""
    return PassPipeline.parse_spec(XDSL_UNIVERSE.all_passes | TILEWRIGHT_UNIVERSE.all_passes, text, callback)


def load_model(model: str | Path | bytes | ModelProto | ModuleOp, shapes: InputShapes | None = None) -> ModuleOp:
    """A model as a module with its weights attached: an ONNX file or object, a `.mlir` file, a kernel, or a module.

    A kernel is einsum text with bounds, `O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=6`, or a layer by name,
    `covenant:bert_gemm1` (`zoo.covenant_layers`).  Networks of the zoo have names, too (`frontends.networks`):
    `resnet50` has 8-bit integers, `resnet50:f32` floats, with seeded weights.  A module is copied, so that the caller's
    stays as it is.  `shapes` are for what an ONNX model leaves open; what differs from a fixed extent is refused.
    """
    shapes = shapes or InputShapes()
    if isinstance(model, ModuleOp):
        copy = model.clone()
        attach(copy, Resources(resources_of(model)))
        return _with_fixed_shapes(copy, "the module", shapes)
    if isinstance(model, str) and is_kernel(model):
        from ..frontends.einsum import einsum_module

        shapes.refuse(model)
        return einsum_module(model)
    if isinstance(model, str):
        from ..frontends.layers import named_model, named_network

        if (network := named_network(model, shapes)) is not None:
            return network
        if isinstance(named := named_model(model), ModuleOp):
            return _with_fixed_shapes(named, model, shapes)
        model = named or model
    if isinstance(model, str | Path) and Path(model).suffix == ".mlir":
        return _with_fixed_shapes(parse_mlir(Path(model)), str(model), shapes)
    if isinstance(model, str | Path):
        check_kind(Path(model))
    from ..frontends.onnx import import_onnx

    return import_onnx(model, shapes=shapes)


def _with_fixed_shapes(module: ModuleOp, subject: str, shapes: InputShapes) -> ModuleOp:
    """The module, whose shapes are fixed; what `shapes` says otherwise is refused."""
    if shapes:
        from ..dialects.types import shape_of
        from ..interpreters.graph import argument_names, find_function

        function = find_function(module)
        arguments = zip(argument_names(function), function.body.block.args, strict=True)
        shapes.check_fixed(subject, {name: shape_of(value) for name, value in arguments})
    return module


def is_kernel(text: str) -> bool:
    """Whether `text` is meant as einsum text, not as the name of a file."""
    return "[" in text and "=" in text and not Path(text).suffix[1:].isalpha()


def parse_mlir(path: Path) -> ModuleOp:
    """The module in a `.mlir` file; its resource file is looked for beside it."""
    from xdsl.parser import Parser

    try:
        text = path.read_text(encoding="utf-8")
        check_strings(text, str(path))
        module = Parser(make_context(), text, str(path)).parse_module()
        module.verify()
    except OSError as error:
        raise file_error(error, path) from error
    except UnicodeDecodeError as error:
        raise text_error(error, path) from error
    except (ParseError, DiagnosticException) as error:
        raise TilewrightError("ir", str(path), "IR that parses and verifies", str(error), "correct it there") from error
    except (ValueError, KeyError, struct.error) as error:  # values that xDSL cannot hold
        found = f"what no attribute can hold ({str(error)[:200]})"
        raise TilewrightError("ir", str(path), "IR that parses and verifies", found, "correct it there") from error
    resources_of(module, path.parent)
    return module


def compile(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path = "edge16",
    *,
    shapes: InputShapes | None = None,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
) -> Program:
    """Compile `model` for `target` (a shipped target's name or an `.acg` file) down to a binary.

    `shapes` gives extents that an ONNX model leaves open.
    Raises `TilewrightError` for a model or target that cannot be read or is not supported, `InfeasibleError` where a
    resource of the target does not suffice.
    """
    check_type("options", options, (CompileOptions, type(None)), "CompileOptions")
    lowered = load_model(model, shapes)
    return compile_module(lowered, str(target), options or CompileOptions(), progress, _name_of(model))


def _name_of(model: str | Path | bytes | ModelProto | ModuleOp) -> str:
    """What errors call a model: its file or text, or "module" where it is an object."""
    return str(model) if isinstance(model, str | Path) else "module"


def compile_module(
    module: ModuleOp, target: str, options: CompileOptions, progress: Progress | None, name: str = "module"
) -> Program:
    """Lower `module`, in place if there are no groups, and take the program out of it; errors call it `name`."""
    from ..frontends.acg import load_target

    if not load_target(target).mnemonics:
        lever = "map kernels on it, or choose a target with mnemonics"
        raise TilewrightError("target", target, "mnemonics, which programs consist of", "none", lever)
    from .groups import BEST, best_groups, lower_groups

    if options.partition == BEST:
        return best_groups(module, target, options, progress, name)
    if options.partition:
        return lower_groups(module, target, options, progress, name)
    return lower(module, pipeline_text(target, options), options, progress, name)


def lower(module: ModuleOp, text: str, options: CompileOptions, progress: Progress | None, name: str) -> Program:
    """Lower `module`, which errors call `name`, in place by the passes of `text`, and take the program out of it."""
    from ..backends.link import link

    watch = Watch(name, options, text.count(",") + 1, progress)
    parse_passes(text, watch).apply(make_context(), module)
    return link(module, watch.ops_max)


@dataclass(frozen=True)
class RunOptions:
    """What a caller may choose about a run.

    `inputs` and `expect` are files of arrays; inputs that no file gives are made from `seed`.  `check` compares the
    outputs of a model with NumPy where nothing is expected by file.  They agree within the relative error `tolerance`,
    or that of their element type (`arrays.TOLERANCES`).
    """

    inputs: Path | None = None
    expect: Path | None = None
    seed: int = 0
    check: bool = True
    trace: bool = True
    tolerance: float | None = None


@dataclass(frozen=True)
class RunResult:
    """A simulated run: its numbers, those predicted, outputs and trace, and how close these are to `compared_with`."""

    simulation: SimulationResult
    predicted: Mapping[str, float]
    outputs: Path
    trace: Path | None
    compared_with: str
    comparison: Comparison | None
    cpu_s: float
    candidates: tuple[Candidate, ...] = ()

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
        """Whether the outputs are within the tolerance of what they were compared with; None without a comparison."""
        return self.comparison.agrees if self.comparison is not None else None

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright run --json`."""
        return {
            **self.simulation.as_dict(),
            "predicted": dict(self.predicted),
            "predicted_gap": self.predicted_gap,
            "outputs": str(self.outputs),
            "trace": str(self.trace) if self.trace is not None else None,
            "compared_with": self.compared_with,
            **verdict(self.comparison),
            **({"candidates": [asdict(way) for way in self.candidates]} if self.candidates else {}),
            "cpu_s": self.cpu_s,
        }


def run(
    model: str | Path,
    target: str | Path = "edge16",
    *,
    folder: str | Path,
    shapes: InputShapes | None = None,
    compile_options: CompileOptions | None = None,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Simulate a model file, a kernel, or a folder that `compile` wrote, and compare its outputs.

    On a machine of loops, which has no floats, a quantised network is its integer part (`graph-integers`).
    Writes `outputs.npz` and `trace.json` to `folder`.
    """
    from ..backends.program import load_program
    from ..backends.simulator import simulate
    from ..frontends.acg import load_target

    check_type("model", model, (str, Path), f"{MODEL_KINDS}, or a folder that `compile` wrote")
    options = options or RunOptions()
    start = time.process_time()
    compiled = not is_kernel(str(model)) and Path(model).is_dir()
    if compiled and shapes is not None:
        shapes.refuse(str(model))
    module = None if compiled else load_model(model, shapes)
    if module is not None and load_target(str(target)).control == "loops":
        parse_passes("graph-normalize,graph-quantize,graph-integers").apply(make_context(), module)
    if module is None:
        program = load_program(Path(model))
    else:
        program = compile(module, target, options=compile_options, progress=progress)
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    inputs = choose_inputs(signature, options)
    given = read_expected(options, {t.name: t.shape for t in program.tensors if t.role == "output"})
    folder = make_folder(folder)
    trace = folder / "trace.json" if options.trace else None
    result = simulate(program, inputs, trace=trace, progress=progress)
    outputs = folder / "outputs.npz"
    write_arrays(outputs, result.outputs)
    compared_with, expected = expected_outputs(module, inputs, given, options)
    comparison = compare(result.outputs, expected, options.tolerance) if expected is not None else None
    spent = time.process_time() - start
    return RunResult(result, program.predicted, outputs, trace, compared_with, comparison, spent, program.candidates)


def choose_inputs(
    signature: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], options: RunOptions
) -> dict[str, Array]:
    """Inputs of these shapes and types, from the file of `options` and its seed."""
    made = make_inputs(signature, options.seed)
    given = read_arrays(options.inputs, signature) if options.inputs is not None else {}
    unknown = [name for name in given if name not in signature]
    if unknown:
        raise TilewrightError("inputs", str(options.inputs), f"inputs named {', '.join(signature)}", f"'{unknown[0]}'")
    return made | given


def read_expected(options: RunOptions, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, Array] | None:
    """Outputs of these names and shapes from the file of `options`, where it names one; read before a run."""
    given = read_arrays(options.expect, shapes) if options.expect is not None else None
    check_shapes(shapes, given or {})
    return given


def expected_outputs(
    module: ModuleOp | None, inputs: Mapping[str, Array], given: Mapping[str, Array] | None, options: RunOptions
) -> tuple[str, Mapping[str, Array] | None]:
    """What the outputs are compared with, and where that comes from; `given` is what a file has."""
    if given is not None:
        return str(options.expect), given
    if module is None or not options.check:
        return "", None
    return "NumPy", reference(module, inputs)


def reference(module: ModuleOp, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a module computed by NumPy, layer by layer (kernel by kernel) on whole tensors.

    Quantised layers are computed in integers, as `graph-quantize` defines them.
    """
    from ..dialects.graph import QuantizeOp
    from ..interpreters.graph import run_graph
    from ..interpreters.nest import NestFunctions

    if any(isinstance(op, QuantizeOp) for op in module.walk()):
        module = load_model(module)
        parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    return run_graph(module, inputs, functions=(NestFunctions(),))
