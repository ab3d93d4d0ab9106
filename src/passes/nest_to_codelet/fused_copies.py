"""Copies between the regions of a map, as codelets of fused groups."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.ir import Block, Operation, Region, SSAValue

from ...algebra.expr import Access, print_expr
from ...costs.mapping.binding import pricer_of
from ...costs.mapping.place import memory_path
from ...costs.mapping.tree import Leaf
from ...dialects.codelet import CodeletOp, LoopOp, TransferOp, entry
from ...dialects.codelet_rules import surrogate
from ...dialects.types import bytes_of, shape_of
from ...machine import Machine
from ..graph_to_nest.builder import GroupBuilder, index
from ..graph_to_nest.movement import whole
from ..nest.arrivals import weight_pieces
from ..nest.nest_map import bind_in_place
from ..nest.trees import set_mapping
from .fused_codelets import LayerBuilder, Place
from .fused_layers import FusedLayer, read_layer

MOVED_PIECES, PIECE_BYTES = 64, 16384
"""A map moves in so many pieces at most, of so many bytes at least."""

ROW_PIECES = 16
"""A map is copied on chip in so many pieces of rows at most."""


def copy_codelet(
    machine: Machine, name: str, value: SSAValue, source: SSAValue, target: SSAValue
) -> tuple[CodeletOp, FusedLayer]:
    """A codelet that copies a map like `value` from `source` to `target`, both on chip, and the layer that it is of."""
    builder = GroupBuilder(name)
    op = builder.finish([whole(value, builder).value], None)
    pricer = pricer_of(machine)
    set_mapping(op, (Leaf(builder.names[-1]),))
    bind_in_place(op, pricer)
    layer = read_layer(op, pricer)
    names = op.buffers()
    places = {op.input_names.data[0].data: [Place(source, 0, 1)], names[op.yielded[0]]: [Place(target, 0, 1)]}
    codelet = LayerBuilder(machine, layer, places, {}).build()
    op.erase()
    return codelet, layer


def transfer_codelet(
    name: str, ends: tuple[SSAValue, SSAValue], shape: Sequence[int], *, inward: bool = True, shift: Sequence[int] = ()
) -> CodeletOp:
    """What has `shape` from the first of `ends` to the second, or (not `inward`) from that to the first.

    It begins `shift` elements on along the axes of the second.
    """
    block = entry([end.type for end in ends], ["X", "R"])
    dims = {f"i{axis}": extent for axis, extent in enumerate(shape)}
    there = [index({dim: 1}, by) for dim, by in zip(dims, shift or [0] * len(dims), strict=True)]
    accesses = [f"X[{', '.join(dims)}]", print_expr(Access("R", tuple(there)))]
    sides = list(zip(block.args, accesses if shift else (accesses[0],) * 2, strict=True))
    (source, over), (target, into) = sides if inward else sides[::-1]
    block.add_op(TransferOp(source, target, over=over, into=into if shift else None))
    return CodeletOp(name, dims or {"one": 1}, list(ends), Region(block))


def weights_codelet(layer: FusedLayer, pairs: Mapping[SSAValue, tuple[SSAValue, SSAValue]]) -> CodeletOp:
    """Loads weights of a layer, each from the first of two tensors to the second.

    One that its layer works on in pieces comes last, in these: all pieces are used with the others.
    """
    dims: dict[str, int] = {}
    pieces = weight_pieces(layer)
    cut = None if pieces is None else pieces.weight
    ordered = sorted(pairs.items(), key=lambda item: item[0] is cut)
    values = list(dict.fromkeys(value for _, pair in ordered for value in pair))
    block = entry([value.type for value in values], [f"t{i}" for i in range(len(values))])
    inside = dict(zip(values, block.args, strict=True))
    for place, (weight, (source, target)) in enumerate(ordered):
        own = {f"w{place}_{i}": extent for i, extent in enumerate(surrogate(target).sizes)}
        dims |= own
        op: Operation = TransferOp(inside[source], inside[target], over=f"W[{', '.join(own)}]")
        if pieces is not None and weight is cut:
            op = LoopOp(f"w{place}_{pieces.axis}", pieces.step, Region(Block([op])))
        block.add_op(op)
    return CodeletOp(f"{layer.op.sym_name.data}.weights", dims or {"one": 1}, values, Region(block))


def copy_cycles(layer: FusedLayer, machine: Machine) -> float:
    """What it takes to copy the maps that a layer reads from another memory than they lie in, without their borders."""
    total = 0.0
    for name, root in layer.copied.items():
        links = memory_path(machine, layer.map_memory, layer.memories[name])
        total += sum(bytes_of(root) / link.bandwidth_bytes_per_cycle for link in links)
    return total


def in_rows(codelet: CodeletOp, shape: Sequence[int]) -> CodeletOp:
    """A transfer of a map in pieces of its rows, so that who reads them waits for less."""
    axis = max(0, len(shape) - 2)
    return in_loops(codelet, [(f"i{axis}", -(-shape[axis] // ROW_PIECES))])


def in_pieces(codelet: CodeletOp, value: SSAValue, cut: int, burst_bytes: int) -> CodeletOp:
    """A transfer of a map in pieces of its axes 0 and `cut`, of whole bursts."""
    shape, total = shape_of(value), bytes_of(value)
    left = min(MOVED_PIECES, total // PIECE_BYTES)
    burst = -(-burst_bytes * prod(shape) // max(1, total))
    loops: list[tuple[str, int]] = []
    for axis in [axis for axis in (0, cut) if axis < len(shape)]:
        extent = shape[axis]
        step = -(-extent // max(1, min(extent, left)))
        if 0 < axis == len(shape) - 1:
            step = min(extent, -(-step // burst) * burst)
        left //= -(-extent // step)
        loops += [(f"i{axis}", step)] if step < extent else []
    return in_loops(codelet, loops)


def in_loops(codelet: CodeletOp, loops: Sequence[tuple[str, int]]) -> CodeletOp:
    """A codelet with its body in loops over dims by steps, the first outermost."""
    block = codelet.body.block
    for dim, step in reversed(loops):
        inner = Block()
        for op in list(block.ops):
            op.detach()
            inner.add_op(op)
        block.add_op(LoopOp(dim, step, Region(inner)))
    return codelet
