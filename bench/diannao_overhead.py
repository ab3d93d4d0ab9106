"""What tiling and unrolling cost on a DianNao-like machine: the study of Sunstone's figure 9, for ResNet-18.

Every layer is compiled for `diannao`, run in the simulator and compared with NumPy (16-bit integers, which wrap).  Its
energy, part by part, is set against the naive stream of the same machine, which has neither buffers nor instructions:
each cycle takes 16 inputs and 256 weights from DRAM, sums stay in registers.  Instructions are fetched from DRAM.
Reordering: where blocks must be contiguous in DRAM, as DianNao's own instructions have them, each layer's input is read
and written once more; weights are ordered beforehand.  Energies are those of the target file.

    python bench/diannao_overhead.py [--svg FILE] [--layers N]

Sunstone's numbers (section V-D): 4.1 million instructions, 5 % of the energy for them, 0.2 % for reordering, and the
naive stream, whose exact form is not given, 2.9 times the tiled execution.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fusion_plot import Canvas
from measure import Report, cpu_seconds

from tilewright import compile, simulate
from tilewright.costs.hierarchy import Problem
from tilewright.driver import CompileOptions, reference
from tilewright.frontends.acg import load_target
from tilewright.frontends.einsum import einsum_module
from tilewright.zoo.mapping_layers import layers

TARGET = "diannao"
INSTRUCTION_BYTES, WORD_BYTES = 32, 2
MAC_PJ, SB_PJ, NBIN_PJ = 2.2, 1.3, 0.05
"""Of the NFU's 3.55 pJ per operation: a multiplication, a weight from SB, a sixteenth of an input from NBin."""
LANES = 16

PARTS = ("MAC", "DRAM", "NBin", "SB", "NBout", "instructions", "reordering")
Energies = dict[str, float]


def kernel_text(problem: Problem) -> str:
    """A convolution of the zoo as einsum text."""
    stride = max(c for row in problem.tensor("I").coefficients for c in row)
    bounds = " ".join(f"{dim.lower()}={bound}" for dim, bound in zip(problem.dims, problem.bounds, strict=True))
    return f"O[n,k,p,q] += I[n,c,{stride}*p+r,{stride}*q+s] * W[k,c,r,s]; {bounds}"


def elements(problem: Problem, tensor: str) -> int:
    """Elements of a tensor."""
    return int(np.prod(problem.tensor(tensor).extents(problem.bounds)))


