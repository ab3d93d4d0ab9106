"""Runs of packets: counts that add up, energies where the file has some, tools that are missing."""

from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.errors import TilewrightError

from ...passes.nest_to_packets.machines import PAIR

TEXT = "O[i] = A[i] + B[i]; i=40"
INPUTS = {"A": np.arange(40, dtype=np.int32), "B": np.full(40, 7, np.int32)}


def test_energy_is_that_of_what_is_counted(tmp_path: Path):
    (tmp_path / "pair.acg").write_text(PAIR.replace("offchip;", "read_energy 3; write_energy 5; offchip;", 1))
    program = tilewright.compile(TEXT, tmp_path / "pair.acg")
    result = tilewright.simulate(program, INPUTS)
    np.testing.assert_array_equal(result.outputs["O"], np.arange(7, 47))
    assert result.energy_pj == result.counts.energy_pj == program.predicted["energy_pj"] > 0
    assert result.as_dict()["energy_pj"] == result.energy_pj
    assert result.dram_bytes == result.counts.dram_bytes(program.machine)
    assert sum(result.counts.mnemonics.values()) == result.instructions
    independent = program.control.execute(program, INPUTS)
    assert independent is not None
    assert independent.missing == ("an executor",)


def test_without_energies_answers_have_none():
    result = tilewright.simulate(tilewright.compile(TEXT, "hvx"), INPUTS)
    assert result.as_dict()["energy_pj"] is None
    with pytest.raises(TilewrightError, match="one of O"):
        result.tensor("A")
