"""Networks built in Python, layer by layer, as a module of the graph dialect."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..dialects import graph
from ..dialects.types import element_type_of, tensor
from ..errors import TilewrightError
from ..frontends.main_function import main_module
from ..resources import Resources


class GraphBuilder:
    """Appends layers of the graph dialect to a network; `module` is what `compile` takes.

        net = GraphBuilder()
        x = net.input("x", (1, 3, 8, 8))
        y = net.add("conv", graph.ConvOp, x, net.weight("w", weights), None, strides=(1, 1), pads=(1, 1, 1, 1))
        module = net.module({"y": y})

    Values are xDSL's; a layer is any `graph.LayerOp` (`tilewright.dialects.graph`), whose shapes are those of the ONNX
    operator that it comes from.
    """

    def __init__(self) -> None:
        self._block = Block()
        self._resources = Resources()
        self._names: list[str] = []

    def input(self, name: str, shape: Sequence[int], dtype: str = "float32") -> SSAValue:
        """An input of the network; `dtype` is NumPy's name of its element type."""
        given = self._block.insert_arg(tensor(shape, _element(name, np.dtype(dtype))), len(self._names))
        given.name_hint = name
        self._names.append(name)
        return given

    def weight(self, name: str, values: ArrayLike) -> SSAValue:
        """A constant tensor with the values and element type of a NumPy array."""
        array = np.asarray(values)
        if name in self._resources:
            raise TilewrightError("usage", f"weight {name}", "each name once", "it twice")
        self._resources[name] = array
        made = graph.WeightOp(name, tensor(array.shape, _element(name, array.dtype)))
        self._block.add_op(made)
        return made.result

    def add(self, name: str, layer: type[graph.LayerOp], *operands: Any, **attributes: Any) -> SSAValue:
        """Append `layer(*operands, **attributes)`; its result.

        `TilewrightError` (kind `graph`) for operands or attributes that it does not take.
        """
        try:
            made = layer(*operands, **attributes)
            made.verify()
        except (VerifyException, ValueError, TypeError) as error:
            expected = f"operands and attributes that {layer.__name__} takes"
            raise TilewrightError("graph", f"layer {name}", expected, str(error)[:300]) from error
        graph.set_name(made, name)
        self._block.add_op(made)
        return made.results[0]

    def module(self, outputs: Mapping[str, SSAValue]) -> ModuleOp:
        """The network with these results, its weights attached; nothing is added to it any more."""
        module = main_module(self._block, self._names, outputs, [*outputs.values()], self._resources)
        module.verify()
        return module


def _element(name: str, dtype: np.dtype[np.generic]) -> Attribute:
    """The element type of an array's."""
    try:
        return element_type_of(dtype)
    except VerifyException as error:
        raise TilewrightError("type", name, "an element type of the graph dialect", str(dtype)) from error
