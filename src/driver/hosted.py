"""Networks of which a machine of stages runs what it can, and the host the rest: step after step.

The host's layers are interpreted by NumPy, as in the reference; their time is not known and not counted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ..algebra.element import Array
from ..arrays import verdict, write_arrays
from ..backends.program import Program, load_program
from ..backends.simulator import simulate
from ..dialects import graph
from ..dialects.graph import WeightOp
from ..errors import TilewrightError
from ..files import file_error, make_folder, write_file
from ..frontends.acg import load_target
from ..frontends.input_shapes import InputShapes
from ..frontends.main_function import main_module
from ..interpreters.graph import argument_names, result_names, run_graph
from ..machine.stage_isa import StageIsa
from ..names import unique_name
from ..passes.functions import copy_into, functions_of
from ..passes.graph_to_codelet.read import Reader
from ..resources import Resources, attach, resources_of
from .models import compile, load_model, make_context
from .pipelines import parse_passes, pipeline_of
from .run_arrays import Signature, choose_inputs, judge, read_expected, rows_of_inputs, signature_of
from .run_options import RunOptions
from .watch import DumpedWeights


@dataclass(frozen=True)
class Step:
    """Layers in a row, of the host (their `module`) or of the machine, which has a `program` for them.

    `reasons` say for each of the host's layers why the machine does not run it.
    """

    module: ModuleOp | None = field(repr=False)
    layers: tuple[str, ...]
    program: Program | None = None
    reasons: tuple[str, ...] = ()

    def values(self, role: str) -> Signature:
        """The values that the step reads (`input`) or makes (`output`)."""
        if self.program is not None:
            return {t.name: (t.shape, np.dtype(t.dtype)) for t in self.program.tensors if t.role == role}
        assert self.module is not None
        return signature_of(functions_of(self.module)[0], role)


@dataclass(frozen=True)
class HostedRun:
    """Outputs by name; `cycles` and `dram_bytes` are those of the machine's steps alone, of each in `of_steps`."""

    outputs: dict[str, Array]
    cycles: int
    dram_bytes: int
    of_steps: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class HostedProgram:
    """A network as steps; `outputs` are the names of values by the names of the network's outputs."""

    steps: tuple[Step, ...]
    outputs: Mapping[str, str]
    inputs: Signature

    @property
    def output_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the network's outputs."""
        made = {name: shape for step in self.steps for name, (shape, _) in step.values("output").items()}
        made |= {name: shape for name, (shape, _) in self.inputs.items()}
        return {name: made[value] for name, value in self.outputs.items()}

    @property
    def host_layers(self) -> dict[str, str]:
        """Layers that the host runs, with the reasons."""
        steps = (step for step in self.steps if step.program is None)
        return {name: reason for step in steps for name, reason in zip(step.layers, step.reasons, strict=True)}

    def run(self, inputs: Mapping[str, Array]) -> HostedRun:
        """All steps in order: the machine's are simulated."""
        values, figures = dict(inputs), list[tuple[int, int]]()
        for step in self.steps:
            if step.program is None:
                assert step.module is not None
                values |= run_graph(step.module, values)
                figures.append((0, 0))
                continue
            result = simulate(step.program, {t.name: values[t.name] for t in step.program.tensors if t.role == "input"})
            values |= result.outputs
            figures.append((int(result.cycles), int(result.dram_bytes)))
        outputs = {name: np.asarray(values[value]) for name, value in self.outputs.items()}
        return HostedRun(outputs, sum(c for c, _ in figures), sum(b for _, b in figures), tuple(figures))


