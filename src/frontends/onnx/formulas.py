"""Arithmetic of a node written out: operands broadcast, numbers are constants of the other operand's type."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import dtype_of, element_of, element_type_of, shape_of
from .scope import Node, Scope

Operand = SSAValue | float

MAX_CONSTANT, MAX_COMPARED = 1 << 25, 1 << 27
"""How many elements a constant that the importer makes may have, and how many may be looked at for run-time indices."""

BINARY = ("add", "sub", "mul", "div", "max", "min", "pow", "mod")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def check_constant_size(node: Node, *extents: int, most: int = MAX_CONSTANT, what: str = "counted") -> None:
    """Refuse a constant of too many elements before it is made."""
    if prod(extents) > most:
        found = " by ".join(map(str, extents))
        raise node.error(f"at most {most} elements to be {what}", found, kind="limit")


class Formulas:
    """Emits the operations of one node; results have no names but those that the importer gives the last one."""

    def __init__(self, scope: Scope, node: Node) -> None:
        self.scope = scope
        self.node = node

    def operand(self, index: int) -> SSAValue:
        """Input `index` of the node."""
        return self.scope.tensor(self.node, index)

    def constant(self, array: Array) -> SSAValue:
        """A constant of the importer's own."""
        return self.scope.literal(self.node, array)

    def counting(self, extent: int, axis: int, rank: int, dtype: type[np.generic] | np.dtype[np.generic]) -> SSAValue:
        """0, 1, ... along an axis, as it broadcasts to a tensor of this rank."""
        check_constant_size(self.node, extent)
        return self.constant(np.arange(extent).astype(dtype).reshape([extent if i == axis else 1 for i in range(rank)]))

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """A number of the element type of `like`."""
        dtype = dtype_of(element_of(like))
        return self.scope.weight(f"{dtype.name}:{value!r}", np.asarray(value).astype(dtype))

    def binary(self, kind: str, a: Operand, b: Operand) -> SSAValue:
        """`kind` of two operands, at most one a number; comparisons give ui8."""
        result = self.scope.emit(graph.BinaryOp(kind, *self._tensors(a, b)))
        return self.cast(result, np.uint8) if kind in COMPARISONS else result

    def _tensors(self, a: Operand, b: Operand) -> tuple[SSAValue, SSAValue]:
        """Two operands, at most one a number, which gets the type of the other."""
        if isinstance(a, SSAValue):
            return a, b if isinstance(b, SSAValue) else self.number(b, a)
        assert isinstance(b, SSAValue)
        return self.number(a, b), b

    def add(self, a: Operand, b: Operand) -> SSAValue:
        """a + b."""
        return self.binary("add", a, b)

    def sub(self, a: Operand, b: Operand) -> SSAValue:
        """a - b."""
        return self.binary("sub", a, b)

    def mul(self, a: Operand, b: Operand) -> SSAValue:
        """a * b."""
        return self.binary("mul", a, b)

    def div(self, a: Operand, b: Operand) -> SSAValue:
        """a / b."""
        return self.binary("div", a, b)

    def unary(self, kind: str, x: SSAValue, alpha: float | None = None) -> SSAValue:
        """`kind` of each element."""
        return self.scope.emit(graph.UnaryOp(kind, x, alpha=alpha))

    def select(self, condition: SSAValue, a: Operand, b: Operand) -> SSAValue:
        """a where the condition (ui8) is not 0, b elsewhere."""
        return self.scope.emit(graph.SelectOp(condition, *self._tensors(a, b)))

    def cast(self, x: SSAValue, dtype: type[np.generic] | np.dtype[np.generic]) -> SSAValue:
        """x in another element type."""
        element = element_type_of(np.dtype(dtype))
        return x if element_of(x) == element else self.scope.cast(x, np.dtype(dtype))

    def reduce(self, kind: str, x: SSAValue, axes: Sequence[int], keepdims: bool = True) -> SSAValue:
        """`kind` along axes; none of them is x itself."""
        return self.scope.emit(graph.ReduceOp(kind, x, axes=sorted(axes), keepdims=keepdims)) if axes else x

    def reshape(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """x under another shape."""
        return x if shape_of(x) == tuple(shape) else self.scope.emit(graph.ReshapeOp(x, shape))

    def transpose(self, x: SSAValue, perm: Sequence[int]) -> SSAValue:
        """Axes in another order."""
        return x if list(perm) == sorted(perm) else self.scope.emit(graph.TransposeOp(x, perm=perm))

    def expand(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """x broadcast to a shape."""
        return x if shape_of(x) == tuple(shape) else self.scope.emit(graph.ExpandOp(x, shape))

    def matmul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Matrix product."""
        return self.scope.emit(graph.MatmulOp(a, b))

    def concat(self, pieces: Sequence[SSAValue], axis: int) -> SSAValue:
        """Pieces one after another."""
        return pieces[0] if len(pieces) == 1 else self.scope.emit(graph.ConcatOp(pieces, axis=axis))

    def part(self, x: SSAValue, axis: int, start: int, size: int) -> SSAValue:
        """`size` elements of an axis from `start` on."""
        return x if size == shape_of(x)[axis] else self.scope.part(x, axis, start, size)

    def gather(self, x: SSAValue, indices: Array, axis: int) -> SSAValue:
        """Elements of an axis at constant indices."""
        return self.scope.emit(graph.GatherOp(x, indices, axis=axis))

    def lookup(self, table: SSAValue, index: SSAValue) -> SSAValue:
        """Rows of a table at indices that are known at run time."""
        fits = element_of(index) in (i32, i64)
        return self.scope.emit(graph.LookupOp(table, index if fits else self.cast(index, np.int32)))

    def pad(self, x: SSAValue, axis: int, begin: int, end: int, value: float = 0.0) -> SSAValue:
        """x with more elements before and behind along an axis."""
        if not begin and not end:
            return x
        rank = len(shape_of(x))
        pads = [begin if i == axis else 0 for i in range(rank)] + [end if i == axis else 0 for i in range(rank)]
        return self.scope.emit(graph.PadOp(x, pads=pads, value=value))

    def stuffed(self, x: SSAValue, axis: int, stride: int) -> SSAValue:
        """Elements of an axis `stride` apart, zeros between them."""
        shape = shape_of(x)
        apart = self.pad(self.reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :])), axis + 1, 0, stride - 1)
        joined = self.reshape(apart, (*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]))
        return self.part(joined, axis, 0, (shape[axis] - 1) * stride + 1)

    def along(self, x: SSAValue, axis: int, matrix: Array) -> SSAValue:
        """Each line of an axis times a constant matrix `[result, axis]`."""
        rank = len(shape_of(x))
        swap = [rank - 1 if i == axis else axis if i == rank - 1 else i for i in range(rank)]
        turned = self.transpose(x, swap)
        flat = self.reshape(turned, (prod(shape_of(turned)[:-1]), shape_of(turned)[-1]))
        product = self.matmul(flat, self.constant(np.ascontiguousarray(matrix.T, np.float32)))
        return self.transpose(self.reshape(product, (*shape_of(turned)[:-1], matrix.shape[0])), swap)

    def log1p(self, x: SSAValue) -> SSAValue:
        """log(1 + x) of what is not negative, also where x is small."""
        return self.unary("softplus", self.unary("log", x))

    def expm1(self, x: SSAValue) -> SSAValue:
        """exp(x) - 1 of what is not positive, also where x is small."""
        return self.unary("elu", x, 1.0)
