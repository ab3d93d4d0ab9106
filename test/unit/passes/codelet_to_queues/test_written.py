"""What is read of tensors was written: as found by listing all elements."""

import random

import pytest
from xdsl.dialects.builtin import f32
from xdsl.parser import Parser

from tilewright.dialects.codelet import ProgramOp, SurrogateType, ViewOp
from tilewright.driver import make_context
from tilewright.errors import TilewrightError
from tilewright.passes.codelet_to_queues.read import read_codelet, read_tensors
from tilewright.passes.codelet_to_queues.written import check_views, check_written

ROWS, COLUMNS = 4, 6
DRAM, SPAD = (f"!codelet.surrogate<{ROWS}x{COLUMNS}xf32, @{memory}>" for memory in ("DRAM", "SPAD"))
HEAD = f"""codelet.program @main {{
  %x = codelet.tensor "x" input at 0 : {DRAM}
  %y = codelet.tensor "y" output at 96 : {DRAM}
  %t = codelet.tensor "t" temp at 0 : {SPAD}
"""

Box = tuple[int, int, int, int]
"""The first row, rows, the first column, and columns two apart."""


def elements(box: Box) -> set[tuple[int, int]]:
    row, rows, column, columns = box
    return {(row + i, column + 2 * j) for i in range(rows) for j in range(columns)}


def codelet(name: str, box: Box, source: str, target: str) -> str:
    row, rows, column, columns = box
    types = {"x": DRAM, "y": DRAM, "t": SPAD}
    ends = ", ".join(f"%{n.upper()} = %{n} : {types[n]}" for n in (source, target))
    moved = f"%{source.upper()} -> %{target.upper()}", f"{types[source]} -> {types[target]}"
    return f"""  codelet.codelet @{name} dims {{i = {ROWS}, j = {columns}}} ({ends}) {{
    codelet.part i from {row} to {row + rows} {{
      codelet.transfer {moved[0]} over "T[i, 2*j + {column}]" : {moved[1]}
    }}
  }}
"""


def parsed(text: str) -> ProgramOp:
    (program,) = Parser(make_context(), HEAD + text + "}").parse_module().body.ops
    assert isinstance(program, ProgramOp)
    return program


def missing(text: str) -> bool:
    program = parsed(text)
    tensors = read_tensors(program)
    try:
        check_written(program, tensors, {op: read_codelet(op, tensors) for op in program.codelets})
    except TilewrightError as error:
        return error.kind == "refuted"
    return False


def test_boxes_are_missed_where_an_element_is():
    rng = random.Random(0)
    found: list[bool] = []
    for _ in range(60):
        boxes = [box(rng) for _ in range(5)]
        *written, read = boxes
        text = "".join(codelet(f"w{i}", b, "x", "t") for i, b in enumerate(written)) + codelet("r", read, "t", "y")
        found.append(missing(text))
        assert found[-1] == bool(elements(read) - set[tuple[int, int]]().union(*map(elements, written)))
    assert 10 < sum(found) < 50


def box(rng: random.Random) -> Box:
    row, column = rng.randrange(ROWS - 1), rng.randrange(2)
    return row, rng.randint(1, ROWS - row), column, rng.randint(1, (COLUMNS - column) // 2)


def test_what_is_written_later_is_missed():
    whole = [(0, ROWS, column, COLUMNS // 2) for column in (0, 1)]
    write = "".join(codelet(f"w{i}", b, "x", "t") for i, b in enumerate(whole))
    read = codelet("r", whole[0], "t", "y")
    assert not missing(write + read)
    assert missing(read + write)


def test_views_have_the_elements_of_their_tensor():
    program = parsed("")
    tensor = next(op for op in program.body.block.ops if op.results)
    view = ViewOp(tensor.results[0], SurrogateType.get([COLUMNS], f32, "DRAM"))
    program.body.block.add_op(view)
    with pytest.raises(TilewrightError, match="the 24 elements of"):
        check_views(program)


def test_a_view_of_a_ring_has_the_samples_of_its_tensor():
    types = [f"!codelet.surrogate<{sizes}xf32, @SPAD>" for sizes in ("4x6", "1x24")]
    program = parsed(f"""  %r = codelet.tensor "r" temp ring [1, 0] at 0 : {types[0]}
      %v = codelet.view %r : {types[0]} -> {types[1]}
      codelet.codelet @c dims {{i = 1}} (%V = %v : {types[1]}) {{
      }}
    """)
    (op,) = program.codelets
    with pytest.raises(TilewrightError, match="a view with the 4 samples of its tensor, found 1"):
        read_codelet(op, read_tensors(program))
