"""Nodes of all operators with inputs and attributes at random: imported, or refused with a reason, in bounded time."""

import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, defs, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import constant_inputs, import_onnx

POOL = {
    "scalar": np.float32(2),
    "line": np.ones(3, np.float32),
    "matrix": np.ones((2, 3), np.float32),
    "map": np.ones((1, 2, 4, 5), np.float32),
    "one": np.int64(1),
    "pair": np.array([0, 1]),
    "signs": np.array([-1, 5, 0]),
    "huge": np.array([1 << 40]),
    "truths": np.array([True, False, True]),
    "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "half": np.ones((2, 3), np.float16),
    "infinite": np.array([np.inf, -np.inf], np.float32),
}
NUMBERS = (-3, -1, 0, 1, 2, 7, 1 << 40)
WORDS = ("linear", "nearest", "cubic", "DCR", "sum", "ab,bc->ac", "", "bidirectional", "LEFT", "constant", "SAME_UPPER")
OPERATORS = sorted({schema.name for schema in defs.get_all_schemas() if schema.domain == ""})


def attribute(kind: str, choose: random.Random) -> Any:
    match kind:
        case "INT":
            return choose.choice(NUMBERS)
        case "FLOAT":
            return choose.choice((0.0, 1.0, -2.5, 1e30))
        case "INTS":
            return choose.choices(NUMBERS, k=choose.randint(1, 4))
        case "FLOATS":
            return choose.choices((0.0, 1.0, -2.5), k=choose.randint(1, 4))
        case "STRING":
            return choose.choice(WORDS)
        case "TENSOR":
            return numpy_helper.from_array(np.asarray(choose.choice(list(POOL.values()))))
        case _:
            return None


def model(op: str, choose: random.Random) -> ModelProto:
    schema = defs.get_schema(op)
    count = choose.randint(schema.min_input, min(schema.max_input, schema.min_input + 4))
    inputs = [choose.choice("xc") + choose.choice(list(POOL)) for _ in range(count)]
    given = {
        name: attribute(str(a.type).rsplit(".", maxsplit=1)[-1], choose)
        for name, a in schema.attributes.items()
        if a.required or choose.random() < 0.5
    }
    outputs = [f"y{i}" for i in range(max(1, schema.min_output))]
    node = helper.make_node(op, inputs, outputs, **{name: value for name, value in given.items() if value is not None})
    values = [
        helper.make_tensor_value_info(f"x{name}", helper.np_dtype_to_tensor_dtype(np.asarray(a).dtype), np.shape(a))
        for name, a in POOL.items()
    ]
    tensors = [numpy_helper.from_array(np.asarray(a), f"c{name}") for name, a in POOL.items()]
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info("y0")], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", choose.choice((7, 11, 13, 18, 21, 28)))])


@pytest.mark.parametrize("seed", range(4))
def test_random_nodes(seed: int) -> None:
    choose = random.Random(seed)
    for op in OPERATORS:
        proto = model(op, choose)
        constant_inputs(proto)
        with suppress(TilewrightError):
            import_onnx(proto)


def test_attributes_that_an_operator_does_not_have():
    """A slope under another name would be the default one, without a word."""
    inputs = [helper.make_tensor_value_info(name, 1, [1, 8]) for name in "xy"]

    def given(name: str, version: int) -> ModelProto:
        node = helper.make_node("LeakyRelu", ["x"], ["y"])
        node.attribute.append(helper.make_attribute(name, 0.5))
        made = helper.make_graph([node], "g", inputs[:1], inputs[1:])
        return helper.make_model(made, opset_imports=[helper.make_opsetid("", version)])

    with pytest.raises(TilewrightError, match=r"LeakyRelu.*expected attributes .* opset 17: alpha, found alfa"):
        import_onnx(given("alfa", 17))
    import_onnx(given("alpha", 17))
