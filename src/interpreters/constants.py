"""Constant tensors of a graph: read their arrays, make new ones, compute with them."""

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..algebra.element import Array
from ..dialects import codelet, graph, mnemonic
from ..dialects.types import bytes_of, tensor_of
from ..resources import Resources, resources_of, weight_array
from .graph import GraphFunctions

INLINE_ELEMENTS = 64
"""New constants of at most so many elements stand in the text too."""

GROWTH_BYTES = 1 << 20
"""A folded result may be larger than its operands together by this much."""


@dataclass(frozen=True)
class Constants:
    """The constant tensors of one module."""

    module: ModuleOp
    resources: Resources
    interpreter: Interpreter

    @staticmethod
    def of(module: ModuleOp) -> "Constants":
        """The constants of `module`, with the resources attached to it."""
        resources = resources_of(module)
        interpreter = Interpreter(module)
        interpreter.register_implementations(GraphFunctions(resources))
        return Constants(module, resources, interpreter)

    def array(self, value: SSAValue) -> Array | None:
        """The array of a value that is a `graph.weight` with bytes at hand, else None."""
        op = value.owner
        return weight_array(op, self.resources) if isinstance(op, graph.WeightOp) else None

    def is_known(self, value: SSAValue) -> bool:
        """Whether `array` has one, without a look at it: arrays that lie unaligned in a file are copied for each."""
        op = value.owner
        return isinstance(op, graph.WeightOp) and (op.value is not None or op.resource in self.resources)

    def scalar(self, value: SSAValue) -> float | None:
        """The number in a constant of one element, else None."""
        array = self.array(value)
        return float(array.reshape(())) if array is not None and array.size == 1 else None

    def weight(self, name: str, array: Array) -> graph.WeightOp:
        """A new `graph.weight` called `name` (or `name.1`, ... where that is taken by other bytes)."""
        array = np.asarray(array)
        resource = self.resources.add(name, array)
        return graph.WeightOp(resource, tensor_of(array), array if array.size <= INLINE_ELEMENTS else None)

    def tidy(self) -> None:
        """Leave one `graph.weight` per name in each block, and no array that neither they nor lowered tensors name."""
        weights = [op for op in self.module.walk() if isinstance(op, graph.WeightOp)]
        first: dict[tuple[Block | None, str], graph.WeightOp] = {}
        for op in weights:
            kept = first.setdefault((op.parent_block(), op.resource), op)
            if kept is not op and kept.result.type == op.result.type:
                op.result.replace_all_uses_with(kept.result)
                Rewriter.erase_op(op)
        lowered = (op for op in self.module.walk() if isinstance(op, codelet.TensorOp | mnemonic.TensorOp))
        named = {name for _, name in first} | {op.tensor_name.data for op in lowered}
        for name in [name for name in self.resources if name not in named]:
            del self.resources[name]

    def fold(self, op: Operation, depth: int = 0) -> Array | None:
        """The result of a layer whose operands are all constants, else None; never much larger than its operands.

        Layers before it, `depth` of them one after the other, are folded for it.
        """
        if not isinstance(op, graph.LayerOp) or isinstance(op, graph.WeightOp) or not op.operands:
            return None
        given = sum(bytes_of(operand) for operand in op.operands)
        if bytes_of(op.result) > given + GROWTH_BYTES:
            return None
        arrays: list[Array] = []
        for operand in op.operands:
            array, owner = self.array(operand), operand.owner
            if array is None and depth and isinstance(owner, Operation):
                array = self.fold(owner, depth - 1)
            if array is None:
                return None
            arrays.append(array)
        with np.errstate(all="ignore"):
            (result,) = self.interpreter.run_op(op, tuple(arrays))
        return np.ascontiguousarray(result).reshape(np.shape(result))  # a scalar stays one


def base_name(op: Operation, value: SSAValue | None = None) -> str:
    """A name for constants made from `op`: its own, else that of the weight `value`, else `constant`."""
    name = graph.name_of(op)
    if name is not None:
        return name
    owner = value.owner if value is not None else None
    return owner.resource if isinstance(owner, graph.WeightOp) else "constant"
