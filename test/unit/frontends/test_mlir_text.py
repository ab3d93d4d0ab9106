"""What xDSL's parser lets pass: string literals that are never closed, and values read before they are made."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.parser import Parser

from tilewright.driver import load_model, make_context
from tilewright.errors import TilewrightError
from tilewright.frontends.mlir_text import LEAST_COMPACTED, check_strings, compact_literals
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


REALS = -0.0, 0.1, 1.0, -2.5e-3, 65504.0, 5.9e-8, 1.0000000596046448, 2.5, 3.5
WHOLE = {"i8": (-128, 127, 0, -1), "i16": (-32768, 255), "i32": (2**31 - 1, -7), "i64": (-(2**63), 2**62 + 1)}


def literal(element: str, shape: tuple[int, ...], gap: str = "") -> str:
    """A tensor of numbers of a type, as long as literals that are compacted."""
    numbers = WHOLE.get(element, REALS)
    array = np.resize(np.array(numbers, object), shape).tolist()
    return f"dense<{str(array).replace(', ', f', {gap}')}> : tensor<{'x'.join(map(str, shape))}x{element}>"


def data_of(text: str) -> tuple[object, bytes]:
    attribute = Parser(make_context(), text).parse_attribute()
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    return attribute.type, attribute.data.data


@pytest.mark.parametrize("element", ["f16", "f32", "f64", *WHOLE])
@pytest.mark.parametrize("shape", [(700,), (20, 30), (1, 5, 1, 80, 2), (400, 1)])
def test_literals_are_compacted_to_what_the_parser_makes_of_them(element: str, shape: tuple[int, ...]) -> None:
    text = literal(element, shape, "\n")
    found = compact_literals(text)
    assert found.startswith('dense<"0x')
    assert found.count("\n") == text.count("\n")
    assert data_of(found) == data_of(text)


LONG = literal("f32", (20, 30))


@pytest.mark.parametrize(
    "text",
    [
        literal("f32", (2, 3)),
        f'"{LONG}"',
        f"// {LONG}",
        f"#my.{LONG}",
        LONG.replace("20x30", "30x20"),
        LONG.replace("20x30", "20x31"),
        LONG.replace("20x30", f"20x30x{9 * '1x'}{10**17}"),
        LONG.replace("0.1", "0x1"),
        LONG.replace("0.1", "1e300"),
        LONG.replace("0.1", "1.0e39"),
        LONG.replace("0.1", "+0.1"),
        LONG.replace("0.1", "1"),
        LONG.replace("0.1", "0.1]", 1),
        LONG.replace("0.1, 1.0", "0.1 1.0"),
        LONG.replace("f32", "bf16"),
        literal("i8", (20, 30)).replace("127", "128"),
        literal("i64", (20, 30)).replace("-9223", "9" * 30),
        literal("i64", (20, 30)).replace("4611", "9" * 5000),
        literal("i32", (20, 30)).replace("-7", "-7.0"),
    ],
)
def test_other_literals_are_left_for_the_parser(text: str) -> None:
    assert "dense<" in text
    assert len(text) > LEAST_COMPACTED or "2x3" in text
    assert compact_literals(text) == text


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
