"""One interface for the programs of every control model: compiled, simulated, saved, read and run."""

from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.backends.program import load_program
from tilewright.driver import RunOptions, run

TEXT = "O[m,n] += A[m,k] * B[k,n]; m=8 n=32 k=16"
TARGETS = {"edge16": "queues", "tiny": "queues", "dnnweaver": "loops", "hvx": "packets"}


def inputs_of(program: tilewright.Program) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    tensors = [tensor for tensor in program.tensors if tensor.role == "input"]
    return {t.name: random.integers(0, 100, t.shape).astype(t.dtype) for t in tensors}


@pytest.mark.parametrize("target", TARGETS)
def test_programs(target: str, tmp_path: Path):
    program = tilewright.compile(TEXT, target)
    assert program.machine.control == TARGETS[target]
    placed = {tensor.name: (tensor.role, tensor.shape) for tensor in program.tensors if tensor.role != "temp"}
    assert {name: placed[name] for name in "ABO"} == {
        "A": ("input", (8, 16)),
        "B": ("input", (16, 32)),
        "O": ("output", (8, 32)),
    }
    assert repr(program).startswith(f"<Program for {target}: ")
    assert "\n" not in repr(program)
    inputs = inputs_of(program)
    result = tilewright.simulate(program, inputs)
    np.testing.assert_allclose(result.outputs["O"], inputs["A"].astype(np.float64) @ inputs["B"], rtol=1e-6)
    np.testing.assert_array_equal(result.tensor("O"), result.outputs["O"])
    assert result.instructions >= program.instruction_count > 0
    assert program.predicted["cycles"] == pytest.approx(result.cycles, rel=0.01)
    assert program.predicted["dram_bytes"] == result.dram_bytes
    assert {entry["name"] for entry in program.layouts} <= set(placed)
    untimed = tilewright.simulate(program, functional=False)
    assert untimed.outputs == {}
    assert untimed.cycles == result.cycles
    read = load_program(program.save(tmp_path / "program"))
    assert read.code == program.code
    assert read.tensors == program.tensors
    assert read.layouts == program.layouts
    np.testing.assert_array_equal(tilewright.simulate(read, inputs).outputs["O"], result.outputs["O"])


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_are_checked(target: str):
    program = tilewright.compile(TEXT, target)
    inputs = inputs_of(program)
    with pytest.raises(tilewright.TilewrightError, match="inputs named A, B"):
        tilewright.simulate(program, inputs | {"C": inputs["A"]})
    with pytest.raises(tilewright.TilewrightError, match="of shape"):
        tilewright.simulate(program, inputs | {"A": inputs["A"][:3]})
    with pytest.raises(tilewright.TilewrightError, match="an array for the input"):
        tilewright.simulate(program, {"A": inputs["A"]})
    with pytest.raises(tilewright.TilewrightError, match=r"A: expected an array .*inhomogeneous"):
        tilewright.simulate(program, {**inputs, "A": [[1, 2], [3]]})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("target", TARGETS)
def test_runs(target: str, tmp_path: Path):
    done = run(TEXT, target, folder=tmp_path / "run")
    assert done.agrees is True
    answer = done.as_dict()
    assert {"cycles", "energy_pj", "dram_bytes", "peak_bytes", "utilization", "predicted", "counts"} <= set(answer)
    assert answer["compared_with"] == "NumPy"
    assert (done.trace is not None) == (TARGETS[target] != "packets")
    folder = tilewright.compile(TEXT, target).save(tmp_path / "program")
    again = run(folder, folder=tmp_path / "again", options=RunOptions(expect=done.outputs))
    assert again.as_dict()["equal"] is True
    assert again.simulation.cycles == done.simulation.cycles
