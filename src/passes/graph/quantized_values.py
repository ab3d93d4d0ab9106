"""What `graph-quantize` knows about values: which are quantised and how, and how results go back to 8 bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.element import Array
from ...algebra.fixed_point import multiplier_and_shift
from ...dialects import graph
from ...dialects.graph.quantized import RANGES
from ...dialects.types import dtype_of, element_of
from ...interpreters.constants import Constants, base_name
from ...interpreters.graph_numpy import quantize

FOLDED = 3
"""Layers between a constant of a batch normalisation in 8 bits and what it is multiplied with."""


@dataclass(frozen=True)
class Quantised:
    """An integer tensor that stands for `(value - zero) * scale`; scale and zero are scalars or along `axis`."""

    value: SSAValue
    scale: Array  # float64
    zero: Array  # int64
    axis: int

    @property
    def element(self) -> Attribute:
        return element_of(self.value)

    @property
    def is_uniform(self) -> bool:
        """Whether scale and zero are scalars."""
        return self.scale.ndim == 0

    def same_scaling(self, other: Quantised) -> bool:
        """Whether equal integers stand for equal numbers."""
        return (
            self.element == other.element
            and self.axis == other.axis
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero, other.zero)
        )


def quantised(value: SSAValue, constants: Constants) -> Quantised | None:
    """The integers behind `value`, where it is dequantised with constant parameters."""
    op = value.owner
    if not isinstance(op, graph.DequantizeOp):
        return None
    parameters = _parameters(op, constants)
    return None if parameters is None else Quantised(op.x, *parameters, op.axis.value.data)


def _parameters(op: graph.QuantizeOp | graph.DequantizeOp, constants: Constants) -> tuple[Array, Array] | None:
    scale = constants.array(op.scale)
    zero = np.zeros_like(scale, np.int64) if op.zero_point is None else constants.array(op.zero_point)
    if scale is None or zero is None or not np.all(np.isfinite(scale) & (scale > 0)):
        return None
    return scale.astype(np.float64), zero.astype(np.int64)


def constant(value: SSAValue, constants: Constants) -> Array | None:
    """The numbers of a constant, of one in 8 bits, or of a few layers of constants; None of other values."""
    given = quantised(value, constants)
    steps = None if given is None or not given.is_uniform else constants.array(given.value)
    if given is not None and steps is not None:
        return (steps.astype(np.int64) - int(given.zero)) * float(given.scale)
    array = constants.array(value)
    return constants.fold(value.owner, FOLDED) if array is None and isinstance(value.owner, Operation) else array


def uniform_8_bits(value: Quantised | None) -> TypeGuard[Quantised]:
    """Whether a value is an 8-bit tensor with one scale and zero."""
    return value is not None and value.is_uniform and value.element in RANGES


def multipliers_and_shifts(factors: Array) -> tuple[Array, Array] | None:
    """Integers m and s, in i32, with factors of about `m / 2^s`; None where one cannot be expressed."""
    pairs = [(0, 0) if factor == 0 else multiplier_and_shift(factor) for factor in factors.reshape(-1).tolist()]
    found = [pair for pair in pairs if pair is not None]
    if len(found) != len(pairs):
        return None
    multiplier, shift = np.array(found, np.int32).T
    return multiplier.reshape(factors.shape), shift.reshape(factors.shape)


@dataclass
class Accumulator:
    """An i32 tensor that stands for `value * scale`, scale a scalar or along `axis`."""

    value: SSAValue
    scale: Array  # float64
    axis: int


@dataclass
class Builder:
    """Collects the operations that replace one, so that nothing is inserted until all is known to work."""

    constants: Constants
    name: str
    named: bool
    made: list[Operation] = field(default_factory=list[Operation])

    @staticmethod
    def of(constants: Constants, op: Operation) -> Builder:
        """A builder of what replaces `op`, with names after its name."""
        return Builder(constants, base_name(op), graph.name_of(op) is not None)

    def emit(self, op: Operation, part: str = "") -> SSAValue:
        """Add a layer, called `part` of this name."""
        self.made.append(op)
        if part and self.named:
            graph.set_name(op, f"{self.name}.{part}")
        return op.results[0]

    def weight(self, part: str, array: Array) -> SSAValue:
        """Add a constant."""
        return self.emit(self.constants.weight(f"{self.name}.{part}", array))

    def replace(self, op: graph.LayerOp, value: SSAValue) -> None:
        """Put what was built before `op` and let `value` stand for its result; a new operation takes its name."""
        Rewriter.insert_op(self.made, InsertPoint.before(op))
        if self.made and value is self.made[-1].results[0]:
            graph.set_name(self.made[-1], graph.name_of(op))
        op.result.replace_all_uses_with(value)
        Rewriter.erase_op(op)

    def integer(self, part: str, value: int) -> SSAValue:
        """Add a scalar i32 constant."""
        return self.weight(part, np.array(value, np.int32))

    def widen(self, value: SSAValue, offset: int = 0) -> SSAValue:
        """`i32(value) + offset`."""
        return self.shifted(self.emit(graph.CastOp(value, i32)), offset)

    def shifted(self, value: SSAValue, offset: int) -> SSAValue:
        """`value + offset` in i32."""
        if offset == 0:
            return value
        return self.emit(graph.BinaryOp("add", value, self.integer("offset", offset)))


@dataclass(frozen=True)
class Goal:
    """The 8-bit tensor that a `graph.quantize` makes: uniform parameters, and bounds from relu and clip before it."""

    op: graph.QuantizeOp
    scale: float
    zero: int
    low: int
    high: int

    @property
    def element(self) -> Attribute:
        return element_of(self.op.result)

    def is_met_by(self, value: Quantised) -> bool:
        """Whether the integers of `value` already mean the same (bounds aside)."""
        return (
            value.element == self.element
            and value.is_uniform
            and float(value.scale) == self.scale
            and int(value.zero) == self.zero
        )

    def requantize(self, builder: Builder, value: Accumulator) -> SSAValue | None:
        """`value` in the goal's integers; None if a factor cannot be expressed."""
        factors = multipliers_and_shifts(value.scale / self.scale)
        return None if factors is None else self.requantize_by(builder, value.value, *factors, value.axis)

    def requantize_by(
        self, builder: Builder, value: SSAValue, multiplier: Array, shift: Array, axis: int = 0
    ) -> SSAValue:
        """`clip(rshift_round(value * multiplier, shift) + zero, low, high)`."""
        op = graph.RequantizeOp(
            value,
            builder.weight("multiplier", multiplier),
            builder.weight("shift", shift),
            element=self.element,
            zero_point=self.zero,
            axis=axis,
            low=self.low,
            high=self.high,
        )
        return builder.emit(op)

    def rescale(self, builder: Builder, value: Quantised) -> SSAValue | None:
        """A uniform 8-bit value in the goal's integers."""
        if self.is_met_by(value):
            return self.clip(builder, value.value)
        widened = builder.widen(value.value, -int(value.zero))
        return self.requantize(builder, Accumulator(widened, value.scale, 0))

    def clip(self, builder: Builder, value: SSAValue) -> SSAValue:
        """A value that already has the goal's parameters, within its bounds."""
        low, high = RANGES[self.element]
        if (self.low, self.high) == (low, high):
            return value
        minimum = self.low if self.low > low else None
        maximum = self.high if self.high < high else None
        return builder.emit(graph.ClipOp(value, min=minimum, max=maximum))


