"""Programs of any bytes run, trap or are refused; they do not crash."""

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.algebra.byte_regions import make_region
from tilewright.backends.program import Program
from tilewright.backends.simulator import Trap, simulate
from tilewright.errors import TilewrightError
from tilewright.machine.encoding import encode
from tilewright.resources import Resources

SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SETTINGS
@given(st.binary(max_size=200), st.integers(1, 6))
def test_any_bytes(bench: Any, code: bytes, opcode: int):
    for program in (code, bytes([opcode]) + code):
        try:
            simulate(Program(bench.machine, program, (), Resources()), {})
        except TilewrightError as error:
            if error.kind not in ("program", "trap"):
                raise


@SETTINGS
@given(st.sampled_from(["LOAD", "STORE", "MAC", "VEC", "FILL", "PEAK"]), st.data())
def test_any_fields(bench: Any, name: str, data: Any):
    word = bench.machine.words[name]
    fields = {place.name: data.draw(st.integers(place.lowest, place.highest)) for place in word.fields[9:]}
    for item in word.mnemonic.fields:
        if item.enum:
            fields[item.name] = data.draw(st.sampled_from([code for _, code in item.enum]))
    memory = np.zeros(4096, np.uint8)
    code = encode(bench.machine, name, fields)
    tensors = (bench.tensor("x", "input", memory, 0), bench.tensor("y", "input", memory, 0, "SPAD"))
    try:
        simulate(Program(bench.machine, code, tensors, Resources()), {"x": memory, "y": memory})
    except Trap as error:
        if error.reason not in ("illegal", "range", "uninitialised", "deadlock"):
            raise


def test_huge_overlapping_regions_are_cheap():
    start = time.process_time()
    region = make_region(1, [(1 << 18, 3), (1 << 18, 5), (1 << 18, 7)])
    assert region.byte_count() <= region.high
    assert time.process_time() - start < 5


def test_other_control_models_are_refused(bench: Any):
    from dataclasses import replace

    machine = replace(bench.machine, control="packets")
    with pytest.raises(TilewrightError, match="expected instructions in packets"):
        simulate(Program(machine, b"", (), Resources()), {})


def test_empty_programs_run(bench: Any):
    result = simulate(Program(bench.machine, b"", (), Resources()), {})
    assert (result.cycles, result.energy_pj, result.instructions) == (0, 0, 0)


def test_tensors_share_no_bytes(bench: Any):
    memory = np.zeros(100, np.uint8)
    tensors = (bench.tensor("x", "input", memory, 0), bench.tensor("y", "input", memory, 99))
    with pytest.raises(TilewrightError, match="shared with x"):
        bench.run("", tensors, {"x": memory, "y": memory})


def test_unknown_inputs_are_refused(bench: Any):
    with pytest.raises(TilewrightError, match="inputs named"):
        bench.run("", bench.bytes(8), {"x": np.zeros(8, np.uint8), "z": np.zeros(8, np.uint8)})