def compile_hosted(
    model: str | Path | bytes | ModelProto | ModuleOp, target: str | Path, shapes: InputShapes | None = None
) -> HostedProgram:
    """The steps of a model; `TilewrightError` (kind `usage`) for a machine of another control model."""
    machine = load_target(target)
    if machine.stages is None:
        lever = "leave --host out"
        raise TilewrightError("usage", "--host", "a machine of stages, as vta", f"control {machine.control}", lever)
    module = load_model(model, shapes, pipeline_of(machine).products)
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    (function, *_), resources = functions_of(module), resources_of(module)
    parts = Parts(function, Reader(resources, StageIsa(machine).depth))
    steps: list[Step] = []
    for part in parts.ordered():
        made, names = parts.module(part, resources), tuple(parts.name(op.results[0]) for op in part)
        if part[0] in parts.reasons:
            steps.append(Step(made, names, None, tuple(parts.reasons[op] for op in part)))
        else:
            steps.append(Step(None, names, compile(made, target)))
    named = zip(result_names(function), parts.returned, strict=True)
    inputs = signature_of(function, "input")
    return HostedProgram(tuple(steps), {name: parts.name(value) for name, value in named}, inputs)


def load_integers(model: str | Path, target: str | Path, shapes: InputShapes | None) -> ModuleOp:
    """A model with the types of a target's products."""
    return load_model(model, shapes, pipeline_of(load_target(target)).products)


def run_hosted(program: HostedProgram, module: ModuleOp | None, folder: Path, options: RunOptions) -> dict[str, Any]:
    """The answer of a run: steps, the host's layers, the machine's cycles, outputs (in `folder`) and their errors.

    They are compared with the layers of `module`, where there is one.
    """
    inputs = choose_inputs(program.inputs, options, rows_of_inputs(module) if module is not None else None)
    given = read_expected(options, program.output_shapes)
    run, path = program.run(inputs), make_folder(folder) / "outputs.npz"
    write_arrays(path, run.outputs)
    judged = judge(run.outputs, module, inputs, given, options)
    steps = [
        {"on": "host" if step.program is None else "machine", "layers": list(step.layers), "cycles": cycles}
        for step, (cycles, _) in zip(program.steps, run.of_steps, strict=True)
    ]
    machines = [step.program.machine.name for step in program.steps if step.program is not None]
    return {
        "target": machines[0] if machines else "",
        "cycles": run.cycles,
        "dram_bytes": run.dram_bytes,
        "steps": steps,
        "host_layers": program.host_layers,
        "outputs": str(path),
        "compared_with": judged.compared_with,
        **verdict(judged.comparison),
        "agrees": None if judged.comparison is None else judged.comparison.agrees,
    }


class Parts:
    """Layers that make values which are kept, with what each reads, and the level of each."""

    def __init__(self, function: FuncOp, reader: Reader) -> None:
        last = function.body.block.last_op
        assert isinstance(last, ReturnOp)
        self.returned = tuple(last.arguments)
        self.sources: dict[Operation, tuple[SSAValue, ...]] = {}
        self.reasons: dict[Operation, str] = {}
        self.names: dict[SSAValue, str] = {}
        for value, name in zip(function.body.block.args, argument_names(function), strict=True):
            self.names[value] = name
        self._find(list(function.body.block.ops), reader)
        self.levels: dict[Operation, int] = {}
        for op in self.sources:
            self.levels[op] = max((self._above(op, value) for value in self.sources[op]), default=0)

    def _find(self, ops: Sequence[Operation], reader: Reader) -> None:
        wanted, found = set(self.returned), list[Operation]()
        for op in reversed(ops):
            if isinstance(op, graph.LayerOp) and op.results[0] in wanted and not isinstance(op, graph.WeightOp):
                found.append(op)
                try:
                    self.sources[op] = reader.sources(op)
                except TilewrightError as error:
                    self.reasons[op] = f"expected {error.expected}, found {error.found}"
                    self.sources[op] = tuple(x for x in op.operands if not isinstance(x.owner, graph.WeightOp))
                wanted.update(self.sources[op])
        self.sources = {op: self.sources[op] for op in reversed(found)}

    def _above(self, op: Operation, value: SSAValue) -> int:
        before = value.owner
        if not isinstance(before, Operation):
            return 0
        return self.levels[before] + ((before in self.reasons) != (op in self.reasons))

    def name(self, value: SSAValue) -> str:
        """A value's name, which no other has."""
        if value not in self.names:
            owner = value.owner
            wanted = (graph.name_of(owner) if isinstance(owner, graph.LayerOp) else None) or "value"
            self.names[value] = unique_name(wanted, set(self.names.values()))
        return self.names[value]

    def ordered(self) -> Iterator[list[Operation]]:
        """Layers of a level, the host's and the machine's apart: none reads what comes later."""
        kinds: dict[tuple[int, bool], list[Operation]] = {}
        for op, level in self.levels.items():
            kinds.setdefault((level, op in self.reasons), []).append(op)
        yield from (kinds[key] for key in sorted(kinds))

    def module(self, part: list[Operation], resources: Resources) -> ModuleOp:
        """A network of some layers: inputs are values of other parts, outputs those that others or the caller read."""
        own = {op.results[0] for op in part}
        inputs = dict.fromkeys(x for op in part for x in self.sources[op] if x not in own)
        read = {x for op, sources in self.sources.items() if op not in part for x in sources} | set(self.returned)
        block = Block(arg_types=[value.type for value in inputs])
        known: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
        for op in part:
            copy_into(block, op.results[0], known)
        outputs = [op.results[0] for op in part if op.results[0] in read]
        results = [known[value] for value in outputs]
        return main_module(block, map(self.name, inputs), map(self.name, outputs), results, resources)