def naive(problem: Problem, dram_pj: float) -> Energies:
    """The stream: operands of each cycle from DRAM, results once."""
    size = dict(zip(problem.dims, problem.bounds, strict=True))
    neurons, synapses = -(-size["K"] // LANES), -(-size["C"] // LANES) * size["R"] * size["S"]
    cycles = neurons * size["P"] * size["Q"] * synapses
    k, c = size["K"] / neurons, size["C"] * size["R"] * size["S"] / synapses
    words = cycles * (c + k * c) + elements(problem, "O")
    return {"MAC": problem.macs * MAC_PJ, "DRAM": words * WORD_BYTES * dram_pj}


def tiled(problem: Problem, dram_pj: float) -> tuple[Energies, int, float]:
    """Energies of the compiled layer by simulation, its instructions, and its cycles over those of full lanes."""
    module = einsum_module(kernel_text(problem), dict.fromkeys("OIW", "i16"))
    program = compile(module, TARGET, options=CompileOptions(prove=False))
    rng = np.random.default_rng(0)
    inputs = {t.name: rng.integers(-99, 99, t.shape).astype(t.dtype) for t in program.tensors if t.role == "input"}
    result = simulate(program, inputs)
    expected = reference(module, inputs)["O"]
    if not np.array_equal(result.outputs["O"], expected):
        raise SystemExit(f"{problem.name}: the simulated result differs from NumPy's")
    counts = result.as_dict()["counts"]
    memories, ops = counts["memories"], counts["computes"]["NFU"]["ops"]
    energies = {name: memories[name]["energy_pj"] for name in ("DRAM", "NBin", "SB", "NBout")}
    energies["MAC"] = ops * MAC_PJ
    energies["SB"] += ops * SB_PJ
    energies["NBin"] += ops * NBIN_PJ
    energies["instructions"] = result.instructions * INSTRUCTION_BYTES * dram_pj
    energies["reordering"] = 2 * elements(problem, "I") * WORD_BYTES * dram_pj
    return energies, result.instructions, result.cycles / (problem.macs / LANES**2)


def study(count: int) -> tuple[dict[str, tuple[Energies, Energies]], int]:
    """Both executions of each layer (repeats multiplied in), and all instructions."""
    machine = load_target(TARGET)
    dram_pj = next(m.read_energy_pj_per_byte for m in machine.memories if m.offchip)
    found: dict[str, tuple[Energies, Energies]] = {}
    instructions = 0
    print("layer              naive uJ   tiled uJ  ratio  instr. instr. %  reord. %  cycles / fewest")
    for name, problem, repeats in layers("resnet18")[:count]:
        stream = {part: repeats * pj for part, pj in naive(problem, dram_pj).items()}
        one, number, slow = tiled(problem, dram_pj)
        here = {part: repeats * pj for part, pj in one.items()}
        instructions += repeats * number
        found[name] = stream, here
        row(name, stream, here, f"{repeats * number:7}", f"{slow:6.2f}")
    stream, here = ({p: sum(both[i].get(p, 0.0) for both in found.values()) for p in PARTS} for i in (0, 1))
    row("all", stream, here, f"{instructions:7}", "")
    return {**found, "all": (stream, here)}, instructions


def row(name: str, stream: Energies, here: Energies, instructions: str, slow: str) -> None:
    """One line of the table."""
    a, b = sum(stream.values()), sum(here.values())
    shares = f"{100 * here['instructions'] / b:8.2f} {100 * here['reordering'] / b:9.2f}"
    print(f"{name:16} {a / 1e6:10.0f} {b / 1e6:10.0f} {a / b:6.2f} {instructions} {shares} {slow}", flush=True)


def draw(path: Path, found: dict[str, tuple[Energies, Energies]]) -> None:
    """Stacked bars, left the naive stream and right the tiled execution, each pair relative to the naive one."""
    canvas = Canvas("ResNet-18 on diannao: energy, naive stream (left) and tiled (right)", PARTS)
    floor, height, room = 290.0, 230.0, 810 / len(found)
    for place, (name, both) in enumerate(found.items()):
        whole = sum(both[0].values())
        canvas.text(70 + (place + 0.5) * room, floor + 16, name.replace("_shortcut", "_s"), size=9)
        for number, energies in enumerate(both):
            y = floor
            for colour, part in enumerate(PARTS):
                tall = energies.get(part, 0.0) / whole * height
                y -= tall
                canvas.rectangle(70 + (place + 0.12 + 0.4 * number) * room, y, 0.36 * room, tall, colour)
    for tick in range(5):
        canvas.text(62, floor - tick / 4 * height + 4, f"{tick / 4:.2g}", anchor="end")
    canvas.save(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the bars")
    parser.add_argument("--layers", type=int, default=99, metavar="N", help="only the first N different layers")
    options = parser.parse_args(arguments)
    seconds, (found, instructions) = cpu_seconds(lambda: study(options.layers))
    stream, here = found["all"]
    total = sum(here.values())
    report = Report()
    report.add("instructions (Sunstone's compiler: 4.1 million)", instructions, 4.1e6)
    report.add("energy of instructions (Sunstone: 5 %)", here["instructions"] / total, 0.05)
    report.add("tiled energy over naive (Sunstone: 1 / 2.9)", total / sum(stream.values()), 1 / 2.9)
    report.add("energy of reordering (5 %; Sunstone: 0.2 %)", here["reordering"] / total, 0.05)
    print(f"{seconds:.1f} s CPU, compiled and simulated, equal to NumPy")
    if options.svg is not None:
        draw(options.svg, found)
    report.finish()


if __name__ == "__main__":
    main()
