"""Elementwise kernels behind a sum (or alone) as instructions on rows of lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..algebra.expr import Access, Call, Expr, Num
from ..algebra.printer import print_expr
from ..backends.loops.places import Operation
from ..dialects import nest
from .loops_forms import Form, unsupported

Vector = NDArray[np.int64]
Leaf = tuple[str, int | Vector | Form]
"""`chain` (the row itself), `number` with its value, `vector` with a value per column, or `tensor` with its indices."""

SATURATED = (-128, 127)
LIMIT = 1 << 31
WRAPPED = LIMIT + 1
"""The bound of sums and products that a register may not hold."""


@dataclass
class Chain:
    """Operations so far; `bound` is what no element exceeds in magnitude, one for all columns or one each."""

    bound: Vector
    operations: list[Operation] = field(default_factory=list[Operation])
    vectors: list[Vector] = field(default_factory=list[Vector])
    tensors: list[tuple[str, Form]] = field(default_factory=list[tuple[str, Form]])

    @property
    def row(self) -> str:
        """What the next operation reads."""
        return "out" if self.operations else "sum"

    def add(self, text: str, b: int | str | None = None, shift: int = 0) -> None:
        """Another operation on the row."""
        self.operations.append(Operation(text, self.row, b, shift))

    def vector(self, values: Vector) -> str | int:
        """A constant per column as an operand; a number where all are alike."""
        if (values == values.flat[0]).all():
            return int(values.flat[0])
        self.vectors.append(values)
        return f"vector{len(self.vectors) - 1}"


class EpilogueBuilder:
    """Takes kernels one after another.  `leaf` says what an access of a kernel is."""

    def __init__(self, chain: Chain, leaf: Callable[[nest.KernelOp, Access], Leaf]) -> None:
        self.chain = chain
        self.leaf = leaf

    def take(self, kernel: nest.KernelOp) -> None:
        """Appends the operations of `Y = value`."""
        statement = kernel.statement.data
        if statement.reduce != "=":
            raise unsupported(kernel, "one elementwise statement after another", f"`{statement.reduce}`")
        self._expr(kernel, statement.value)
        self.chain.bound = np.minimum(self.chain.bound, LIMIT)  # results of 32 bits wrap as registers do

    def _expr(self, kernel: nest.KernelOp, expr: Expr) -> None:
        match expr:
            case Access():
                if self._leaf(kernel, expr)[0] != "chain":
                    raise unsupported(kernel, "a value made of the one before", print_expr(expr))
            case Call("clip", (inner, Num(low), Num(high))):
                self._clip(kernel, inner, int(low), int(high))
            case Call("rshift_round", _):
                self._requantize(kernel, expr, 0)
            case Call(fn, args):
                self._call(kernel, fn, args)
            case _:
                raise unsupported(kernel, "integer operations on rows", print_expr(expr))

    def _clip(self, kernel: nest.KernelOp, inner: Expr, low: int, high: int) -> None:
        match inner:
            case Call("add", (Call("rshift_round", _) as shifted, Num(zero))):
                self._requantize(kernel, shifted, int(zero))
            case Call("sub", (Call("rshift_round", _) as shifted, Num(zero))):
                self._requantize(kernel, shifted, -int(zero))
            case _:
                self._expr(kernel, inner)
                self._check(kernel)
        if (low, high) == SATURATED:
            self.chain.add("sat_i8(A)")
        else:
            self.chain.add("max(A, B)", low)
            self.chain.add("min(A, B)", high)
        self.chain.bound = np.array([max(abs(low), abs(high))], np.int64)

    def _call(self, kernel: nest.KernelOp, fn: str, args: tuple[Expr, ...]) -> None:
        if len(args) == 1 and fn == "relu":
            self._expr(kernel, args[0])
            self._check(kernel)
            self.chain.add("relu(A)")
            return
        texts = {
            "add": "A + B",
            "sub": "A - B",
            "mul": "A * B // pow(2, SHIFT)",
            "max": "max(A, B)",
            "min": "min(A, B)",
        }
        if fn not in texts or len(args) != 2:
            raise unsupported(kernel, f"functions among {', '.join(texts)}, relu, clip", f"`{fn}`")
        left, right = args
        if self._is_side(kernel, left) and not self._is_side(kernel, right) and fn != "sub":
            left, right = right, left
        self._expr(kernel, left)
        side, size = self._operand(kernel, right)
        bound = self.chain.bound
        if fn in ("max", "min"):
            self._check(kernel)
        self.chain.add(texts[fn], side)
        if fn in ("max", "min"):
            self.chain.bound = np.maximum(bound, size)
        else:
            wide = bound * size if fn == "mul" else bound + size
            self.chain.bound = np.where(wide >= LIMIT, WRAPPED, wide)

    def _is_side(self, kernel: nest.KernelOp, expr: Expr) -> bool:
        return isinstance(expr, Num) or (isinstance(expr, Access) and self._leaf(kernel, expr)[0] != "chain")

    def _leaf(self, kernel: nest.KernelOp, access: Access) -> Leaf:
        return self.leaf(kernel, access)

    def _operand(self, kernel: nest.KernelOp, expr: Expr) -> tuple[int | str, Vector]:
        """The second operand of an operation, and its magnitude."""
        match expr:
            case Num(value) if value == int(value):
                return int(value), np.array([abs(int(value))], np.int64)
            case Access():
                kind, value = self._leaf(kernel, expr)
                if kind == "number" and isinstance(value, int):
                    return value, np.array([abs(value)], np.int64)
                if kind == "vector" and isinstance(value, np.ndarray):
                    return self.chain.vector(value), np.abs(value)
                if kind == "tensor" and isinstance(value, Form):
                    self.chain.tensors.append((expr.tensor, value))
                    return f"tensor{len(self.chain.tensors) - 1}", self._tensor_bound(kernel, expr)
                if kind == "chain":
                    return self.chain.row, self.chain.bound
            case _:
                pass
        raise unsupported(kernel, "a number, a constant or a tensor", print_expr(expr))

    def _tensor_bound(self, kernel: nest.KernelOp, access: Access) -> Vector:
        from ..dialects.types import dtype_of

        dtype = dtype_of(kernel.operands_by_name[access.tensor].type.element_type)  # pyright: ignore
        return np.array([1 << (8 * dtype.itemsize - 1)], np.int64)

    def _check(self, kernel: nest.KernelOp) -> None:
        """Sums and products may wrap as the registers do; what compares or shifts needs the values themselves."""
        if (self.chain.bound > LIMIT).any():
            raise unsupported(
                kernel,
                "values of 32 bits",
                f"up to {int(self.chain.bound.max())}",
            )

    def _constant(self, kernel: nest.KernelOp, expr: Expr) -> Vector:
        match expr:
            case Num(value):
                return np.array([int(value)], np.int64)
            case Access():
                _, value = self._leaf(kernel, expr)
                if isinstance(value, int):
                    return np.array([value], np.int64)
                if isinstance(value, np.ndarray):
                    return value
            case _:
                pass
        raise unsupported(kernel, "constant factors and shifts", print_expr(expr))

    def _requantize(self, kernel: nest.KernelOp, expr: Expr, zero: int) -> None:
        """`rshift_round(A * M, S) + zero`, exactly: the product loses k < S bits, then S - k more with the rounding.

        floor((A M + 2^(S-1)) / 2^S) = floor((floor(A M / 2^k) + 2^(S-1-k)) / 2^(S-k)), as 2^k divides 2^(S-1).
        """
        match expr:
            case Call("rshift_round", (Call("mul", (inner, factor)), amount)):
                self._expr(kernel, inner)
                factors, amounts = self._constant(kernel, factor), self._constant(kernel, amount)
            case Call("rshift_round", (inner, amount)):
                self._expr(kernel, inner)
                factors, amounts = np.ones(1, np.int64), self._constant(kernel, amount)
            case _:
                raise unsupported(kernel, "a rounding shift", print_expr(expr))
        self._check(kernel)
        if (amounts < 1).any() or (amounts > 62).any():
            raise unsupported(kernel, "shifts of 1 to 62 bits", f"{int(amounts.min())} to {int(amounts.max())}")
        shift = int(amounts.min()) - 1
        rest = amounts - shift
        rounding = (np.int64(1) << (rest - 1)) + (np.int64(zero) << rest)
        size = ((self.chain.bound.astype(object) * np.abs(factors).astype(object)) >> shift) + np.abs(rounding) + 1
        if max(size.tolist()) >= LIMIT:
            raise unsupported(kernel, "products of 32 bits after the shift", f"up to {max(size.tolist())}")
        if shift or (factors != 1).any():
            self.chain.add("A * B // pow(2, SHIFT)", self.chain.vector(factors), shift)
        self.chain.add("A + B", self.chain.vector(rounding))
        self.chain.add("A // pow(2, B)", self.chain.vector(rest))
        self.chain.bound = np.array([max((value >> int(rest.min())) + 1 for value in size.tolist())], np.int64)
