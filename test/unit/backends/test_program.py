"""Programs as folders: what is saved is loaded, what is broken is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program, load_program
from tilewright.errors import TilewrightError
from tilewright.files import sealed_table
from tilewright.frontends.acg import load_target
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.resources import Resources

TENSORS = (
    TensorPlacement("x", "input", "float32", (2, 3), "DRAM", 0),
    TensorPlacement("w/0", "weight", "int8", (4,), "DRAM", 24),
    TensorPlacement("y", "output", "int32", (), "DRAM", 28),
)


@pytest.fixture
def program() -> Program:
    constants = Resources({"w/0": np.arange(4, dtype=np.int8)})
    machine = load_target("tiny")
    code = assemble(machine, "LOAD DST=0x0, SRC=0x10, RUN=4, NB=1, NC=1\n" * 2)
    return Program(machine, code, TENSORS, constants, {"cycles": 12.5}, 77)


def test_folders_hold_everything(program: Program, tmp_path: Path):
    found = load_program(program.save(tmp_path / "p"))
    assert (found.machine, found.code, found.tensors) == (program.machine, program.code, program.tensors)
    assert (dict(found.predicted), found.ops_max) == ({"cycles": 12.5}, 77)
    np.testing.assert_array_equal(found.constants["w/0"], program.constants["w/0"])


def test_code_that_is_no_program_is_refused_without_layers_too(program: Program, tmp_path: Path):
    folder = replace(program, code=bytes(range(64))).save(tmp_path / "p")
    with pytest.raises(TilewrightError, match="a known opcode"):
        load_program(folder)


def test_the_same_program_is_saved_as_the_same_bytes(program: Program, tmp_path: Path):
    folders = [program.save(tmp_path / name) for name in ("a", "b")]
    for name in ("program.bin", "target.acg", "program.json", "sources.json", "weights.npz"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


@pytest.mark.parametrize("name", ["program.bin", "target.acg", "program.json", "sources.json", "weights.npz"])
def test_missing_files_are_named(name: str, program: Program, tmp_path: Path):
    folder = program.save(tmp_path)
    (folder / name).unlink()
    with pytest.raises(TilewrightError):
        load_program(folder)


@pytest.mark.parametrize("name", ["program.bin", "program.json", "target.acg", "weights.npz"])
def test_altered_files_are_named(name: str, program: Program, tmp_path: Path):
    path = program.save(tmp_path) / name
    path.write_bytes(path.read_bytes().replace(b"4", b"5").replace(bytes([16]), bytes([17])))
    with pytest.raises(TilewrightError, match=rf"{name}.*compile again"):
        load_program(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "", "at 0: expected a name"),
        ("role", "guest", "a role among"),
        ("memory", "ATTIC", "a memory among"),
        ("address", 1 << 40, "bytes in 0 to 65536"),
        ("address", -4, "bytes in 0 to 65536"),
        ("shape", "x", "a table of tensors"),
        ("dtype", "float33", "a table of tensors"),
    ],
)
def test_broken_tables_are_refused(key: str, value: object, message: str, program: Program, tmp_path: Path):
    path = program.save(tmp_path) / "program.json"
    table = json.loads(path.read_text())
    table["tensors"][0][key] = value
    files = {name: tmp_path / name for name in table.pop("files")}
    path.write_text(sealed_table({key: value for key, value in table.items() if key != "table"}, files))
    with pytest.raises(TilewrightError, match=message):
        load_program(tmp_path)
