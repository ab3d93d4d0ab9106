"""Models on machines of control model `packets`: generated, simulated, and run on independent tools where there are.

A module of one kernel of inputs gets a program of its own; others are programs of several kernels.  Such machines have
no floats: a quantised network is its integer part (`graph-integers`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import Access, Statement
from ..algebra.statement import accesses_of
from ..arrays import Array, Comparison, compare, verdict, write_arrays
from ..backends.hexagon import QemuResult, missing_tools, run_program
from ..backends.packets.figures import energy_pj, executed, moved_bytes, words_of
from ..backends.packets.simulator import PacketRun, simulate_packets
from ..backends.packets.text import assembly
from ..dialects import nest
from ..dialects.types import dtype_of, element_of, element_type_name, shape_of
from ..errors import TilewrightError
from ..files import make_folder
from ..frontends.einsum import einsum_module, parse_einsum
from ..frontends.input_shapes import InputShapes
from ..interpreters.graph import argument_names, find_function, result_names
from ..machine import Machine
from ..machine.packet_isa import Isa
from ..machine.packet_program import PacketProgram, executed_packets, packets_of
from ..passes.nest_to_packets.generate import Switches, generate
from ..passes.nest_to_packets.kernels import Value
from ..passes.nest_to_packets.network import generate_network
from .models import (
    RunOptions,
    choose_inputs,
    expected_outputs,
    is_kernel,
    load_model,
    make_context,
    parse_passes,
    read_expected,
)
from .packet_steps import program_of

EXECUTORS = {"hexagon": (missing_tools, run_program)}
"""What `executor` in a target's file may name: its missing tools, and a run."""


@dataclass(frozen=True)
class PacketKernel:
    """A statement with what generating and feeding it needs.

    `inputs` are the function's names with the kernel's, shapes and NumPy types; `output` the result's name and shape.
    """

    statement: Statement
    extents: Mapping[str, int]
    types: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]
    inputs: Mapping[str, tuple[str, tuple[int, ...], np.dtype[Any]]]
    output: tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class PacketModel:
    """A program with its signature: the function's inputs and outputs, by name with shapes (and NumPy types)."""

    program: PacketProgram
    inputs: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
    outputs: Mapping[str, tuple[int, ...]]


def kernel_of(module: ModuleOp) -> PacketKernel | None:
    """The one kernel of a module in the nest dialect, on inputs alone; None where there are more or other things."""
    kernels = [op for op in module.walk() if isinstance(op, nest.KernelOp)]
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    function = find_function(module)
    arguments = list(function.body.block.args)
    if len(kernels) != 1 or len(groups) != 1 or any(value not in arguments for value in groups[0].inputs):
        return None
    kernel, group = kernels[0], groups[0]
    target = kernel.statement.data.target
    if any(kernel.pads.values()) or kernel.init is not None or not isinstance(target, Access):
        return None
    outside = {id(inner): outer for inner, outer in zip(group.body.block.args, group.inputs, strict=True)}
    names = {id(value): name for value, name in zip(arguments, argument_names(function), strict=True)}
    values = {target.tensor: kernel.result, **kernel.operands_by_name}
    inputs = {
        names[id(outside[id(value)])]: (name, shape_of(value), dtype_of(element_of(value)))
        for name, value in kernel.operands_by_name.items()
    }
    if len(inputs) != len(kernel.operands_by_name):
        return None
    return PacketKernel(
        kernel.statement.data,
        group.extents,
        {name: element_type_name(element_of(value)) for name, value in values.items()},
        {name: shape_of(value) for name, value in values.items()},
        inputs,
        (result_names(function)[0], shape_of(kernel.result)),
    )


def compile_packets(machine: Machine, lowered: ModuleOp, switches: Switches | None = None) -> PacketModel:
    """The program of a module in the nest dialect; `TilewrightError` where the target has no way to do part of it."""
    kernel = kernel_of(lowered)
    if kernel is not None:
        try:
            return _one_kernel(machine, kernel, switches)
        except TilewrightError as error:
            if error.kind != "unsupported":
                raise
    steps = program_of(lowered)
    program = generate_network(machine, steps, switches)
    inputs = {name: (steps.values[v].shape, _dtype(steps.values[v])) for name, v in steps.inputs.items()}
    return PacketModel(program, inputs, {name: steps.values[v].shape for name, v in steps.outputs.items()})


