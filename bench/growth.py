"""Time and peak memory of deep and wide networks: compile, run, partition, schedule, each in a process of its own.

`python bench/growth.py` prints a table: networks down, seconds of CPU, MiB, and the exponent of growth since the next
smaller network of its kind (1 is linear).  Imports and reading the target are counted; weights are shared by blocks of
GPT-2 XL.  Numba's kernels should have been compiled before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LIMIT_S = 900
SIZES = {"chain": (100, 500, 2000), "branches": (16, 64, 256), "gpt2": (12, 24, 48)}
WIDTH, HEADS, TOKENS = 1600, 25, 16


@dataclass
class Maker:
    """Collects nodes and weights; weights of a name are made once."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    tensors: dict[str, onnx.TensorProto] = field(default_factory=dict[str, onnx.TensorProto])

    def node(self, operator: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, values: Any, kind: type[np.generic] = np.float32) -> str:
        self.tensors.setdefault(name, numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def normal(self, name: str, shape: tuple[int, ...], fan_in: int) -> str:
        if name not in self.tensors:
            self.constant(name, self.random.standard_normal(shape, np.float32) / fan_in**0.5)
        return name

    def conv(self, x: str, name: str, channels: tuple[int, int]) -> str:
        weight = self.normal(f"{name}.w", (channels[1], channels[0], 3, 3), channels[0] * 9 // 2)
        return self.node("Relu", [self.node("Conv", [x, weight], f"{name}.c", pads=[1, 1, 1, 1])], name)

    def linear(self, x: str, name: str, weight: str, sizes: tuple[int, int]) -> str:
        product = self.node("MatMul", [x, self.normal(f"{weight}.w", sizes, sizes[0])], f"{name}.mm")
        return self.node("Add", [product, self.normal(f"{weight}.b", sizes[1:], 400)], name)

    def norm(self, x: str, name: str) -> str:
        ends = [self.constant("scale", np.ones(WIDTH)), self.constant("shift", np.zeros(WIDTH))]
        return self.node("LayerNormalization", [x, *ends], name, axis=-1)

    def model(self, name: str, last: str, shape: tuple[int, ...]) -> onnx.ModelProto:
        ends = [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape) for value in ("x", last)]
        graph = helper.make_graph(self.nodes, name, ends[:1], ends[1:], list(self.tensors.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def chain(layers: int) -> onnx.ModelProto:
    """`layers` times a 3x3 convolution and Relu, between random numbers of channels: nearly all layers differ."""
    maker, last = Maker(), "x"
    channels = [32, *map(int, maker.random.integers(16, 49, layers - 1)), 32]
    for number in range(layers):
        last = maker.conv(last, f"y{number}", (channels[number], channels[number + 1]))
    return maker.model("chain", last, (1, 32, 14, 14))


def branches(count: int) -> onnx.ModelProto:
    """`count` branches of two convolutions each, added up."""
    maker = Maker()
    ends = [maker.conv(maker.conv("x", f"a{k}", (16, 16)), f"b{k}", (16, 16)) for k in range(count)]
    last = ends[0]
    for number, end in enumerate(ends[1:]):
        last = maker.node("Add", [last, end], f"sum{number}")
    return maker.model("branches", last, (1, 16, 14, 14))


def gpt2(blocks: int) -> onnx.ModelProto:
    """Blocks of GPT-2 XL (1600 wide, 25 heads) on 16 tokens."""
    maker, last = Maker(), "x"
    maker.constant("split", (1, TOKENS, HEADS, WIDTH // HEADS), np.int64)
    maker.constant("merge", (1, TOKENS, WIDTH), np.int64)
    maker.constant("root", (WIDTH // HEADS) ** 0.5)
    maker.constant("mask", np.triu(np.full((TOKENS, TOKENS), -1e4), 1))
    for number in range(blocks):
        last = _feed_forward(maker, _attention(maker, last, f"l{number}"), f"l{number}")
    return maker.model("gpt2", last, (1, TOKENS, WIDTH))


def _attention(maker: Maker, x: str, name: str) -> str:
    normed, parts = maker.norm(x, f"{name}.n1"), list[str]()
    for part, order in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))):
        flat = maker.linear(normed, f"{name}.{part}", part, (WIDTH, WIDTH))
        heads = maker.node("Reshape", [flat, "split"], f"{name}.{part}.s")
        parts.append(maker.node("Transpose", [heads], f"{name}.{part}.h", perm=order))
    scores = maker.node("Div", [maker.node("MatMul", parts[:2], f"{name}.qk"), "root"], f"{name}.d")
    weights = maker.node("Softmax", [maker.node("Add", [scores, "mask"], f"{name}.m")], f"{name}.p", axis=-1)
    mixed = maker.node("MatMul", [weights, parts[2]], f"{name}.pv")
    back = maker.node("Transpose", [mixed], f"{name}.t", perm=(0, 2, 1, 3))
    merged = maker.node("Reshape", [back, "merge"], f"{name}.r")
    return maker.node("Add", [maker.linear(merged, f"{name}.o", "o", (WIDTH, WIDTH)), x], f"{name}.a")


def _feed_forward(maker: Maker, x: str, name: str) -> str:
    wide = maker.linear(maker.norm(x, f"{name}.n2"), f"{name}.up", "up", (WIDTH, 4 * WIDTH))
    slope = maker.node("Mul", [wide, maker.constant("slope", 1.702)], f"{name}.s")
    gelu = maker.node("Mul", [wide, maker.node("Sigmoid", [slope], f"{name}.g")], f"{name}.gelu")
    return maker.node("Add", [maker.linear(gelu, f"{name}.down", "down", (4 * WIDTH, WIDTH)), x], f"{name}.y")


def _compile(path: Path) -> None:
    import tilewright

    tilewright.compile(path)


def _run(path: Path) -> None:
    from tilewright.driver import run

    run(path, folder=path.parent / "out")


def _partition(path: Path) -> None:
    from tilewright.costs.fusion.of_machine import platform_of
    from tilewright.costs.fusion.pricer import SubgraphPricer
    from tilewright.driver.partitions import find_work, partition_work
    from tilewright.frontends.acg import load_target
    from tilewright.search.fusion import PartitionOptions

    work = find_work(str(path))
    pricer = SubgraphPricer(work.graph, platform_of(load_target("cocco_npu")), batch=work.batch)
    partition_work(work, pricer, PartitionOptions())


def _schedule(path: Path) -> None:
    from tilewright.driver.schedules import schedule_network_for

    schedule_network_for(str(path), "edge16")


NETWORKS: dict[str, Callable[[int], onnx.ModelProto]] = {"chain": chain, "branches": branches, "gpt2": gpt2}
COMMANDS: dict[str, Callable[[Path], None]] = {
    "compile": _compile,
    "run": _run,
    "partition": _partition,
    "schedule": _schedule,
}


def measure(command: str, path: Path) -> tuple[float, float] | str:
    """Seconds of CPU and MiB of a process that does it; why there are none, in a word."""
    arguments = [sys.executable, __file__, "--child", command, str(path)]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "late"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:60] if done.stderr else "failed"
    seconds, mib = json.loads(done.stdout.splitlines()[-1])
    return seconds, mib


def child(command: str, path: Path) -> None:
    """Do it here, and print seconds and MiB."""
    COMMANDS[command](path)
    status = Path("/proc/self/status").read_text()  # ru_maxrss would count the process that started this one
    peak_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps([time.process_time(), peak_kib / 1024]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="chain, branches, gpt2 (default: all)")
    parser.add_argument("--most", type=int, default=max(map(max, SIZES.values())), help="size of the largest network")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="may be repeated (default: all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - set(NETWORKS):
        parser.error(f"no kind {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in arguments.kinds or NETWORKS:
            before: dict[str, tuple[int, float]] = {}
            for size in filter(lambda size: size <= arguments.most, SIZES[kind]):
                path = Path(folder) / f"{kind}{size}.onnx"
                onnx.save(NETWORKS[kind](size), path)
                for command in arguments.command or COMMANDS:
                    found = measure(command, path)
                    _print(kind, size, command, found, before)
                os.remove(path)


def _print(
    kind: str, size: int, command: str, found: tuple[float, float] | str, before: dict[str, tuple[int, float]]
) -> None:
    name = f"{kind} {size}: {command}"
    if isinstance(found, str):
        print(f"{name:28} {found}", flush=True)
        return
    growth = ""
    if command in before:
        last_size, last_s = before[command]
        growth = f"exponent {log(found[0] / last_s) / log(size / last_size):5.2f}"
    before[command] = size, found[0]
    print(f"{name:28} {found[0]:8.1f} s {found[1]:8.0f} MiB  {growth}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
