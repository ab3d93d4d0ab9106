"""What a notebook shows of the objects of the API: one short line."""

from pathlib import Path

import numpy as np

import tilewright
from tilewright.driver import RunOptions

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"


def test_programs_and_results():
    program = tilewright.compile(GEMM, target="tiny")
    result = tilewright.simulate(program, {"A": np.ones((4, 6), np.float32), "B": np.ones((6, 8), np.float32)})
    size = len(program.code)
    assert repr(program) == f"<Program for tiny: 1 layer, 4 instructions, {size} bytes, 140 cycles predicted>"
    figures = f"140 cycles, {result.energy_pj:.6g} pJ, 416 DRAM bytes, 4 instructions"
    assert repr(result) == f"<SimulationResult: {figures}; O float32[4, 8]>"
    assert repr(program.constants) == "<Resources: 0 arrays, 0 bytes>"
    assert repr(program.machine) == "<Machine tiny: control queues, 2 memories, 3 compute nodes, 7 mnemonics>"


def test_runs_and_mappings(tmp_path: Path):
    done = tilewright.run(GEMM, "tiny", folder=tmp_path, options=RunOptions(trace=False))
    assert repr(done) == f"<RunResult: {done.simulation!r}, agrees with NumPy>"
    unchecked = tilewright.run(GEMM, "tiny", folder=tmp_path, options=RunOptions(check=False))
    assert repr(unchecked) == f"<RunResult: {unchecked.simulation!r}>"
    mapping = tilewright.map_kernel(GEMM, "simba_like")
    assert repr(mapping).startswith("<LayerMapping of kernel on simba_like: ")
    assert repr(mapping).endswith("proven best>")
    assert len(repr(mapping)) < 120
