"""`convert-nest-to-codelet`: mapped groups become codelets, values become DRAM tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.dram.platform import buffer_of
from ...costs.mapping.binding import pricer_of
from ...dialects.acg import machine_of
from ...dialects.codelet import ProgramOp, RowsOp, SurrogateType, TensorOp, ViewOp
from ...dialects.graph import WeightOp
from ...dialects.nest import GroupOp, JoinOp
from ...dialects.nest import RowsOp as NestRowsOp
from ...dialects.nest import ViewOp as NestViewOp
from ...dialects.types import Role, bytes_of, element_of, shape_of
from ...errors import InfeasibleError, TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...machine import Machine
from ...remembered import remembered
from ...resources import Resources, resources_of
from ..functions import functions_of
from ..names import take_name
from ..nest.storage import readers_of, storage_of
from .fused_marks import BY_SAMPLE, KEPT_LATER, RELOADED, kept_maps, marked_groups
from .group_codelets import build_codelet, build_copy

if TYPE_CHECKING:
    from .fused_layers import FusedGroup


@dataclass(frozen=True)
class ConvertNestToCodeletPass(ModulePass):
    """Turn the mapped groups of each function into a program of codelets (Covenant, section 3).

    Precondition: every group is mapped down to capabilities (`nest-map`); the module holds its target (`load-target`).
    A value that is an input, a weight or a group's result becomes a tensor in off-chip memory; a group that overwrites
    its input shares that tensor.  In a group, a `nest.hold` becomes a `codelet.local` with transfers along the shortest
    path of memories: in where the buffer is read first, out where it is written and needed outside.

        nest.for p step 4 {                          codelet.loop p step 4 {
          nest.hold @GBUF [X, Y] buffers 2 {           %0 = codelet.local "X[p]" buffers 2
            nest.compute @k on @VPU::@unary ...   ->   codelet.transfer %X -> %0
          }                                            %1 = codelet.local "Y[p]" buffers 2
        }                                              codelet.compute @VPU::@unary ... (%1, %0)
                                                       codelet.transfer %1 -> %Y
                                                     }

    Groups of a fused group (attribute `fused`) become one `codelet.fused` where the last of them stood, with a ring of
    rows on chip for each map, its weights, and turns in the order of its execution scheme.

    A result of the function that is an input or a weight, or is given twice, is copied by a codelet of its own.
    Addresses are left open (`codelet-allocate`).
    """

    name = "convert-nest-to-codelet"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = resources_of(op)
        for function in functions_of(op):
            program = _Converter(machine_of(op), function, weights).convert()
            if "predicted" in function.attributes:
                program.attributes["predicted"] = function.attributes["predicted"]
            Rewriter.replace_op(function, program)


class _Converter:
    def __init__(self, machine: Machine, function: FuncOp, weights: Resources) -> None:
        self.machine = machine
        self.function = function
        self.weights = weights
        self.memory = machine.offchip[0]
        self.block = Block()
        self.values: dict[SSAValue, SSAValue] = {}
        self.taken: set[str] = set()
        self.outputs = self._outputs()
        self.fused = marked_groups(function.body.block, machine, pricer_of(machine))
        self.onchip = kept_maps(function)
        self.span: list[FusedGroup] = []
        if self.onchip.kept:
            from .padded_maps import paddings

            inside = frozenset(root for root in self.onchip.kept if not self._passes_offchip(root))
            self.onchip.paddings = paddings(self.fused, inside, machine)

    def convert(self) -> ProgramOp:
        """The program of the function."""
        for value, name in zip(self.function.body.block.args, argument_names(self.function), strict=True):
            if name in self.taken:
                expected, lever = "inputs and outputs with different names", "name the output of an Identity of it"
                raise TilewrightError("unsupported", name, expected, "one of both", lever)
            self._tensor(value, name, Role.INPUT)
        for op in self.function.body.block.ops:
            self._op(op)
        return ProgramOp(self.function.sym_name.data, Region(self.block))

    def _outputs(self) -> dict[SSAValue, tuple[str, SSAValue]]:
        """Result of a group -> the output that it is, by name, and the returned value (a view of it perhaps)."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        found: dict[SSAValue, tuple[str, SSAValue]] = {}
        self.copied: list[tuple[str, SSAValue]] = []
        names = result_names(self.function)
        for value, name in zip(last.arguments, names, strict=True):
            root = storage_of(value)
            if isinstance(root.owner, GroupOp) and root not in found:
                found[root] = name, value
            else:
                self.copied.append((name, value))
        self.taken.update(name for name, _ in [*found.values(), *self.copied])
        return found

    def _op(self, op: Operation) -> None:
        match op:
            case WeightOp():
                self._weight(op)
            case NestViewOp() | JoinOp() | NestRowsOp():
                pass  # made where it is read
            case GroupOp() if op in self.fused and BY_SAMPLE in op.attributes:
                if self.span and self.span[-1].layers[0].op.attributes[BY_SAMPLE] != op.attributes[BY_SAMPLE]:
                    self._by_sample()
                self.span.append(self.fused[op])
            case GroupOp() if op in self.fused:
                self._by_sample()
                if op is self.fused[op].layers[-1].op:
                    self._fused(self.fused[op])
            case GroupOp():
                self._by_sample()
                self._group(op)
            case ReturnOp():
                self._by_sample()
                for name, value in self.copied:
                    self._copy(name, value)
            case _:
                raise TilewrightError(
                    "unsupported", op.name, "groups, views and weights", op.name, "run the passes before"
                )

    def _weight(self, op: WeightOp) -> None:
        """Declares a weight; where an output has its name, the bytes go by another one, too."""
        tensor = self._tensor(op.result, op.resource, Role.WEIGHT)
        if op.resource in self.weights:
            self.weights[tensor.tensor_name.data] = self.weights.as_stored(op.resource)

    def _value(self, value: SSAValue) -> SSAValue:
        """The tensor of a value; views of it, and rows of tables, are made when they are asked for."""
        if value not in self.values and isinstance(value.owner, NestViewOp):
            self._view(self._value(value.owner.source), value)
        if value not in self.values and isinstance(value.owner, NestRowsOp):
            rows = RowsOp(self._value(value.owner.table), self._value(value.owner.index), self._surrogate(value))
            self.block.add_op(rows)
            self.values[value] = rows.result
        if value not in self.values and isinstance(value.owner, JoinOp):
            raise self._joined_offchip(value)
        if value not in self.values:
            found = value.owner.name if isinstance(value.owner, Operation) else "another"
            raise TilewrightError("unsupported", value.name_hint or "a value", "a value in DRAM", found)
        return self.values[value]

    def _joined_offchip(self, value: SSAValue) -> InfeasibleError:
        """Of joined maps that a group reads for which there is no room on chip: off it maps are joined by copies."""
        buffer, needed = buffer_of(self.machine), bytes_of(value)
        lever = f"use a larger {buffer.name}, or smaller groups (--partition)"
        subject = f"joined maps {value.name_hint or ''}".rstrip()
        return InfeasibleError(buffer.name, needed, buffer.capacity_bytes, "bytes", lever, subject)

    def _by_sample(self) -> None:
        """The span of groups so far, for one sample after another; weights stay, or are loaded for each."""
        span, self.span = self.span, []
        if not span:
            return
        members, samples = {group.layers[0].op for group in span}, {group.samples for group in span}
        for group in span:
            if not group.whole or not group.layers[0].sample or len(samples) > 1:
                where, lever = f"group @{group.name}", f"remove its `{BY_SAMPLE}`"
                raise TilewrightError("ir", where, "a layer that runs as a whole, sample by sample", "another", lever)
        maps = {value for group in span for value in (*group.outside, *group.layers[0].made.values())}
        self.onchip.sampled = frozenset(
            value
            for value in maps
            if shape_of(value) and (value not in self.onchip.kept or members >= {value.owner, *readers_of(value)})
        )
        for sample in range(samples.pop()):
            for value in self.onchip.sampled:
                self.onchip.tensors.pop(value, None)
            for layer, value in list(self.onchip.weights):
                if RELOADED in layer.op.attributes:
                    del self.onchip.weights[layer, value]
            for group in span:
                self._fused(group, sample)
        later = [group.layers[0] for group in span if KEPT_LATER in group.layers[0].op.attributes]
        self.onchip.kept |= {value for layer in later for value in layer.made.values()}

    def _fused(self, group: FusedGroup, sample: int | None = None) -> None:
        from .fused_program import FusedBuilder

        for layer in group.layers:
            for name, root in layer.made.items():
                if root not in self.values and self._passes_offchip(root):
                    self._tensor(root, _result_name(layer.op, layer.results[name]), Role.TEMP)
        touched = [value for layer in group.layers for value in (*layer.made.values(), *layer.weights.values())]
        offchip = {value: self._value(value) for value in [*group.outside, *touched] if self._is_offchip(value)}
        self.block.add_ops(FusedBuilder(group, offchip, self._unique, self.onchip, sample).build())

    @remembered
    def _passes_offchip(self, root: SSAValue) -> bool:
        """Whether a map goes through DRAM: it is an output, or a reader in another group finds it there."""
        if root in self.outputs:
            return True
        maker = self.fused.get(root.owner)  # pyright: ignore[reportArgumentType, reportCallIssue]
        readers = [self.fused.get(op) for op in readers_of(root)]  # pyright: ignore[reportArgumentType, reportCallIssue]
        return any(group is None or (group is not maker and root not in self.onchip.kept) for group in readers)

    def _is_offchip(self, value: SSAValue) -> bool:
        return value in self.values or not isinstance(value.owner, GroupOp)

    def _unique(self, name: str) -> str:
        return take_name(name, self.taken)

    def _group(self, op: GroupOp) -> None:
        names = op.buffers()
        inputs = dict(zip((n.data for n in op.input_names), op.inputs, strict=True))
        for value, result in zip(op.yielded, op.results, strict=True):
            if names[value] in inputs:
                self.values[result] = self._value(inputs[names[value]])
            else:
                self._tensor(result, _result_name(op, result), Role.TEMP)
        tensors = {name: self._value(value) for name, value in inputs.items()}
        tensors |= {names[v]: self.values[r] for v, r in zip(op.yielded, op.results, strict=True)}
        self.block.add_op(build_codelet(self.machine, op, tensors))

    def _tensor(self, value: SSAValue, name: str, role: Role) -> TensorOp:
        """Declares the tensor of a value; an output has the shape and name of what is returned."""
        root = storage_of(value)
        output, returned = self.outputs.get(root, (name, value))
        if root in self.outputs:
            role = Role.OUTPUT
        else:
            output = self._unique(output)
        op = TensorOp(output, role, self._surrogate(returned))
        op.result.name_hint = value.name_hint
        self.block.add_op(op)
        self.values[value] = op.result
        if returned.type != value.type:
            self._view(op.result, value)
        return op

    def _view(self, source: SSAValue, result: SSAValue) -> None:
        view = ViewOp(source, self._surrogate(result))
        self.block.add_op(view)
        self.values[result] = view.result

    def _copy(self, name: str, value: SSAValue) -> None:
        op = TensorOp(name, Role.OUTPUT, self._surrogate(value))
        self.block.add_op(op)
        self.block.add_ops(build_copy(self.machine, name, self._value(value), op.result))

    def _surrogate(self, value: SSAValue) -> SurrogateType:
        return SurrogateType.get(shape_of(value), element_of(value), self.memory)


def _result_name(op: GroupOp, result: SSAValue) -> str:
    name = op.attributes.get("name")
    text = name.data if isinstance(name, StringAttr) else op.sym_name.data
    index = op.results.index(result)
    return text if index == 0 else f"{text}.{index}"
