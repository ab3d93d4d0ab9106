"""What xDSL's parser lets pass: string literals that are never closed, and values read before they are made."""

from pathlib import Path

import pytest

from tilewright.driver import load_model
from tilewright.errors import TilewrightError
from tilewright.frontends.mlir_text import check_strings
from tilewright.opt import main


@pytest.mark.parametrize("text", ["", 'a "b" c', r'"a\"b\n\0A"', '// it\'s "open\n"closed"', '"" ""'])
def test_closed(text: str) -> None:
    check_strings(text, "x.mlir")


@pytest.mark.parametrize(
    ("text", "place"), [('"', "1:1"), ('a\n b "c\n"d"', "2:4"), (r'"a\q"', "1:1"), ('"a" "' + 100_000 * "a", "1:5")]
)
def test_open(text: str, place: str) -> None:
    with pytest.raises(TilewrightError) as error:
        check_strings(text, "x.mlir")
    assert error.value.subject == f"x.mlir:{place}"


def test_tools_answer_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.mlir"
    path.write_text('"test.op"() {x = "' + 60 * "a" + "} : () -> ()\n")
    assert main([str(path)]) == 1
    assert "closed string literal" in capsys.readouterr().err
    with pytest.raises(TilewrightError, match="closed string literal"):
        load_model(path)


RELU = "graph.unary relu {} : (tensor<4xf32>) -> tensor<4xf32>"
LATER = {
    "itself": f"  %a = {RELU.format('%a')}\n  func.return %a : tensor<4xf32>",
    "later": f"  %a = {RELU.format('%b')}\n  %b = {RELU.format('%x')}\n  func.return %a : tensor<4xf32>",
    "in a group": """  %a = nest.group @g dims {i = 4} ins(X = %x) -> tensor<4xf32> {
  ^bb0(%X : tensor<4xf32>):
    %0 = nest.kernel @k "Y[i] = X[i]" (X = %1) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = nest.kernel @l "Y[i] = X[i]" (X = %X) : (tensor<4xf32>) -> tensor<4xf32>
    nest.yield %1 : tensor<4xf32>
  }
  func.return %a : tensor<4xf32>""",
}


@pytest.mark.parametrize("body", LATER.values(), ids=LATER)
def test_values_are_made_before_they_are_read(body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(f"func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n}}\n")
    with pytest.raises(TilewrightError, match="made before they are read"):
        load_model(path)
    assert main([str(path)]) == 1
    assert "made before they are read" in capsys.readouterr().err


def test_blocks_that_jump_to_each_other_are_in_no_order(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("""func.func @f(%x : i32) -> i32 {
  "cf.br"()[^two] : () -> ()
^one:
  func.return %y : i32
^two:
  %y = arith.addi %x, %x : i32
  "cf.br"()[^one] : () -> ()
}
""")
    assert main([str(path)]) == 0


@pytest.mark.parametrize(("length", "shows_line"), [(10, True), (10_000, False)])
def test_long_lines_of_source_are_not_shown(tmp_path: Path, length: int, shows_line: bool):
    path = tmp_path / "x.mlir"
    path.write_text('%0 = "a.b"() : () -> ' + "x" * length)
    with pytest.raises(TilewrightError, match=r"not registered") as error:
        load_model(path)
    assert ("xxx" in error.value.found) == shows_line
