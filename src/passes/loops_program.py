"""The instructions and tensors of a function of nest groups, for a machine of control model `loops`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ..backends.loops.array_code import emit_sums
from ..backends.loops.emitter import Emitter, Target
from ..backends.loops.places import SumLayer, VectorLayer
from ..backends.loops.vector_code import emit_vector
from ..dialects import nest
from ..dialects.graph import WeightOp
from ..dialects.mnemonic import ProgramOp
from ..dialects.roles import Role
from ..dialects.types import dtype_of
from ..errors import TilewrightError
from ..machine import Machine
from ..resources import Resources
from ..search.tiles import Buffers, choose
from ..search.tiles.vector_tiles import vector_blocks, vector_tiles
from .loops_forms import forms, reach
from .loops_layers import LayerBuilder
from .loops_tensors import Pads, Stored, Table


@dataclass(frozen=True)
class _Alias:
    """A value that lies inside another: along which axis, and from which element on."""

    whole: SSAValue
    axis: int
    start: int


class LoopsProgram:
    """Places tensors, then emits group after group."""

    def __init__(self, machine: Machine, function: FuncOp, weights: Resources) -> None:
        if machine.control != "loops":
            raise TilewrightError("target", machine.name, "control model `loops`", f"`{machine.control}`")
        self.function, self.weights = function, weights
        self.target = Target(machine)
        self.emitter = Emitter(machine)
        memory = next(m.name for m in machine.memories if m.offchip)
        self.table = Table(memory, self.target.lanes[1], weights)
        self.groups = [op for op in function.body.block.ops if isinstance(op, nest.GroupOp)]
        self.needs = self._needs()
        self.aliases = self._aliases()
        self.places: dict[SSAValue, Stored] = {}
        self.cycles = self.traffic = 0.0

    def convert(self) -> ProgramOp:
        """The program of the function."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        names = _names(self.function, "graph.outputs")
        self.outputs: dict[SSAValue, str] = dict(zip(last.arguments, names, strict=True))
        self.inputs: dict[SSAValue, str] = dict(
            zip(self.function.body.block.args, _names(self.function, "graph.inputs"), strict=True)
        )
        self.table.names.update([*self.outputs.values(), *self.inputs.values()])
        for op in self.function.body.block.ops:
            if not isinstance(op, nest.GroupOp | WeightOp | ReturnOp):
                raise TilewrightError("unsupported", op.name, "groups and weights", op.name)
        for value in self.outputs:
            if not isinstance(value.owner, nest.GroupOp):
                raise TilewrightError("unsupported", self.outputs[value], "an output that a layer makes", "another")
        for group in self.groups:
            self._group(group)
        self.emitter.unit = ""
        self.emitter.emit("block", last=1)
        figures = {"cycles": self.cycles, "dram_bytes": self.traffic, "energy_pj": 0.0}
        return ProgramOp(self.function.sym_name.data, self.table.ops, self.emitter.code(), figures)

    def _needs(self) -> dict[SSAValue, tuple[Pads, int | None]]:
        """The padding of each value: the most that a kernel needs, and one fill for all."""
        needs: dict[SSAValue, tuple[Pads, int | None]] = {}
        for group in self.groups:
            outside: dict[SSAValue, SSAValue] = dict(zip(group.body.block.args, group.inputs, strict=True))
            for kernel in group.kernels:
                for form in forms(kernel)[1:]:
                    value = outside.get(kernel.operands_by_name[form.name])
                    if value is None:
                        continue
                    shape = cast(TensorType, value.type).get_shape()
                    found = reach(form, shape, group.extents, kernel.pads.get(form.name))
                    pads, fill = needs.get(value, (((0, 0),) * len(shape), None))
                    if None not in (fill, found.fill) and fill != found.fill:
                        raise TilewrightError("unsupported", form.name, f"padding with {fill}", f"{found.fill} too")
                    wider = tuple((max(a, c), max(b, d)) for (a, b), (c, d) in zip(pads, found.pads, strict=True))
                    needs[value] = wider, found.fill if fill is None else fill
        return needs

    def _aliases(self) -> dict[SSAValue, _Alias]:
        """Results that are only copied into a part of another are made there."""
        found: dict[SSAValue, _Alias] = {}
        for group in self.groups:
            moved = copies(group)
            for value, axis, start in moved or ():
                if isinstance(value.owner, nest.GroupOp) and value.has_one_use() and start % self.table.lanes == 0:
                    found[value] = _Alias(group.results[0], axis, start)
        return found

    def place(self, value: SSAValue) -> Stored:
        """Where a value lies; it is placed when it is first asked for."""
        if value in self.places:
            return self.places[value]
        if value in self.aliases:
            alias = self.aliases[value]
            whole = self.place(alias.whole)
            step = whole.pitches[alias.axis]
            rows = alias.start // whole.lanes if alias.axis == whole.lane else alias.start
            moved = Stored(whole.address + rows * step, whole.pitches, whole.lane, whole.row_bytes, whole.lanes)
            self.places[value] = moved
            return moved
        type_ = cast(TensorType, value.type)
        shape = type_.get_shape()
        pads, fill = self.needs.get(value, (((0, 0),) * len(shape), None))
        name, role = self.name_of(value)
        self.places[value] = self.table.rows(name, role, self.dtype(value), shape, pads, fill)
        return self.places[value]

    def name_of(self, value: SSAValue) -> tuple[str, Role]:
        """The name of a value's tensor, and its role."""
        if value in self.inputs:
            return self.inputs[value], Role.INPUT
        if value in self.outputs:
            return self.outputs[value], Role.OUTPUT
        if isinstance(value.owner, WeightOp):
            return self.table.name(value.owner.resource), Role.WEIGHT
        return self.table.name(str(getattr(value.owner, "sym_name").data)), Role.TEMP

    def dtype(self, value: SSAValue) -> np.dtype[np.generic]:
        """The element type; `TilewrightError` for what the machine has none of."""
        dtype = dtype_of(cast(TensorType, value.type).element_type)
        if dtype.name not in ("int8", "int16", "int32"):
            lever = "run the integer part of a quantised network (`zoo.integers`), with signed activations"
            raise TilewrightError("unsupported", value.name_hint or "a value", "signed integers", dtype.name, lever)
        return dtype

    def constant(self, value: SSAValue) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
        """The elements of a weight; None for other values."""
        if isinstance(value.owner, WeightOp) and value.owner.resource in self.weights:
            return np.asarray(self.weights[value.owner.resource])
        return None

    def _group(self, group: nest.GroupOp) -> None:
        moved = copies(group)
        if moved is not None:
            for value, axis, start in moved:
                if value not in self.aliases:
                    self._copy(group, value, axis, start)
            return
        layer = LayerBuilder(self, group).build()
        if isinstance(layer, SumLayer):
            self._sums(layer)
        else:
            self._vector(layer)

    def _sums(self, layer: SumLayer) -> None:
        roles, (bandwidth, request) = self.target.roles, self.target.bandwidth
        rows = [self.target.rows(roles[name]) for name in ("input", "weight", "output")]
        latency = self.target.array[1].latency_cycles
        choice = choose(layer.problem, Buffers(rows[0], rows[1], rows[2], bandwidth, latency, request))
        for block in choice.tiling.blocks(layer.problem):
            emit_sums(self.emitter, self.target, layer, choice.tiling.order, block)
        self.cycles += choice.cycles
        self.traffic += choice.dram_bytes

    def _vector(self, layer: VectorLayer) -> None:
        first, second = self.target.scratch
        rows = self.target.rows(first), self.target.rows(second)
        epilogue = layer.epilogue
        tile = vector_tiles(layer.extents, layer.y, layer.x, rows, len(epilogue.vectors), len(epilogue.tensors))
        for block in vector_blocks(layer.extents, tile):
            turns = [dim for dim in ("batch", "n", "y", "x") if block.count[dim] > 1]
            emit_vector(self.emitter, self.target, layer, turns, block)

    def _copy(self, group: nest.GroupOp, value: SSAValue, axis: int, start: int) -> None:
        del axis, start
        name = group.sym_name.data
        raise TilewrightError("unsupported", f"group @{name}", "pieces that one layer makes for it", f"{value}")


