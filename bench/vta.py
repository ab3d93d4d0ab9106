"""VTA: cycles and DRAM bytes of ResNet-18's convolutions, and whole networks against the graph's integers.

python bench/vta.py             convolutions, with VTA's published cycles of the whole
python bench/vta.py --networks  ResNet-18, SqueezeNet and MobileNet, simulated and compared (minutes)
python bench/vta.py --quantised resnet18,squeezenet  networks of test/data/networks, quantised by onnxruntime
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from whole_networks import load
from xdsl.dialects.builtin import ModuleOp, i32

from tilewright import compile, import_onnx, simulate
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver import make_context, parse_passes, reference
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.frontends.networks.shifted import NETWORKS, shifted_network
from tilewright.interpreters.graph import run_graph

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from onnx_files.quantized import quantized

PUBLISHED_CYCLES = 7_729_601
"""ResNet-18 v1 with the pipelined GEMM (apache/tvm-vta, pull request 30, 2021)."""

MOST_TRAFFIC = 1.15
"""DRAM bytes of a layer at most, of inputs, weights and outputs once."""


@dataclass(frozen=True)
class Layer:
    """A convolution and how often ResNet-18 has it."""

    name: str
    channels: int
    size: int
    out: int
    kernel: int
    step: int
    times: int


LAYERS = (
    Layer("C2", 64, 56, 64, 3, 1, 4),
    Layer("C4", 64, 56, 128, 3, 2, 1),
    Layer("C5", 64, 56, 128, 1, 2, 1),
    Layer("C6", 128, 28, 128, 3, 1, 3),
    Layer("C7", 128, 28, 256, 3, 2, 1),
    Layer("C8", 128, 28, 256, 1, 2, 1),
    Layer("C9", 256, 14, 256, 3, 1, 3),
    Layer("C10", 256, 14, 512, 3, 2, 1),
    Layer("C11", 256, 14, 512, 1, 2, 1),
    Layer("C12", 512, 7, 512, 3, 1, 3),
)


def convolution(layer: Layer) -> ModuleOp:
    """The layer with bias, shift and relu."""
    random, pad = np.random.default_rng(0), layer.kernel // 2
    layers = IntegerLayers.of([tensor((1, layer.channels, layer.size, layer.size), si8)])
    shape = layer.out, layer.channels, layer.kernel, layer.kernel
    w = layers.weight("w", random.integers(-127, 128, shape).astype(np.int8))
    b = layers.weight("b", random.integers(-9999, 9999, layer.out).astype(np.int32), i32)
    made = graph.ConvOp(layers.block.args[0], w, b, strides=[layer.step] * 2, pads=[pad] * 4)
    y = graph.RequantizeOp(
        layers.add(made, layer.name), layers.number(1), layers.number(11), element=si8, axis=1, low=0
    )
    return layers.module(["x"], ["y"], [layers.add(y, layer.name)])


def convolutions() -> None:
    """A row a layer; the bound of traffic has inputs, weights and outputs once."""
    print(f"{'layer':>6} {'times':>5} {'cycles':>9} {'of peak':>8} {'DRAM bytes':>11} {'of bound':>8}")
    cycles = products = 0
    for layer in LAYERS:
        program = compile(convolution(layer), "vta")
        result = simulate(program, functional=False, checks=False)
        issued = result.counts.computes["MAC"].issues
        out = (layer.size - 1) // layer.step + 1
        bound = layer.channels * (layer.size**2 + layer.out * layer.kernel**2) + layer.out * out**2
        share, more = issued / result.cycles, result.dram_bytes / bound
        print(f"{layer.name:>6} {layer.times:5} {result.cycles:9,} {share:8.1%} {result.dram_bytes:11,} {more:8.3f}")
        assert more <= MOST_TRAFFIC
        cycles, products = cycles + layer.times * result.cycles, products + layer.times * issued
    print(f"all: {cycles:,} cycles, {products / cycles:.1%} of peak; published {PUBLISHED_CYCLES:,}, 86 %")
    assert cycles <= PUBLISHED_CYCLES


def networks() -> None:
    """Each network on an image of noise."""
    for name in NETWORKS:
        module, start = shifted_network(name), time.perf_counter()
        program = compile(module, "vta")
        image = np.random.default_rng(0).integers(-128, 128, (1, 3, 224, 224)).astype(np.int8)
        result = simulate(program, {"image": image})
        equal = (result.outputs["scores"] == reference(module, {"image": image})["scores"]).all()
        took = time.perf_counter() - start
        print(f"{name}: equal {bool(equal)}, {result.cycles:,} cycles, {result.dram_bytes:,} DRAM bytes, {took:.0f} s")
        assert equal
        assert result.cycles == program.predicted["cycles"]


def quantised(names: list[str]) -> None:
    """Networks for one sample with uint8 activations, on random bytes, against the graph's integers."""
    for name in names:
        model = load(name)
        for value in (*model.graph.input, *model.graph.output):
            for dim in value.type.tensor_type.shape.dim:
                dim.dim_value = dim.dim_value or 1
        made, random = quantized(model), np.random.default_rng(0)
        program, module = compile(made, "vta"), import_onnx(made)
        tensors = (tensor for tensor in program.tensors if tensor.role == "input")
        given = {item.name: random.integers(-128, 128, item.shape).astype(item.dtype) for item in tensors}
        result = simulate(program, given)
        parse_passes("graph-normalize,graph-quantize,graph-integers").apply(make_context(), module)
        expected = run_graph(module, given)
        equal = all((result.outputs[output] == value).all() for output, value in expected.items())
        print(f"{name}: equal {equal}, {result.cycles:,} cycles, {result.dram_bytes:,} DRAM bytes")
        assert equal


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--quantised", metavar="NAMES", default="")
    arguments = parser.parse_args()
    if arguments.quantised:
        quantised(arguments.quantised.split(","))
    else:
        networks() if arguments.networks else convolutions()
