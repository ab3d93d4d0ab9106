"""Random edits of bytes, text, JSON values and ONNX graphs: what `mutations.py` makes wrong files with."""

from __future__ import annotations

import re
from random import Random
from typing import Any, cast

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

Value = Any
"""What JSON and YAML hold."""

TOKEN = re.compile(r"[A-Za-z_][\w.]*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\s+|.", re.ASCII)
POWERS = [str(2**power) for power in (31, 32, 40, 63, 64, 200)]
NUMBERS = [*"0 -1 1 2 3 7 255 1e308 1e-308 0.5 nan inf 0x10 65536 1000003".split(), *POWERS]
ODD_TEXT = ["", " ", "é", "\u202e", "\0", '"', "\\", "%", "{}", "(((((", "a" * 300, "../x", "@", "//", "\ud7ff", "\n\n"]
ODD_VALUES: list[Value] = [
    *(None, True, "", "é\n", "x" * 300, [], {}, [[]], {"": {}}, "0", "-1", 0.5),
    *(0, -1, 1, 2, 3, 2**31, 2**40, 2**63, -(2**64), 10**40, 1e308, -1e-308, float("nan"), float("inf")),
]
DIMENSIONS = [-1, 0, 1, 2, 3, 5, 7, 64, 1000003, 2**31, 2**40, 2**63 - 1]
OPERATORS = """Abs Add And ArgMax AveragePool BatchNormalization Cast Ceil Clip Concat Constant ConstantOfShape Conv
ConvTranspose CumSum DequantizeLinear Div Einsum Erf Exp Expand Flatten Floor Gather Gelu Gemm GlobalAveragePool
HardSigmoid Identity InstanceNormalization LRN LayerNormalization LeakyRelu Log LogSoftmax MatMul MatMulInteger Max
MaxPool Mean Min Mod Mul Neg Not OneHot PRelu Pad Pow QLinearConv QuantizeLinear Range Reciprocal ReduceMax ReduceMean
ReduceSum Relu Reshape Resize Selu Shape Sigmoid Sign Slice Softmax Split Sqrt Squeeze Sub Sum Tanh Tile TopK
Transpose Unsqueeze Upsample Where Nonsense""".split()


def edit_bytes(random: Random, data: bytes, others: list[bytes]) -> bytes:
    """Flipped bits, bytes put in, taken out and doubled, pieces of `others`, an end cut off."""
    edited = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 4, 8])):
        start = random.randrange(len(edited) + 1)
        size = random.choice([1, 2, 4, 16, 64])
        match random.randrange(7):
            case 0 | 1 if start < len(edited):
                edited[start] ^= 1 << random.randrange(8)
            case 2 if start < len(edited):
                edited[start] = random.choice([0, 1, 127, 128, 255])
            case 3:
                del edited[start : start + size]
            case 4:
                edited[start:start] = random.choice([random.randbytes(size), edited[start : start + size]])
            case 5:
                other = random.choice(others)
                place = random.randrange(len(other) + 1)
                edited[start : start + size] = other[place : place + size]
            case _:
                if random.random() < 0.3:
                    del edited[start:]
    return bytes(edited)


def edit_text(random: Random, text: str) -> str:
    """Tokens and lines changed, taken out, doubled and swapped; one time in twenty bytes; half of the times
    numbers alone."""
    if random.random() < 0.5:
        return _edit_numbers(random, text)
    if random.random() < 0.1:
        data = text.encode()
        return edit_bytes(random, data, [data]).decode("utf-8", "surrogateescape")
    for _ in range(random.choice([1, 1, 1, 1, 2, 4])):
        tokens = TOKEN.findall(text) if random.random() < 0.9 else text.splitlines(keepends=True)
        if not tokens:
            return text
        text = "".join(_edit_tokens(random, tokens))
    return text


