"""VTA's own functional simulator runs our programs: results, bytes moved and operations against ours.

git clone https://github.com/apache/tvm-vta
python bench/vta_peer.py --source tvm-vta             random layers (--layers 200)
python bench/vta_peer.py --source tvm-vta --networks  three whole networks

Compiles `src/sim/sim_driver.cc` and `sim_tlpp.cc` of the checkout as they are, with g++; what they take from TVM is
replaced by `vta_peer.h`: checks, a registry, and a flat memory off chip.  SRAM starts as 0xA5A5..., and each program
runs three times, each time another of its stages goes first.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i32

from tilewright import compile, load_target, simulate
from tilewright.backends.program import Program
from tilewright.backends.simulator.memory import Storage
from tilewright.backends.simulator.result import read_placement
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver import reference
from tilewright.driver.binaries import offchip, write_program_image
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.frontends.networks.shifted import NETWORKS, shifted_network
from tilewright.machine import Machine

STAGES = 3
COUNTERS = {"UOP": "uop", "WGT": "wgt", "INP": "inp", "ACC": "acc"}


def build(source: Path, machine: Machine, folder: Path) -> Path:
    """The simulator of this configuration as an executable."""
    bytes_of = {memory.name: memory.capacity_bytes for memory in machine.memories}
    logs = {f"{name}_BUFF_SIZE": bytes_of[name].bit_length() - 1 for name in ("UOP", "WGT", "INP", "ACC", "OUT")}
    logs |= {"INP_WIDTH": 3, "WGT_WIDTH": 3, "OUT_WIDTH": 3, "ACC_WIDTH": 5, "BATCH": 0, "BUS_WIDTH": 6}
    logs |= {"BLOCK_IN": 4, "BLOCK_OUT": 4}
    for name in ("tvm/runtime", "vmem", "sim"):
        (folder / name).mkdir(parents=True)
    stub = Path(__file__).with_name("vta_peer.h")
    shutil.copy(stub, folder / "tvm/runtime/registry.h")
    shutil.copy(stub, folder / "vmem/virtual_memory.h")
    (folder / "main.cc").write_text('#define VTA_PEER_MAIN\n#include "tvm/runtime/registry.h"\n')
    for name in ("sim_driver.cc", "sim_tlpp.cc"):
        shutil.copy(source / "src/sim" / name, folder / "sim")
    defines = [f"-DVTA_LOG_{name}={value}" for name, value in logs.items()]
    files = [folder / "main.cc", *(folder / "sim").glob("*.cc")]
    includes = ["-I", str(source / "include"), "-I", str(folder)]
    command = ["g++", "-O2", "-std=c++17", "-fwrapv", "-w", "-Drand_r=peer_stage", *defines, *includes]
    subprocess.run([*command, *map(str, files), "-o", str(folder / "fsim")], check=True)
    return folder / "fsim"


def run(simulator: Path, program: Program, inputs: dict[str, Any], first: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Results by name, and the simulator's counters, where stage `first` of the three goes first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = write_program_image(program, folder, inputs)
        command = [simulator, folder / "image.bin", folder / "instructions.bin", folder / "after.bin", str(first)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        storage = Storage(offchip(program.machine), table["image_bytes"], True)
        after = np.fromfile(folder / "after.bin", np.uint8)
        storage.place(0, after, len(after))
    outputs = [tensor for tensor in program.tensors if tensor.role == "output"]
    return {t.name: read_placement({storage.name: storage}, t) for t in outputs}, json.loads(answer.stdout)


def compare(simulator: Path, name: str, module: Any, seed: int = 0) -> bool:
    """Whether the peer's results are the graph's and its counters ours."""
    random, program = np.random.default_rng(seed), compile(module, "vta")
    given = [tensor for tensor in program.tensors if tensor.role == "input"]
    inputs = {tensor.name: random.integers(-128, 128, tensor.shape).astype(tensor.dtype) for tensor in given}
    ours, expected = simulate(program, inputs), reference(module, inputs)
    counts = {f"{peer}_load_nbytes": ours.counts.memories[name].write_bytes for name, peer in COUNTERS.items()}
    counts |= {"out_store_nbytes": ours.counts.memories["OUT"].read_bytes}
    counts |= {"gemm_counter": ours.counts.computes["MAC"].issues, "alu_counter": ours.counts.computes["LANES"].issues}
    for first in range(STAGES):
        outputs, counters = run(simulator, program, inputs, first)
        equal = all((value == found[key]).all() for found in (outputs, ours.outputs) for key, value in expected.items())
        if not equal or counters != counts:
            print(f"{name}: stage {first} first: equal {equal}, counters {counters}, ours {counts}")
            return False
    return True


def random_layer(random: np.random.Generator) -> ModuleOp:
    """A convolution, product, maximum, sum of two maps or concatenation of odd sizes; results are bytes."""
    kind = str(random.choice(["conv", "conv", "depthwise", "product", "max", "add", "concat"]))
    channels, height, width = (int(random.integers(least, most)) for least, most in ((1, 100), (9, 30), (9, 30)))
    shapes = {"product": (height, channels)}.get(kind, (1, channels, height, width))
    layers = IntegerLayers.of([tensor(shapes, si8)] * (2 if kind in ("add", "concat") else 1))
    x, *others = layers.block.args

    def numbers(*shape: int, most: int = 127) -> Any:
        return random.integers(-most, most + 1, shape).astype(np.int8 if most < 128 else np.int32)

    kernel, step, gap = ([int(size) for size in random.integers(1, most, 2)] for most in (6, 4, 3))
    pads = [int(random.integers(0, size)) for size in kernel * 2]
    out, shift = int(random.integers(1, 100)), int(random.integers(4, 12))
    b = layers.weight("b", numbers(channels if kind == "depthwise" else out, most=9999), i32)
    if kind == "max":
        made: graph.LayerOp = graph.PoolOp("max", x, kernel=kernel, strides=step, pads=pads, dilations=gap)
        return layers.module(["x"], ["y"], [layers.add(made, "layer")])
    if kind == "concat":
        return layers.module(["x", "z"], ["y"], [layers.add(graph.ConcatOp([x, *others], axis=1), "layer")])
    if kind == "add":
        terms = [layers.binary("mul", layers.wide(value), int(random.integers(1, 999))) for value in (x, *others)]
        total = layers.binary("add", *terms)
    elif kind == "product":
        total = layers.add(graph.GemmOp(x, layers.weight("w", numbers(channels, out)), b), "layer")
    else:
        groups, shape = (channels, (channels, 1)) if kind == "depthwise" else (1, (out, channels))
        w = layers.weight("w", numbers(*shape, *kernel))
        made = graph.ConvOp(x, w, b, strides=step, pads=pads, dilations=gap, groups=groups)
        total = layers.add(made, "layer")
    made = graph.RequantizeOp(total, layers.number(1), layers.number(shift), element=si8, axis=1)
    return layers.module(["x", "z"][: 1 + len(others)], ["y"], [layers.add(made, "scaled")])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", metavar="FOLDER", help="a checkout of apache/tvm-vta")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--layers", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.source is None or not shutil.which("g++"):
        raise SystemExit("skipped: give a checkout of apache/tvm-vta (--source), with g++ installed")
    with tempfile.TemporaryDirectory() as name:
        simulator = build(Path(arguments.source), load_target("vta"), Path(name))
        if arguments.networks:
            modules = ((name, shifted_network(name)) for name in NETWORKS)
        else:
            modules = ((f"layer {n}", random_layer(np.random.default_rng(n))) for n in range(arguments.layers))
        good = [compare(simulator, name, module) for name, module in modules]
        print(f"{sum(good)} of {len(good)} equal")
        raise SystemExit(not all(good))
