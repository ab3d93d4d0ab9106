"""Tables of layers: which instructions are whose, in memory, in IR and in a saved program."""

import json
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import DenseArrayBase, i64

from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program, load_program
from tilewright.dialects.layer_attributes import RUNS, layers_of, set_layers
from tilewright.dialects.mnemonic import ProgramOp
from tilewright.errors import TilewrightError
from tilewright.files import sealed_table
from tilewright.frontends.acg import load_target
from tilewright.machine.layer_table import Layer, LayerRecorder, LayerTable
from tilewright.resources import Resources

TABLE = LayerTable((Layer("conv1", ("conv1", "relu1")), Layer("pool", ("pool",), "group 1")), ((0, 2), (1, 1), (0, 1)))


def test_layers_of_the_same_nodes_are_one_and_names_differ():
    recorder = LayerRecorder()
    numbers = [recorder.layer(nodes) for nodes in (("a", "b"), ("c",), ("a", "b"), ("a",), ("a", "d"))]
    assert numbers == [0, 1, 0, 2, 3]
    for number, count in zip(numbers, (2, 1, 0, 3, 1), strict=True):
        recorder.took(number, count)
    table = recorder.table()
    assert [layer.name for layer in table.layers] == ["a", "c", "a.1", "a.2"]
    assert table.numbers() == [0, 0, 1, 2, 2, 2, 3]


def test_a_table_survives_ir():
    op = ProgramOp("main", [], b"")
    set_layers(op, TABLE)
    op.verify()
    assert layers_of(op) == TABLE
    assert layers_of(ProgramOp("main", [], b"")) == LayerTable()
    op.attributes[RUNS] = DenseArrayBase.from_list(i64, [0, 4])
    assert layers_of(op).runs == ((0, 4),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    machine = load_target("edge16")
    code = assemble(machine, "LOAD DST=0x0, SRC=0x0, RUN=64, NB=1, NC=1, ND=1, NE=1\n" * 4)
    return Program(machine, code, (), Resources(), layer_table=TABLE).save(tmp_path / "p")


def test_a_saved_program_knows_its_layers(folder: Path):
    assert load_program(folder).layer_table == TABLE


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("layer_runs", [[0, 2], [1, 1]]),
        ("layer_runs", [[0, 2], [2, 2]]),
        ("layer_runs", [[0, 5], [0, -1]]),
        ("layer_runs", [[0]]),
        ("layer_runs", 4),
        ("layers", []),
        ("layers", [{"name": "conv1"}]),
    ],
)
def test_tables_of_another_program_are_refused(folder: Path, key: str, value: Any):
    file = folder / "program.json"
    table = {name: entry for name, entry in json.loads(file.read_text()).items() if name != "table"} | {key: value}
    file.write_text(sealed_table(table, {name: folder / name for name in table["files"]}))
    with pytest.raises(TilewrightError) as error:
        load_program(folder)
    assert error.value.kind == "program"
