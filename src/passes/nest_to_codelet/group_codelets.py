"""Mapped nest groups as codelets: what `convert-nest-to-codelet` does inside one group."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr, IntegerAttr, IntegerType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...algebra.affine import window
from ...algebra.expr import Access, Statement, Strided, print_expr, reduction_dims, substitute, tensors_of
from ...costs.mapping.place import memory_path
from ...costs.mapping.tree import BufferUse, buffer_use
from ...dialects import nest
from ...dialects.codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, TransferOp, ViewOp, entry
from ...dialects.codelet_attributes import SurrogateType
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import nodes_of, set_nodes
from ...dialects.nest_attributes import BindingAttr, StatementAttr
from ...errors import TilewrightError
from ...machine import Machine
from ..accesses import with_accesses
from ..nest.trees import group_of


@dataclass(frozen=True)
class Frame:
    """Where the conversion stands in the tree: places of buffers, tile extents, dims spread over axes."""

    where: Mapping[str, SSAValue]
    tile: Mapping[str, int]
    spread: Mapping[str, str]


def build_codelet(machine: Machine, op: nest.GroupOp, tensors: Mapping[str, SSAValue]) -> CodeletOp:
    """The codelet of a mapped group; `tensors` are the off-chip tensors of its inputs and results by buffer name."""
    if not op.is_mapped:
        raise TilewrightError(
            "unsupported", f"group @{op.sym_name.data}", "a mapping", "none", "run nest-tile and nest-map before"
        )
    buffers = op.buffers()
    used = {buffers[value] for kernel in op.kernels for value in (kernel.result, *kernel.inputs)}
    tensors = {name: value for name, value in tensors.items() if name in used}
    block = entry([value.type for value in tensors.values()], [identifier(name) for name in tensors])
    frame = Frame(dict(zip(tensors, block.args, strict=True)), op.extents, {})
    block.add_ops(CodeletBuilder(machine, op).nodes(op.mapping, frame))
    codelet = CodeletOp(op.sym_name.data, op.extents, list(tensors.values()), Region(block))
    set_nodes(codelet, nodes_of(op))
    return codelet


def identifier(name: str) -> str:
    """A name that an access can have."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return text if text[:1].isalpha() or text[:1] == "_" else f"_{text}"