def copies(group: nest.GroupOp) -> list[tuple[SSAValue, int, int]] | None:
    """The pieces (value, axis, first element) that a group puts together; None if it does something else."""
    outside: dict[SSAValue, SSAValue] = dict(zip(group.body.block.args, group.inputs, strict=True))
    found: list[tuple[SSAValue, int, int]] = []
    for kernel in group.kernels:
        every = forms(kernel)
        text = kernel.statement.data
        if text.reduce != "=" or len(every) != 2 or not _plain(text.value) or len(every[1].dims) < 1:
            return None
        offsets = [i for i, axis in enumerate(every[0].axes) if axis.const]
        moved = [(a.terms, b.terms) for a, b in zip(every[0].axes, every[1].axes, strict=False)]
        value = outside.get(kernel.operands_by_name[every[1].name])
        if len(offsets) > 1 or value is None or any(a != b for a, b in moved):
            return None
        axis = offsets[0] if offsets else 1
        found.append((value, axis, every[0].axes[axis].const if offsets else 0))
    return found if len(found) > 1 else None


def _plain(expr: object) -> bool:
    from ..algebra.expr import Access

    return isinstance(expr, Access)


def _names(function: FuncOp, attribute: str) -> list[str]:
    names = function.attributes.get(attribute)
    assert isinstance(names, ArrayAttr)
    return [name.data for name in names if isinstance(name, StringAttr)]
