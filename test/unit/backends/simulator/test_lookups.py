"""Rows at places that an index in memory names."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.backends.simulator.traps import Trap
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.resources import Resources

ROWS, WIDTH = 100, 48


def _run(indices: list[int], count: int = ROWS, kind: str = "int64"):
    machine = load_target("edge16")
    table = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
    number, code = len(indices), "i64" if kind == "int64" else "i32"
    size = np.dtype(kind).itemsize
    text = f"""
    LDG TAG=1, TI={code}, DST=0, SRC=0, IDX=0x8000, RUN={WIDTH * 4}, NR={number}, DR={WIDTH * 4}, SR={WIDTH * 4}, \
IR={size}, N={count}
    STORE WT0=1, WC0=1, DST=0x10000, SRC=0, RUN={number * WIDTH * 4}, NB=1, NC=1, ND=1, NE=1
    """
    places = (
        TensorPlacement("table", "input", "float32", (ROWS, WIDTH), "DRAM", 0),
        TensorPlacement("index", "input", kind, (number,), "DRAM", 0x8000),
        TensorPlacement("rows", "output", "float32", (number, WIDTH), "DRAM", 0x10000),
    )
    program = Program(machine, assemble(machine, text), places, Resources())
    return table, simulate(program, {"table": table, "index": np.array(indices, kind)})


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_rows_at_indices_are_copied_and_counted_once_each(kind: str) -> None:
    indices = [3, 99, -1, 3, 0, -100]
    table, result = _run(indices, kind=kind)
    assert np.array_equal(result.outputs["rows"], table[indices])
    moved = len(indices) * WIDTH * 4
    assert result.dram_bytes == 2 * moved + len(indices) * np.dtype(kind).itemsize


@pytest.mark.parametrize("index", [100, -101])
def test_an_index_of_no_row_is_a_trap(index: int) -> None:
    with pytest.raises(Trap, match=rf"-100 to 99, found {index}") as error:
        _run([0, index])
    assert error.value.reason == "range"


def test_a_table_that_nothing_wrote_is_a_trap() -> None:
    with pytest.raises(Trap, match="never written"):
        _run([0], count=400)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("u8 = u8, i64;", "u8 = i8, i64;"), "one type of elements"),
        (("types u8 = u8, i32", "types u8 = u8, u8"), "index of i32 or i64"),
        (("lookup(S{r, a}, I{r}, N)", "lookup(S{r, a}, I{a}, N)"), "strides of I for a"),
        (("lookup(S{r, a}, I{r}, N)", "lookup(S{r, a}, I{r, a}, N)"), "known functions"),
    ],
)
def test_lookups_that_are_none_are_refused(change: tuple[str, str], message: str) -> None:
    text = load_target("edge16").source
    assert change[0] in text
    with pytest.raises(TilewrightError, match=message):
        parse_target(text.replace(*change), "edge16.acg")