def find_goal(op: graph.QuantizeOp, constants: Constants) -> tuple[Goal, SSAValue] | None:
    """The goal of `op` and the value that it is made from, relu and clip in between taken into the bounds.

    Quantisation is monotonic, so that clipping before it is clipping by the quantised bounds after it.
    """
    parameters = _parameters(op, constants)
    if parameters is None or parameters[0].ndim != 0:
        return None
    low, high, value = -np.inf, np.inf, op.x
    bounds: list[tuple[float, float]] = []
    while (found := epilogue_bounds(value)) is not None and value.has_one_use():
        bounds.append(found)
        value = value.owner.operands[0]  # pyright: ignore[reportAttributeAccessIssue]
    for minimum, maximum in reversed(bounds):
        low, high = (min(max(bound, minimum), maximum) for bound in (low, high))
    scale, zero = parameters
    element = dtype_of(element_of(op.result))
    with np.errstate(all="ignore"):
        limits = quantize(np.array([low, high], np.float32), scale.astype(np.float32), zero.astype(element), 0, element)
    return Goal(op, float(scale), int(zero), int(limits[0]), int(limits[1])), value


def epilogue_bounds(value: SSAValue) -> tuple[float, float] | None:
    """The bounds that relu or clip puts on a value that one of them makes."""
    op = value.owner
    if isinstance(op, graph.UnaryOp) and op.kind.data == graph.UnaryKind.RELU:
        return 0.0, np.inf
    if isinstance(op, graph.ClipOp):
        low = -np.inf if op.min is None else op.min.value.data
        return low, np.inf if op.max is None else op.max.value.data
    return None
