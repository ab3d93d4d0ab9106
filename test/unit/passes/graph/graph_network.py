"""Networks made by hand for tests of graph passes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilewright.dialects import graph
from tilewright.dialects.types import shape_of, tensor, tensor_of, ui8
from tilewright.resources import Resources, attach

Array = NDArray[Any]


class Network:
    """A function under construction: `add` layers, name weights, `finish`."""

    def __init__(self, *shapes: Sequence[int]) -> None:
        self.types: list[Attribute] = [tensor(shape, f32) for shape in shapes]
        self.block = Block(arg_types=self.types)
        self.resources = Resources()
        self.layers = 0

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        return self.block.args

    def add(self, op: graph.LayerOp) -> SSAValue:
        graph.set_name(op, f"layer{self.layers}")
        self.layers += 1
        self.block.add_op(op)
        return op.result

    def weight(self, array: Array, name: str = "w") -> SSAValue:
        return self.add(graph.WeightOp(self.resources.add(name, array), tensor_of(array)))

    def quantize(self, x: SSAValue, scale: float, zero: int, element: Attribute = ui8) -> SSAValue:
        """Through 8 bits and back."""
        s, z = self._parameters(scale, zero, element)
        return self.add(graph.DequantizeOp(self.add(graph.QuantizeOp(x, s, z)), s, z))

    def _parameters(self, scale: float, zero: int, element: Attribute) -> tuple[SSAValue, SSAValue]:
        point = np.array(zero, np.uint8 if element == ui8 else np.int8)
        return self.weight(np.array(scale, np.float32), "scale"), self.weight(point, "zero")

    def quantized_weight(self, array: Array, scale: Array, axis: int) -> SSAValue:
        """An int8 weight, dequantised along `axis`."""
        return self.add(graph.DequantizeOp(self.weight(array), self.weight(scale.astype(np.float32)), axis=axis))

    def finish(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(func.ReturnOp(*results))
        module = ModuleOp([func.FuncOp("main", (self.types, [r.type for r in results]), Region(self.block))])
        attach(module, self.resources)
        module.verify()
        return module

    def arrays(self, seed: int = 0) -> dict[str, Array]:
        random = np.random.default_rng(seed)
        shapes = [shape_of(value) for value in self.inputs]
        return {f"arg{i}": random.standard_normal(shape).astype(np.float32) for i, shape in enumerate(shapes)}


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("graph.") for op in module.walk() if op.name.startswith("graph.")]


def apply(module: ModuleOp, *passes: Any) -> ModuleOp:
    for item in passes:
        item.apply(Context(), module)
        module.verify()
    return module