class CodeletBuilder:
    """Turns the mapping of a group into the body of a codelet."""

    def __init__(self, machine: Machine, op: nest.GroupOp) -> None:
        self.machine = machine
        self.op = op
        self.group = group_of(op)
        self.buffers = op.buffers()
        self.types = op.buffer_types()
        self.kernels = {kernel.sym_name.data: kernel for kernel in op.kernels}

    def nodes(self, region: Region, frame: Frame) -> Iterator[Operation]:
        """The codelet ops of a part of the tree, in order."""
        for node in region.block.ops:
            match node:
                case nest.ForOp():
                    dim, step = node.dim.data, node.step.value.data
                    inner = replace(frame, tile={**frame.tile, dim: min(step, frame.tile[dim])})
                    block = Block()
                    block.add_ops(self.nodes(node.body, inner))
                    yield LoopOp(dim, step, Region(block))
                case nest.SpatialOp():
                    if node.piece is not None:
                        raise self._unsupported("spatial nodes without a step", f"step {node.piece}")
                    spread = {**frame.spread, node.axis.data: node.dim.data}
                    yield from self.nodes(node.body, replace(frame, spread=spread))
                case nest.HoldOp():
                    yield from self._hold(node, frame)
                case nest.ComputeOp():
                    yield from self.computes(node, frame)
                case _:
                    raise TypeError(f"{node.name} in a mapping")

    def _hold(self, node: nest.HoldOp, frame: Frame) -> Iterator[Operation]:
        inside = {leaf.kernel.data for leaf in node.walk() if isinstance(leaf, nest.ComputeOp)}
        where = dict(frame.where)
        stores: list[Operation] = []
        self._check_sums(node, inside, frame)
        for name in node.buffer_names:
            use = self._use(name, inside)
            hops = self._hops(name, use, node, frame)
            sides = [*([frame.where[name]] if name in frame.where else []), *(hop.result for hop in hops)]
            pairs = list(pairwise(sides))
            yield from hops
            if use.loaded:
                yield from (TransferOp(source, to, self._pad(name, inside)) for source, to in pairs)
            if use.stored:
                stores = [*[TransferOp(to, source) for source, to in reversed(pairs)], *stores]
            where[name] = hops[-1].result
        yield from self.nodes(node.body, replace(frame, where=where))
        yield from stores

    def _hops(self, name: str, use: BufferUse, node: nest.HoldOp, frame: Frame) -> list[LocalOp]:
        """A local in each memory on the way from where the buffer is to the memory of the hold."""
        memory = node.memory.root_reference.data
        path = [memory]
        if name in frame.where and (use.loaded or use.stored):
            outer = surrogate(frame.where[name]).memory
            path = [link.dst for link in memory_path(self.machine, outer, memory)]
        if use.loaded and name not in frame.where:
            raise self._unsupported(f"{name} to be computed before", "not")
        texts = [print_expr(Access(identifier(name), tuple(form.to_expr() for form in forms))) for forms in use.touched]
        sizes = [axis.size for axis in window(use.touched, frame.tile)]
        locals_: list[LocalOp] = []
        for place in path:
            type_ = SurrogateType.get(sizes, self.types[name].element_type, place)
            local = LocalOp(texts, type_, node.slots.value.data)
            local.result.name_hint = identifier(name).lower()
            locals_.append(local)
        return locals_

    def _use(self, name: str, inside: set[str]) -> BufferUse:
        """How kernels use a buffer; each access once."""
        use = buffer_use(self.group, name, frozenset(inside))
        touched = tuple(dict.fromkeys(use.touched))
        if use.stored and set(use.written) != set(touched):
            expected = f"{name} to be read and written by the same indices where it is stored"
            raise self._unsupported(expected, f"{len(touched)} different accesses")
        if not touched:
            raise self._unsupported(f"a use of {name} inside its hold", "none")
        return replace(use, touched=touched)

    def _check_sums(self, node: nest.HoldOp, inside: set[str], frame: Frame) -> None:
        """Sums are complete where they leave the memory that they are made in."""
        for kernel in self.op.kernels:
            name = self.buffers[kernel.result]
            if kernel.sym_name.data not in inside or name not in node.buffer_names:
                continue
            for dim in reduction_dims(kernel.statement.data):
                if frame.tile[dim] < self.op.extents[dim]:
                    raise self._unsupported(f"{name} to be held outside of the loop over {dim}, its sum", "inside")

    def _unsupported(self, expected: str, found: str) -> TilewrightError:
        return TilewrightError("unsupported", f"group @{self.op.sym_name.data}", expected, found)

    def _pad(self, name: str, inside: set[str]) -> IntegerAttr | FloatAttr | None:
        """What reads of a buffer out of its bounds give to the kernels inside a hold."""
        values = [value for buffer, value in self.op.padded(inside) if buffer == name]
        if not values:
            return None
        if any(value != values[0] for value in values):
            raise self._unsupported(f"one pad value for {name}", f"{values[0]} and others")
        return number(values[0], self.types[name].element_type)

    def computes(self, node: nest.ComputeOp, frame: Frame) -> Iterator[Operation]:
        """The ops that a leaf of the mapping becomes."""
        statement, names = self.bound(node)
        yield compute(node, statement, [frame.where[name] for name in names.values()], *self.manner(node, frame))

    def manner(self, node: nest.ComputeOp, frame: Frame) -> tuple[dict[str, str], bool]:
        """Which dims of the capability are spread over axes, and whether a reduction goes on from its target."""
        assert node.dims is not None
        kernel = self.kernels[node.kernel.data]
        slots = {dim: slot for slot, dim in node.dims.data}
        spread = {axis: slots[dim] for axis, dim in frame.spread.items() if dim in slots}
        return spread, kernel.init is not None and kernel.statement.data.reduce != "="

    def bound(self, node: nest.ComputeOp) -> tuple[Statement, dict[str, str]]:
        """A kernel's statement with the capability's operands, and the buffer of each, in order."""
        kernel = self.kernels[node.kernel.data]
        if node.on is None or node.tensors is None or node.dims is None:
            raise TilewrightError(
                "unsupported", f"compute @{node.kernel.data}", "a capability", "none", "run nest-map before"
            )
        missing = set(tensors_of(kernel.statement.data)) - set(node.tensors.as_dict().values())
        if missing:
            subject, lever = f"compute @{node.kernel.data}", "leave the binding out and run nest-map"
            raise TilewrightError("ir", subject, "an operand for every tensor", f"none for {min(missing)}", lever)
        statement = rename_operands(kernel.statement.data, node.tensors.as_dict())
        values, operands = kernel.values, dict(node.tensors.data)
        return statement, {name: self.buffers[values[operands[name]]] for name in tensors_of(statement)}