def _dtype(value: Value) -> np.dtype[Any]:
    return np.dtype(ELEMENT_TYPES[value.type_name])


def _one_kernel(machine: Machine, kernel: PacketKernel, switches: Switches | None) -> PacketModel:
    """A program in forms that suit the kernel best, its tensors named as the function names them."""
    program = generate(machine, kernel.statement, kernel.extents, kernel.types, switches, kernel.shapes)
    names = {inner: outer for outer, (inner, _, _) in kernel.inputs.items()}
    name, shape = kernel.output
    stored = tuple(replace(item, name=names.get(item.name, name)) for item in program.stored)
    inputs = {name: (shape, dtype) for name, (_, shape, dtype) in kernel.inputs.items()}
    return PacketModel(replace(program, stored=stored), inputs, {name: shape})


def integer_types(statement: Statement) -> dict[str, str]:
    """Element types for a statement that says nothing of them, on a machine without floats.

    Products sum u8 by i8 (first factor, second) into i32; everything else is i32.
    """
    assert isinstance(statement.target, Access)
    factors = [access.tensor for access in accesses_of(statement.value) if isinstance(access, Access)]
    types = {statement.target.tensor: "i32", **dict.fromkeys(factors, "i32")}
    if statement.reduce == "+=" and len(set(factors)) == 2:
        types |= dict(zip(factors, ("u8", "i8"), strict=True))
    return types


@dataclass(frozen=True)
class PacketResult:
    """A run: in simulation, on independent tools (`qemu`, None without them), and compared with `compared_with`.

    `predicted` is what the code says of itself.
    """

    program: PacketProgram
    simulated: PacketRun
    predicted: PacketFigures
    qemu: QemuResult | None
    missing: tuple[str, ...]
    outputs: dict[str, Array]
    qemu_outputs: dict[str, Array]
    memory: str
    cpu_s: float = 0.0
    file: Path | None = None
    compared_with: str = ""
    comparison: Comparison | None = None
    expected: Mapping[str, Array] | None = None

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in self.outputs.items())
        return f"<PacketResult: {self.simulated.packets} packets, {self.predicted.moved_bytes} bytes moved; {outputs}>"

    def as_dict(self) -> dict[str, Any]:
        """The answer of `tilewright run --json`; time is in packets.

        `dram_bytes` are those that instructions move to and from the off-chip memory, without caches; `energy_pj` is
        None where the target's file gives no energies.
        """
        qemu = self.qemu
        return {
            "cycles": self.simulated.packets,
            "packets": self.simulated.packets,
            "layouts": host_layouts(self.program),
            "energy_pj": self.predicted.energy_pj,
            "dram_bytes": self.predicted.moved_bytes,
            "peak_bytes": {self.memory: self.program.memory_bytes},
            "utilization": {"words": self.predicted.words / (self.predicted.packets * self.predicted.packet_words)},
            "code_packets": sum(1 for _ in packets_of(self.program.code)),
            "outputs": str(self.file),
            "trace": None,
            "compared_with": self.compared_with,
            **verdict(self.comparison),
            "agrees": self.agrees,
            "qemu": None
            if qemu is None
            else {"equal": self.qemu_equal, "instructions": qemu.instructions, "packets": qemu.packets},
            "missing_tools": list(self.missing),
            "cpu_s": self.cpu_s,
        }

    @property
    def agrees(self) -> bool | None:
        """Whether outputs are within the tolerance and the independent run equal; None where neither is known."""
        verdicts = [self.comparison.agrees] if self.comparison is not None else []
        verdicts += [self.qemu_equal] if self.qemu is not None else []
        return all(verdicts) if verdicts else None

    @property
    def qemu_equal(self) -> bool:
        """Whether the independent run gave the outputs and the packets of the simulated one, and what was expected."""
        assert self.qemu is not None
        pairs = [(self.outputs, self.qemu_outputs)]
        pairs += [(self.expected, self.qemu_outputs)] if self.expected is not None else []
        same = all(np.array_equal(one[name], other[name]) for one, other in pairs for name in other)
        return same and self.qemu.packets == self.simulated.packets