STEPS = "steps.json"


def is_hosted(folder: Path) -> bool:
    """Whether `save_hosted` wrote the folder."""
    return (folder / STEPS).is_file()


def save_hosted(program: HostedProgram, folder: str | Path) -> list[dict[str, Any]]:
    """Writes `step_1`, `step_2.mlir`, ... and `steps.json` into `folder`, which is made.  The answer has a row a step.

    The machine's steps are folders as `Program.save` writes them, the host's the graph of their layers with its weights
    beside it.  `steps.json` says which values each reads and makes, which are the network's inputs and outputs, and why
    the host runs its layers.
    """
    folder = make_folder(folder)
    rows = [_save_step(step, folder, f"step_{number}") for number, step in enumerate(program.steps, 1)]
    inputs = {name: {"shape": list(shape), "dtype": dtype.name} for name, (shape, dtype) in program.inputs.items()}
    table = {"steps": rows, "inputs": inputs, "outputs": dict(program.outputs)}
    write_file(folder / STEPS, json.dumps(table, indent=1) + "\n")
    return rows


def _save_step(step: Step, folder: Path, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"on": "machine", "layers": list(step.layers), "cycles": 0, "file": name}
    if step.program is not None:
        step.program.save(folder / name)
        row["cycles"] = int(step.program.predicted["cycles"])
    else:
        assert step.module is not None
        row |= {"on": "host", "file": f"{name}.mlir", "reasons": list(step.reasons)}
        _save_graph(step.module, folder / f"{name}.mlir")
    return row | {"inputs": list(step.values("input")), "outputs": list(step.values("output"))}


def load_hosted(folder: Path) -> HostedProgram:
    """Reads what `save_hosted` wrote; `TilewrightError` (kind `file`) where it is something else."""
    path = folder / STEPS
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(_load_step(folder, row) for row in table["steps"])
        inputs = {
            str(name): (tuple(int(n) for n in one["shape"]), np.dtype(str(one["dtype"])))
            for name, one in table["inputs"].items()
        }
        return HostedProgram(steps, {str(k): str(v) for k, v in table["outputs"].items()}, inputs)
    except OSError as error:
        raise file_error(error, path) from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        expected = "steps, inputs and outputs as compile --host writes them"
        raise TilewrightError("file", str(path), expected, str(error)[:200], "compile it again") from error


def _load_step(folder: Path, row: dict[str, Any]) -> Step:
    name, layers = str(row["file"]), tuple(str(layer) for layer in row["layers"])
    if Path(name).name != name:
        raise ValueError(f"a step outside of the folder: {name}")
    if row["on"] == "machine":
        return Step(None, layers, load_program(folder / name))
    return Step(load_model(folder / name), layers, None, tuple(str(reason) for reason in row["reasons"]))


def _save_graph(module: ModuleOp, path: Path) -> None:
    """The text, and beside it the weights that it names."""
    known, copy = resources_of(module), module.clone()
    used = {op.resource for op in module.walk() if isinstance(op, WeightOp)}
    attach(copy, known.only(name for name in known if name in used))
    DumpedWeights().dump(copy, path)
