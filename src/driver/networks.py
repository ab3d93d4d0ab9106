"""Networks that are scheduled and partitioned: layer tables of the zoo by name, and graphs of all that is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TilewrightError
from ..files import MODEL_SUFFIXES
from ..frontends.einsum import is_kernel
from ..frontends.input_shapes import InputShapes, unknown_name
from ..zoo.paper_networks import NAMES, Network, network
from ..zoo.schedule_networks.tables import TRANSFORMERS
from .models import load_model, make_context
from .pipelines import parse_passes

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp

TOKENS = "tokens"
"""The dim of `InputShapes` that is the sequence length of a transformer of the zoo."""


def named_table(name: str, shapes: InputShapes) -> Network | None:
    """The layer table of the zoo's network `name`; None for another name."""
    if name not in NAMES:
        return None
    InputShapes(shapes=shapes.shapes).refuse_names(name)
    open_dims = (TOKENS,) if name in TRANSFORMERS else ()
    for dim in shapes.dims:
        if dim not in open_dims:
            raise unknown_name("--dim", dim, "an open extent", open_dims)
    return network(name, shapes.dims.get(TOKENS))


def network_module(name: str | Path, shapes: InputShapes) -> ModuleOp:
    """The graph of a model: a file, a network with its precision (`resnet50:f32`), a layer by name.

    Raises `TilewrightError` (kind `network`) for a name that nothing has.
    """
    from ..frontends.integer_layers import ENCODERS

    text = str(name)
    known = Path(text).suffix in MODEL_SUFFIXES or ":" in text or text in ENCODERS
    if is_kernel(text) or not known:
        expected = f"an .onnx, .tflite or .mlir file, or one of {', '.join(NAMES)}"
        raise TilewrightError("network", text, expected, "an unknown name", "see tilewright networks")
    module = load_model(text, shapes)
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    return module


def function_of(module: ModuleOp, name: str) -> FuncOp:
    """The function that is the network `name`."""
    from ..passes.functions import functions_of

    if not (functions := functions_of(module)):
        raise TilewrightError("network", name, "a function", "none")
    return functions[0]