def compute(
    node: nest.ComputeOp,
    statement: Statement,
    tensors: Sequence[SSAValue],
    spread: Mapping[str, str],
    keeps: bool,
    borders: Sequence[str] = (),
) -> ComputeOp:
    """The compute of a leaf of the mapping; `tensors` end with those of `borders`."""
    properties: dict[str, Attribute | None] = {
        "on": node.on,
        "statement": StatementAttr(statement),
        "dims": node.dims,
        "functions": node.functions,
        "immediates": node.immediates,
        "spread": BindingAttr.of(spread) if spread else None,
        "keep": UnitAttr() if keeps else None,
        "borders": ArrayAttr(StringAttr(name) for name in borders) if borders else None,
    }
    return ComputeOp(operands=[list(tensors)], properties=properties)


def rename_operands(statement: Statement, operands: Mapping[str, str]) -> Statement:
    """A kernel's statement with its tensors named as the capability's `operands` (capability operand -> tensor).

    A tensor that stands for several operands gives its accesses to them in order.
    """
    queues: dict[str, list[str]] = {}
    for operand, tensor in operands.items():
        queues.setdefault(tensor, []).append(operand)

    def renamed(access: Access) -> Access:
        queue = queues[access.tensor]
        return Access(queue.pop(0) if len(queue) > 1 else queue[0], access.indices)

    target = substitute(statement.target, tensors={statement.target.tensor: queues[statement.target.tensor][0]})
    assert isinstance(target, Access | Strided)
    return Statement(target, statement.reduce, with_accesses(statement.value, renamed))


def build_copy(machine: Machine, name: str, source: SSAValue, target: SSAValue) -> list[Operation]:
    """Ops that copy an off-chip tensor to another of the same shape, through the first memory that can."""
    type_ = surrogate(source)
    size = prod(type_.sizes)
    flat = SurrogateType.get([size], type_.element, type_.memory)
    views = [ViewOp(source, flat), ViewOp(target, flat)]
    memory = next(m for m in machine.memories if not m.offchip and _both_ways(machine, type_.memory, m.name))
    step = max(1, min(size, memory.capacity_bytes // 64))
    block = entry([flat, flat], ["X", "Y"])
    local = LocalOp(["X[i]"], SurrogateType.get([step], type_.element, memory.name), 2)
    moves = [TransferOp(block.args[0], local.result), TransferOp(local.result, block.args[1])]
    block.add_op(LoopOp("i", step, Region(Block([local, *moves]))))
    copy = CodeletOp(f"copy_{name}", {"i": size}, [view.result for view in views], Region(block))
    return [*views, copy]


def number(value: float, element: Attribute) -> IntegerAttr | FloatAttr:
    """An attribute of an element type."""
    if isinstance(element, IntegerType):
        return IntegerAttr(int(value), element)
    assert isinstance(element, AnyFloat)
    return FloatAttr(float(value), element)


def _both_ways(machine: Machine, a: str, b: str) -> bool:
    links = {(link.src, link.dst) for link in machine.links}
    return (a, b) in links and (b, a) in links
