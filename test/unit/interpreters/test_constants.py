"""Constants of a graph: what is computed from them keeps its type."""

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import graph
from tilewright.dialects.types import tensor_of
from tilewright.interpreters.constants import Constants


def test_a_scalar_stays_a_scalar():
    module = ModuleOp([])
    constants = Constants.of(module)
    weight = constants.weight("w", np.array(4, np.float32))
    root = graph.UnaryOp("sqrt", weight.result)
    array = constants.fold(root)
    assert array is not None
    assert tensor_of(array) == root.result.type
    assert array == 2
