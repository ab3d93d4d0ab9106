# pyright: basic, reportMissingImports=false
"""Whole networks as exporters write them, kept without their weights.

    python bench/networks/make.py [NAMES] [--folder test/data/networks]

needs torch, torchvision and transformers (no test does).  Each architecture is built small with random weights and
exported with an open batch, by torch's older or its newer exporter.  Then weights are replaced by what makes others
like them (`strip`), and the graph is written as NAME.onnx.xz; `bench/whole_networks.py` fills it in again.
"""

from __future__ import annotations

import argparse
import io
import lzma
import sys
import warnings
from pathlib import Path
from typing import Any

import language
import numpy as np
import onnx
import torch
import vision
import written
from network import Network
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, numpy_helper

NETWORKS: dict[str, Network] = {**vision.NETWORKS, **written.NETWORKS, **language.NETWORKS}

FOLDER = Path(__file__).parents[2] / "test/data/networks"

KEPT_ELEMENTS = 64
"""Constants of at most so many elements stay, and those of few different values."""

FEW_VALUES = 16

SEEDED = "seeded"
"""The location of a tensor whose values are made when it is loaded."""


def export(network: Network) -> ModelProto:
    """The model that an exporter writes, for any batch."""
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # a kernel that no exporter knows
    module, inputs = network.build().eval(), network.inputs()
    values = tuple(inputs.values())
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    _train_statistics(module, values)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if network.dynamo:
            batch = torch.export.Dim("batch", min=1, max=64)
            program = torch.onnx.export(
                module, values, dynamo=True, input_names=list(inputs), output_names=list(network.outputs),
                dynamic_shapes=_like(module, [{0: batch} for _ in values]), verbose=False,
            )  # fmt: skip
            assert program is not None
            return program.model_proto
        file = io.BytesIO()
        torch.onnx.export(
            module, values, file, dynamo=False, input_names=list(inputs), output_names=list(network.outputs),
            dynamic_axes={name: {0: "batch"} for name in [*inputs, *network.outputs]},
        )  # fmt: skip
    return onnx.load_from_string(file.getvalue())


def _like(module: torch.nn.Module, shapes: list[dict[int, Any]]) -> Any:
    """Shapes as the parameters of `forward` want them."""
    code = type(module).forward.__code__
    variadic = bool(code.co_flags & 4)
    return (tuple(shapes),) if variadic else tuple(shapes)


def _train_statistics(module: torch.nn.Module, values: tuple[torch.Tensor, ...]) -> None:
    """Means and variances of normalisation that are those of data, so that values keep their size in depth."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    if norms:
        with torch.no_grad():
            module(*values)
    module.eval()


def strip(model: ModelProto, seed: int) -> ModelProto:
    """The model without its weights: each says the numbers that it is made by.  Notes of the exporter are left out."""
    model.doc_string = ""
    del model.metadata_props[:]
    _strip_graph(model.graph, seed)
    for function in model.functions:
        function.doc_string = ""
        for node in function.node:
            _strip_node(node)
    return model


def _strip_graph(graph: GraphProto, seed: int) -> None:
    del graph.metadata_props[:]
    del graph.value_info[:]
    for value in (*graph.input, *graph.output):
        del value.metadata_props[:]
    for number, tensor in enumerate(graph.initializer):
        tensor.doc_string = ""
        del tensor.metadata_props[:]
        _strip_tensor(tensor, seed * 10_000 + number)
    for number, node in enumerate(graph.node):
        _strip_node(node)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                _strip_tensor(attribute.t, seed * 10_000 + 5_000 + number)
            elif attribute.type == AttributeProto.GRAPH:
                _strip_graph(attribute.g, seed + 1)


def _strip_node(node: onnx.NodeProto) -> None:
    node.doc_string = ""
    del node.metadata_props[:]


def _strip_tensor(tensor: TensorProto, seed: int) -> None:
    array = numpy_helper.to_array(tensor)
    if array.dtype.kind != "f" or array.size <= KEPT_ELEMENTS or len(np.unique(array)) <= FEW_VALUES:
        return
    recipe = {"location": SEEDED, "seed": seed, "mean": f"{array.mean():.4g}", "deviation": f"{array.std():.4g}"}
    for field in ("raw_data", "float_data", "double_data", "int32_data"):
        tensor.ClearField(field)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in recipe.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks (all)")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, (name, network) in enumerate(NETWORKS.items()):
        if arguments.names and name not in arguments.names:
            continue
        try:
            model = strip(export(network), number)
        except Exception as error:  # whatever an exporter raises: the next one is tried
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:400]}", file=sys.stderr, flush=True)
            continue
        data = lzma.compress(model.SerializeToString(), preset=9)
        (arguments.folder / f"{name}.onnx.xz").write_bytes(data)
        kinds = len({node.op_type for node in model.graph.node})
        print(f"{name}: {len(model.graph.node)} nodes, {kinds} operators, {len(data)} bytes", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