@dataclass(frozen=True)
class PacketFigures:
    """What the code says of an execution: packets and the words in them, bytes moved off chip, energy if known."""

    packets: int
    words: int
    packet_words: int
    moved_bytes: int
    energy_pj: float | None


def host_layouts(program: PacketProgram) -> list[dict[str, str]]:
    """Inputs, outputs and weights that lie in another way than row-major, with how."""
    found = [item for item in program.stored if item.role != "scratch" and item.layout != "row-major"]
    return [{"name": item.name, "role": item.role, "layout": item.layout} for item in found]


def figures_of(isa: Isa, program: PacketProgram) -> PacketFigures:
    """The figures of a program."""
    counts = executed(program.code)
    return PacketFigures(
        executed_packets(program.code),
        words_of(isa, counts),
        isa.packets.words,
        moved_bytes(isa, counts),
        energy_pj(isa, counts),
    )


def execute(machine: Machine, model: PacketModel, inputs: Mapping[str, Array]) -> PacketResult:
    """Runs a program in simulation, and on the target's executor where its tools are installed."""
    isa, program = Isa(machine), model.program
    simulated = simulate_packets(isa, program, inputs)
    missing: tuple[str, ...] = ("an executor",)
    qemu = None
    if isa.packets.executor in EXECUTORS:
        absent, executor = EXECUTORS[isa.packets.executor]
        missing = tuple(absent())
        qemu = None if missing else executor(assembly(isa, program.code), program, inputs)
    return PacketResult(
        program,
        simulated,
        figures_of(isa, program),
        qemu,
        missing,
        _shaped(model, simulated.outputs),
        _shaped(model, qemu.outputs) if qemu is not None else {},
        isa.memory,
    )


def _shaped(model: PacketModel, outputs: Mapping[str, Array]) -> dict[str, Array]:
    return {name: outputs[name].reshape(shape) for name, shape in model.outputs.items()}


def packet_module(model: str | Path, shapes: InputShapes | None = None) -> tuple[ModuleOp, ModuleOp]:
    """A model as a module, and lowered to the nest dialect; a kernel without types gets `integer_types`."""
    if is_kernel(str(model)):
        statement, _ = parse_einsum(str(model))
        module = einsum_module(str(model), integer_types(statement))
        return module, module
    module = load_model(model, shapes)
    parse_passes("graph-normalize,graph-quantize,graph-integers").apply(make_context(), module)
    lowered = load_model(module)
    parse_passes("convert-graph-to-nest").apply(make_context(), lowered)
    return module, lowered


def run_packets(
    model: str | Path,
    machine: Machine,
    *,
    folder: Path,
    shapes: InputShapes | None = None,
    options: RunOptions | None = None,
) -> PacketResult:
    """Runs a model file, a kernel or a layer by name; writes `outputs.npz` to `folder`."""
    options = options or RunOptions()
    start = time.process_time()
    if not is_kernel(str(model)) and Path(model).is_dir():
        raise TilewrightError("usage", str(model), "a model: programs of packets run as they are compiled", "a folder")
    module, lowered = packet_module(model, shapes)
    compiled = compile_packets(machine, lowered)
    inputs = choose_inputs(compiled.inputs, options)
    given = read_expected(options, compiled.outputs)
    result = execute(machine, compiled, inputs)
    make_folder(folder)
    write_arrays(folder / "outputs.npz", result.outputs)
    compared_with, expected = expected_outputs(module, inputs, given, options)
    comparison = compare(result.outputs, expected, options.tolerance) if expected is not None else None
    spent = time.process_time() - start
    return replace(
        result,
        cpu_s=spent,
        file=folder / "outputs.npz",
        compared_with=compared_with,
        comparison=comparison,
        expected=expected,
    )
