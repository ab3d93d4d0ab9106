"""The pass `graph-pack`: weights of 4 bits, two in a byte of DRAM, unpacked on chip."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.acg import has_target, machine_of
from ...dialects.types import element_of, shape_of, si8
from ...interpreters.constants import Constants
from ...machine import Machine
from ..functions import erase_unread_weights
from .narrow_weights import held
from .quantized_values import Builder

LOW, HIGH = -8, 7
"""The numbers of 4 bits."""

SHARE = 1 / 4
"""Part of the buffer that the unpacked weights of one piece take."""

Product = graph.MatmulOp | graph.GemmOp


@dataclass(frozen=True)
class Layer:
    """A product with weights of 4 bits, and what scales and adds its blocks, if it is in blocks.

    `axis` is that of the weights' columns; `scaling` multiplies by `scale`, of which a row is for a block of rows, and
    `total` adds the blocks.
    """

    product: Product
    weights: Array
    axis: int
    scaling: graph.BinaryOp | None = None
    scale: Array | None = None
    total: graph.ReduceOp | None = None

    @property
    def last(self) -> graph.LayerOp:
        """The layer that makes the result."""
        return self.total or self.product

    @property
    def made_bytes(self) -> int:
        """What the product makes for a column of the weights, all blocks and rows of it."""
        made = shape_of(self.product.result)
        return prod(made) // made[-1] * 4

    def columns(self, start: int, end: int) -> Array:
        """Some columns of the weights."""
        return self.weights[start:end] if self.axis == 0 else self.weights[..., start:end]


def unpacks(machine: Machine) -> bool:
    """Whether a node of the machine multiplies and shifts signed bytes by numbers of an instruction."""
    return any(
        ("i8", "i8") in c.types
        and c.immediates
        and {"mul", "rshift"} <= {name for _, names in c.functions for name in names}
        for node in machine.computes
        for c in node.capabilities
    )


def converts(machine: Machine, element: str) -> bool:
    """Whether a node of the machine makes f32 of a type."""
    return any(("f32", element) in c.types for node in machine.computes for c in node.capabilities)


def buffer_bytes(machine: Machine) -> int:
    """The size of the largest memory on chip."""
    return max((memory.capacity_bytes for memory in machine.memories if not memory.offchip), default=0)


def layer_of(product: Product, machine: Machine, constants: Constants) -> Layer | None:
    """What there is to pack; None where the weights are no constant of 4 bits that products alone read.

    Weights of several products are rather loaded once, in bytes, where there is room for them on chip.
    """
    given = product.operands[1]
    weights = constants.array(given) if element_of(given) == si8 and _products_read(given) else None
    if weights is None or (not given.has_one_use() and weights.size <= buffer_bytes(machine) * SHARE):
        return None
    if weights.min() < LOW or weights.max() > HIGH:
        return None
    if isinstance(product, graph.GemmOp):
        plain = product.c is None and (product.alpha.value.data, product.beta.value.data) == (1.0, 1.0)
        return Layer(product, weights, 0 if product.trans_b is not None else 1) if plain else None
    return _in_blocks(product, weights, machine, constants) or Layer(product, weights, weights.ndim - 1)


def _products_read(value: SSAValue) -> bool:
    return all(isinstance(use.operation, graph.MatmulOp | graph.GemmOp) and use.index == 1 for use in value.uses)


def _in_blocks(product: graph.MatmulOp, weights: Array, machine: Machine, constants: Constants) -> Layer | None:
    scaling = product.result.get_user_of_unique_use()
    if not isinstance(scaling, graph.BinaryOp) or scaling.kind.data != graph.BinaryKind.MUL:
        return None
    scale = constants.array(scaling.b if scaling.a is product.result else scaling.a)
    total = scaling.result.get_user_of_unique_use()
    if not isinstance(total, graph.ReduceOp) or total.kind.data != graph.ReduceKind.SUM or scale is None:
        return None
    axes, rank = total.axes.get_values(), len(shape_of(product.result))
    if rank - 1 in axes or scale.ndim != rank or scale.shape[-1] != weights.shape[-1]:
        return None
    half = held(scale, np.dtype(np.float16)) if converts(machine, "f16") else None
    return Layer(product, weights, weights.ndim - 1, scaling, scale if half is None else half, total)


def pieces_of(columns: int, column_bytes: int, limit_bytes: float) -> Iterator[tuple[int, int]]:
    """Ranges of columns, of even length but the last, which is one column where their number is odd."""
    pairs = columns // 2
    count = min(pairs, -(-2 * pairs * column_bytes // max(1, int(limit_bytes))))
    bounds = [2 * (pairs * i // count) for i in range(count + 1)] if pairs else [0]
    yield from pairwise(bounds)
    if columns % 2:
        yield columns - 1, columns


def pack(layer: Layer, constants: Constants, limit_bytes: float, stored: dict[tuple[SSAValue, str], SSAValue]) -> None:
    """Replace a product by those with its pieces, which are `stored` by name once for all products with the weights."""
    builder, columns = Builder.of(constants, layer.last), layer.weights.shape[layer.axis]
    given = layer.product.operands[1]
    results: list[SSAValue] = []
    for start, end in pieces_of(columns, max(layer.weights.size // columns, layer.made_bytes), limit_bytes):
        middle = (start + end) // 2
        part = f"weight{start}"
        if end - start == 1:
            results.append(_multiplied(builder, layer, builder.weight(part, layer.columns(start, end)), start))
            continue
        low, high = layer.columns(start, middle), layer.columns(middle, end)
        key = given, f"{part} along {layer.axis}"
        if key not in stored:
            weight = constants.weight(f"{builder.name}.{part}.i4", np.ascontiguousarray((high << 4) | (low & 15)))
            Rewriter.insert_op(weight, InsertPoint.before(layer.product))
            stored[key] = weight.result
        packed = _once(builder, stored[key])
        four, sixteen = (builder.weight(name, np.array(n, np.int8)) for name, n in (("four", 4), ("sixteen", 16)))
        moved = builder.emit(graph.BinaryOp("mul", packed, sixteen))
        for value, first in (moved, start), (packed, middle):
            unpacked = builder.emit(graph.BinaryOp("shr", value, four))
            results.append(_multiplied(builder, layer, unpacked, first))
    value = results[0] if len(results) == 1 else builder.emit(graph.ConcatOp(results, axis=_result_axis(layer)))
    inner = (layer.scaling, layer.product) if layer.total is not None else ()
    read = [given, *(layer.scaling.operands if layer.scaling is not None else ())]
    builder.replace(layer.last, value)
    for op in filter(None, inner):
        Rewriter.erase_op(op)
    erase_unread_weights(read)


def _once(builder: Builder, weights: SSAValue) -> SSAValue:
    """A copy on chip, so that weights with two readers are loaded once."""
    shape = shape_of(weights)
    return builder.emit(graph.SliceOp(weights, starts=[0] * len(shape), sizes=shape))


def _result_axis(layer: Layer) -> int:
    return len(shape_of(layer.last.result)) - 1


def _multiplied(builder: Builder, layer: Layer, weights: SSAValue, first: int) -> SSAValue:
    """The columns of the result from `first` on, of some columns of weights."""
    op, count = layer.product, shape_of(weights)[layer.axis]
    if isinstance(op, graph.GemmOp):
        made = graph.GemmOp(op.a, weights, trans_a=op.trans_a is not None, trans_b=op.trans_b is not None)
        return builder.emit(made)
    value = builder.emit(graph.MatmulOp(op.a, weights))
    if layer.total is None or layer.scale is None:
        return value
    scale = builder.weight(f"scale{first}", np.ascontiguousarray(layer.scale[..., first : first + count]))
    if layer.scale.dtype == np.float16:
        scale = builder.emit(graph.CastOp(scale, f32))
    value = builder.emit(graph.BinaryOp("mul", value, scale))
    axes, keepdims = layer.total.axes.get_values(), layer.total.keepdims is not None
    return builder.emit(graph.ReduceOp("sum", value, axes=axes, keepdims=keepdims))


@dataclass(frozen=True)
class GraphPackPass(ModulePass):
    """Store weights of 4 bits (from -8 to 7) that matrix products read two in a byte, and unpack them on chip.

    Columns are cut into pieces that take a quarter of the largest memory on chip, unpacked, and so do their products.
    A byte of a piece has a column of its first half in the low bits, and one of its second half in the high bits:

        %y = graph.matmul %x, %w : ... si8     ->     %m = graph.binary mul %p, 16      %l = graph.binary shr %m, 4
                                                      %h = graph.binary shr %p, 4
                                                      %a = graph.matmul %x, %l          %b = graph.matmul %x, %h
                                                      %y = graph.concat %a, %b

    Where blocks of rows have scales of their own (a product for each block, times its scale, added up), each piece is
    scaled and added up by itself.  Numbers are the same.  Needs a target in the module that multiplies and shifts
    signed bytes; others keep bytes.  Precondition: `graph-quantize`; what folds constants must not follow.  Weights of
    fewer than `min_elements` stay bytes: a program has more instructions for each that is packed.  So do those of
    several products that a quarter of the memory holds: they are loaded once.
    """

    name = "graph-pack"
    min_elements: int = 1 << 14

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not has_target(op):
            return
        machine, constants = machine_of(op), Constants.of(op)
        if not unpacks(machine):
            return
        stored: dict[tuple[SSAValue, str], SSAValue] = {}
        for product in [layer for layer in op.walk() if isinstance(layer, graph.MatmulOp | graph.GemmOp)]:
            layer = layer_of(product, machine, constants)
            if layer is not None and layer.weights.size >= self.min_elements:
                pack(layer, constants, buffer_bytes(machine) * SHARE, stored)
        constants.tidy()
