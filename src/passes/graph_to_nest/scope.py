"""What the lowering of a layer sees of the function around it: outer values and constants."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...algebra.element import is_float
from ...dialects import graph, nest
from ...dialects.types import Tensor, dtype_of, element_of, tensor_of
from ...resources import Resources, weight_array
from ..names import take_name
from .builder import GroupBuilder, Indices, Term
from .diagonals import diagonal

Array = np.ndarray[Any, Any]


@dataclass
class Scope:
    """Values of graph layers as values of the nest function; `emit` inserts an operation there."""

    emit: Callable[[Operation], None]
    resources: Resources
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    taken: set[str] = field(default_factory=set[str])
    vectors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])  # of diagonals of constants

    def outer(self, value: SSAValue) -> SSAValue:
        """The value outside of all groups that a layer's operand has become."""
        return self.values.get(value, value)

    def term(self, builder: GroupBuilder, value: SSAValue, name: str, indices: Indices) -> Term:
        """A layer's operand at `indices` as an input of a group."""
        if value in self.vectors:
            return builder.term(self.vectors[value], name, diagonal(value, indices))
        return builder.term(self.outer(value), name, indices)

    def constant(self, value: SSAValue) -> Array | None:
        """The elements of a weight, where they are known."""
        owner = self.outer(value).owner
        return weight_array(owner, self.resources) if isinstance(owner, graph.WeightOp) else None

    def weight(self, name: str, array: Array) -> SSAValue:
        """A new constant tensor."""
        op = graph.WeightOp(self.unique(name), tensor_of(array), array)
        self.emit(op)
        return op.result

    def view(self, value: SSAValue, type_: Tensor) -> SSAValue:
        """The value under another shape."""
        if value.type == type_:
            return value
        op = nest.ViewOp(value, type_)
        self.emit(op)
        return op.result

    def unique(self, name: str) -> str:
        """`name`, or `name.1`, `name.2`, ... if it is taken."""
        return take_name(name, self.taken)

    @staticmethod
    def number(value: float, like: SSAValue) -> int | float:
        """A number as an element of `like`'s type: an integer for integers."""
        return float(value) if is_float(dtype_of(element_of(like))) else int(value)