def _edit_numbers(random: Random, text: str) -> str:
    """Text in which one number or two are others, most of them near: what parsers take."""
    for _ in range(random.choice([1, 1, 2])):
        found = list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))
        if found:
            number = random.choice(found)
            value = int(number[0])
            near = [value + 1, max(0, value - 1), 2 * value, value // 2, 0, 1, 2, 3]
            new = random.choice(near) if random.random() < 0.8 else random.choice(NUMBERS)
            text = f"{text[: number.start()]}{new}{text[number.end() :]}"
    return text


def _edit_tokens(random: Random, tokens: list[str]) -> list[str]:
    solid = [index for index, token in enumerate(tokens) if not token.isspace()] or [0]
    words = [index for index in solid if tokens[index][0].isalnum()] or solid
    index, other = random.choice(words if random.random() < 0.7 else solid), random.choice(words)
    same = [token for token in tokens if token[:1].isdigit() == tokens[index][:1].isdigit() and token[:1].isalnum()]
    match random.randrange(10):
        case 0 | 1 | 2 | 3:
            tokens[index] = random.choice(NUMBERS) if tokens[index][:1].isdigit() else random.choice(same or tokens)
        case 4:
            tokens[index] = random.choice(same or tokens)
        case 5:
            del tokens[index]
        case 6:
            tokens.insert(index, tokens[other])
        case 7:
            tokens[index], tokens[other] = tokens[other], tokens[index]
        case 8:
            start, end = sorted((index, other))
            tokens[start : min(end, start + 30)] = []
        case _:
            tokens[index] = random.choice([*ODD_TEXT, tokens[index] * 2, "(" * 5000, "[" * 500, "-" + tokens[index]])
    return tokens


def edit_value(random: Random, value: Value) -> Value:
    """A JSON value with parts put in, taken out, doubled and exchanged."""
    for _ in range(random.choice([1, 1, 2, 4])):
        places = list(_places(value))
        if not places:
            return random.choice(ODD_VALUES)
        holder, key = random.choice(places)
        match random.randrange(8):
            case 0 | 1 | 2:
                holder[key] = random.choice(ODD_VALUES)
            case 3:
                del holder[key]
            case 4:
                other, place = random.choice(places)
                holder[key] = _copied(other[place]) if _is_at(other, place) else None
            case 5 if isinstance(holder, dict):
                holder[random.choice(["", "é", "x", *map(str, holder)])] = holder.pop(key)
            case 6 if isinstance(holder, list):
                holder.append(_copied(holder[key]))
            case _:
                number = holder[key]
                known = isinstance(number, int | float) and not isinstance(number, bool)
                holder[key] = number * random.choice([-1, 2, 0.5, 1000]) if known else random.choice(ODD_VALUES)
    return value


def _places(value: Value) -> list[tuple[Any, Any]]:
    """(holder, key or index) of all parts."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        part = stack.pop()
        keys = list(part) if isinstance(part, dict) else list(range(len(part))) if isinstance(part, list) else []
        found += [(part, key) for key in cast(list[Any], keys)]
        stack += [part[key] for key in keys]
    return found


def _is_at(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _copied(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in cast(dict[Any, Any], value).items()}
    return [_copied(part) for part in cast(list[Any], value)] if isinstance(value, list) else value


def edit_model(random: Random, model: ModelProto) -> ModelProto:
    """An ONNX model with nodes, edges, attributes, shapes, types, weights and names changed."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        graph = model.graph
        edits = [_edit_nodes, _edit_edges, _edit_attribute, _edit_shape, _edit_weight, _edit_name, _edit_lists]
        if random.random() < 0.05 and model.opset_import:
            random.choice(list(model.opset_import)).version = random.choice([0, 1, 6, 9, 12, 13, 18, 28, 2**40])
        else:
            random.choice(edits)(random, graph)
    return model


def _edit_nodes(random: Random, graph: GraphProto) -> None:
    if not graph.node:
        return
    nodes = list(graph.node)
    node = random.choice(nodes)
    match random.randrange(5):
        case 0:
            graph.node.remove(node)
        case 1:
            graph.node.append(node)
        case 2:
            random.shuffle(nodes)
            copies = [_copy(item) for item in nodes]
            del graph.node[:]
            graph.node.extend(copies)
        case 3:
            node.op_type = random.choice(OPERATORS)
        case _:
            node.domain = random.choice(["", "com.microsoft", "é", "ai.onnx"])


def _copy(node: NodeProto) -> NodeProto:
    copied = NodeProto()
    copied.CopyFrom(node)
    return copied


def _edit_edges(random: Random, graph: GraphProto) -> None:
    names = [name for node in graph.node for name in (*node.input, *node.output)] + [""]
    names += [value.name for value in (*graph.input, *graph.initializer)]
    if not graph.node:
        return
    node = random.choice(list(graph.node))
    ends = random.choice([node.input, node.input, node.output])
    match random.randrange(4):
        case 0:
            ends.append(random.choice(names))
        case 1 if ends:
            ends.pop()
        case _ if ends:
            ends[random.randrange(len(ends))] = random.choice(names)
        case _:
            ends.append("fresh")


def _edit_attribute(random: Random, graph: GraphProto) -> None:
    nodes = [node for node in graph.node if node.attribute]
    if not nodes:
        return
    node = random.choice(nodes)
    attribute = random.choice(list(node.attribute))
    match random.randrange(6):
        case 0:
            node.attribute.remove(attribute)
        case 1:
            attribute.name = random.choice(["axis", "axes", "pads", "kernel_shape", "strides", "group", "x"])
        case 2:
            attribute.type = random.choice(range(15))  # pyright: ignore[reportAttributeAccessIssue]
        case _:
            attribute.i = random.choice([-(2**63), -7, *DIMENSIONS])
            attribute.f = random.choice([0.0, -1.0, 1e38, float("nan"), float("inf")])
            attribute.s = random.choice([b"", b"SAME_UPPER", b"\xff\xfe", b"VALID", b"reflect"])
            if attribute.ints:
                attribute.ints[random.randrange(len(attribute.ints))] = random.choice([-7, -2, *DIMENSIONS])
                attribute.ints.extend(random.choice([[], [], [1], [0, 0]]))


def _edit_shape(random: Random, graph: GraphProto) -> None:
    values: list[ValueInfoProto] = [*graph.input, *graph.output, *graph.value_info]
    if not values:
        return
    kind = random.choice(values).type.tensor_type
    match random.randrange(5):
        case 0:
            kind.elem_type = random.randrange(24)
        case 1:
            kind.shape.dim.add().dim_value = random.choice(DIMENSIONS)
        case 2 if kind.shape.dim:
            kind.shape.dim.pop()
        case 3:
            kind.ClearField("shape")
        case _ if kind.shape.dim:
            random.choice(list(kind.shape.dim)).dim_value = random.choice(DIMENSIONS)
        case _:
            kind.shape.dim.add().dim_param = random.choice(ODD_TEXT)


def _edit_weight(random: Random, graph: GraphProto) -> None:
    tensors = list(graph.initializer) + [a.t for node in graph.node for a in node.attribute if a.HasField("t")]
    if not tensors:
        return
    tensor = random.choice(tensors)
    match random.randrange(6):
        case 0 if tensor.dims:
            tensor.dims[random.randrange(len(tensor.dims))] = random.choice(DIMENSIONS)
        case 1:
            tensor.dims.append(random.choice(DIMENSIONS))
        case 2:
            tensor.data_type = random.randrange(24)
        case 3:
            tensor.raw_data = tensor.raw_data[: random.randrange(len(tensor.raw_data) + 1)]
        case 4:
            tensor.raw_data = random.randbytes(len(tensor.raw_data))
        case _:
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=random.choice([*ODD_TEXT, "/etc/passwd", "x.onnx"]))


def _edit_name(random: Random, graph: GraphProto) -> None:
    old = random.choice([name for node in graph.node for name in (*node.input, *node.output, node.op_type)] or [""])
    new = random.choice(ODD_TEXT).replace("\ud7ff", "x")
    for value in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        if value.name == old or random.random() < 0.1:
            value.name = new
    for node in graph.node:
        for ends in (node.input, node.output):
            ends[:] = [new if name == old else name for name in ends]


def _edit_lists(random: Random, graph: GraphProto) -> None:
    values: Any = random.choice([graph.input, graph.output, graph.initializer, graph.value_info])
    if not values:
        return
    value = random.choice(list(values))
    if random.random() < 0.5:
        values.remove(value)
    else:
        values.append(value)
