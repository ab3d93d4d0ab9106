"""Layers of the zoo as graph modules, by name: `covenant:bert_gemm1`, `covenant_u8_cut:resnet50_conv1`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue

from ..costs.hierarchy.statement import text_of_problem
from ..dialects import graph
from ..dialects.types import Tensor, dtype_of, element_type, tensor
from ..errors import TilewrightError
from ..resources import Resources
from ..zoo import mapping_layers
from ..zoo.covenant_layers import NETWORKS, Layer, Product, covenant_layer
from .input_shapes import InputShapes, unknown_name
from .integer_layers import ENCODERS, encoder_module
from .main_function import main_module
from .networks import NAMES, PRECISIONS, network_module
from .networks.shifted import NETWORKS as NETWORKS_SHIFTED
from .networks.shifted import SUFFIX, shifted_network

OPERATORS = (
    "conv",
    "depthwise",
    "gemm",
    "maxpool",
    "add",
    "muladd",
    "transpose",
    "softmax",
    "layer_norm",
    "gelu",
    "requantize",
    "avgpool",
    "softmax_i8",
    "layer_norm_i8",
    "gelu_i8",
)
"""Small modules of one operation each, against no target (`zoo/operators`)."""


def operator_file(name: str) -> Path:
    """The file of one of `OPERATORS`; `TilewrightError` (kind `layer`) for another name."""
    if name not in OPERATORS:
        raise TilewrightError("layer", f"operator:{name}", f"one of {', '.join(OPERATORS)}", "an unknown name")
    return Path(__file__).parents[1] / "zoo" / "operators" / f"{name}.mlir"


def named_model(name: str) -> ModuleOp | Path | None:
    """The file of `operator:softmax`, the module of another layer of the zoo; None for other names."""
    if name in ENCODERS:
        return encoder_module(ENCODERS[name])
    if name.startswith("operator:"):
        return operator_file(name.removeprefix("operator:"))
    return named_module(name)


def layer_text(name: str, samples: int = 1) -> str | None:
    """Einsum text of a layer that mappers are compared on, `resnet18:conv2_1`; None for other names.

    Raises `TilewrightError` (kind `layer`) for a layer that the network has not.
    """
    network, colon, which = name.partition(":")
    if not colon or network not in mapping_layers.NETWORKS or network in NETWORKS:
        return None
    has_forms = network in NAMES or network in NETWORKS_SHIFTED
    if has_forms and which not in mapping_layers.layer_names(network):
        return None
    return text_of_problem(mapping_layers.layer(name, samples))


def named_network(name: str, shapes: InputShapes) -> ModuleOp | None:
    """The network of the zoo called `resnet50`, or `resnet50:f32` for floats; None for other names.

    `resnet18:shifted` has 8-bit integers whose scales are powers of two (`networks.shifted`).

    `shapes` may have a batch and, for transformers, the dim `tokens`.  Raises `TilewrightError` (kind `network`) for a
    form that the network has not.
    """
    network, colon, given = name.partition(":")
    if given == SUFFIX and network in NETWORKS_SHIFTED:
        shapes.refuse_names(name)
        return shifted_network(network, samples=shapes.samples)
    forms = [f"{network}:{form}" for form in PRECISIONS if network in NAMES]
    forms += [f"{network}:{SUFFIX}"] * (network in NETWORKS_SHIFTED)
    if colon and forms and name not in forms and not Path(name).exists():
        if network in mapping_layers.NETWORKS:
            forms += ["the name of a layer"]
        raise TilewrightError("network", name, f"one of {', '.join(forms)}", repr(given[:60]), "give one of those")
    if network not in NAMES or given not in ("", *PRECISIONS):
        return None
    precision = "f32" if given == "f32" else "i8"
    InputShapes(shapes=shapes.shapes).refuse_names(name)
    for dim in shapes.dims:
        if dim != "tokens":
            raise unknown_name("--dim", dim, "an open extent", ("tokens",))
    return network_module(network, precision=precision, batch=shapes.samples, tokens=shapes.dims.get("tokens"))


def named_module(name: str) -> ModuleOp | None:
    """The module of `covenant:bert_gemm1`, `covenant_u8_cut:resnet50_conv1`, ...; None for other networks' names."""
    network, colon, which = name.partition(":")
    if not colon or network not in NETWORKS:
        return None
    words = network.split("_")[1:]
    activations = next((word for word in words if word != "cut"), "i8")
    shape = covenant_layer(which)
    return layer_module(which, shape.cut() if "cut" in words else shape, activations)


def layer_module(name: str, shape: Layer, activations: str = "i8", *, seed: int | None = None) -> ModuleOp:
    """A function of one layer in the graph dialect: X, W -> Y.

    `activations` i8 or u8: the other factor is i8, the result i32; f32: all are.  With `seed`, W is a weight with
    values from it (uniform over i8, standard normal), unless the layer multiplies activations.
    """
    weights = "f32" if activations == "f32" else "i8"
    left, right = shape.shapes()
    types = [tensor(left, element_type(activations)), tensor(right, element_type(weights))]
    constant = seed is not None and not shape.activations
    names = ["X"] if constant else ["X", "W"]
    block = Block(arg_types=types[: len(names)])
    resources = Resources()
    if constant:
        resources["W"] = _values(types[1], [seed or 0, crc32(name.encode())])
        weight = graph.WeightOp("W", types[1])
        block.add_op(weight)
        w: SSAValue = weight.result
    else:
        w = block.args[1]
    layer = _layer(shape)(block.args[0], w)
    layer.attributes["name"] = StringAttr(name)
    block.add_op(layer)
    return main_module(block, names, ["Y"], layer.results, resources)


def _layer(shape: Layer) -> Callable[[SSAValue, SSAValue], graph.ConvOp | graph.MatmulOp]:
    if isinstance(shape, Product):
        return graph.MatmulOp
    strides, pads = [shape.stride] * 2, [shape.pad] * 4
    return lambda x, w: graph.ConvOp(x, w, strides=strides, pads=pads)


def _values(type_: Tensor, seed: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    rng, dtype = np.random.default_rng(seed), dtype_of(type_.element_type)
    if dtype.kind == "f":
        return rng.standard_normal(type_.get_shape()).astype(dtype)
    return rng.integers(-128, 128, type_.get_shape()).astype(dtype)
