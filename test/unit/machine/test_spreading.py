"""Axes of arrays: which dims instructions may spread over them, and those that nothing uses."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.costs.mapping.binding import split_choices
from tilewright.frontends.acg import load_target
from tilewright.frontends.acg.load import parse_target, target_files

TINY = target_files()["tiny"].read_text()
SPREAD = " spread y SY;"


def target(folder: Path, text: str) -> Path:
    path = folder / "half.acg"
    path.write_text(text)
    return path


def test_an_axis_that_an_instruction_does_not_name_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    assert TINY.count(SPREAD) == 1
    path = target(tmp_path, TINY.replace(SPREAD, ""))
    with caplog.at_level(logging.WARNING):
        machine = load_target(path)
    (message,) = [record.getMessage() for record in caplog.records]
    assert "mnemonic MAC uses one of 4 instances of MXU along y, 25 % of that axis" in message
    assert "add `efield SY 2 [none, k, p]; spread y SY;`" in message
    capability = machine.computes[0].capabilities[0]
    assert {axis for choice in split_choices(machine, capability) for axis, _, _ in choice} == {"x"}


def test_the_line_of_the_warning_uses_the_axis(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """What is compiled without the axis takes the cycles that are predicted, more than with it."""
    cycles: list[float] = []
    field = re.compile(r"efield SY 2 \[none, k, p\];")
    for text in (field.sub("", TINY.replace(SPREAD, "")), TINY):
        program = tilewright.compile("O[m,n] += A[m,k] * B[k,n]; m=8 n=8 k=8", target(tmp_path, text))
        inputs = {"A": np.ones((8, 8), np.float32), "B": np.ones((8, 8), np.float32)}
        result = tilewright.simulate(program, inputs)
        assert (result.outputs["O"] == 8).all()
        assert result.cycles == program.predicted["cycles"]
        assert result.cycles == pytest.approx(program.predicted["model_cycles"], rel=0.1)
        cycles.append(result.cycles)
    assert cycles[0] > cycles[1]


def test_shipped_targets_use_their_arrays(caplog: pytest.LogCaptureFixture):
    for name in target_files():
        parse_target.cache_clear()
        load_target(name)
    assert not caplog.records
