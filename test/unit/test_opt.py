"""Whatever text it is given, `tilewright-opt` answers in a paragraph and an exit code."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.driver import pipeline_text
from tilewright.opt import describe, main

ROOT = Path(__file__).parents[2]
SEEDS = sorted([*(ROOT / "test/lit").rglob("*.mlir"), *(ROOT / "src/targets").glob("*.acg")])
TOKEN = re.compile(r"[\w.$@%!#]+|->|\"[^\"]*\"|\s+|.")
FUZZ = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def check(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the tool on `text`; unforeseen errors may come from xDSL's own parsers, not from ours."""
    path.write_text(text)
    code = main([str(path)])
    out, err = capsys.readouterr()
    assert code in (0, 1)
    assert "Traceback" not in out + err
    assert bool(err) == (code == 1)
    if "fault of tilewright" in err:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            main([str(path), "--traceback"])
        capsys.readouterr()
        assert "xdsl" in str(caught.traceback[-1].path), f"{describe(caught.value)}\n{caught.traceback[-1]}"


def mutate(text: str, seed: int) -> str:
    """Drop, double, swap and replace a few tokens."""
    choose = random.Random(seed)
    tokens = TOKEN.findall(text)
    for _ in range(choose.randint(1, 4)):
        if not tokens:
            break
        at = choose.randrange(len(tokens))
        match choose.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens[at] = choose.choice(tokens)
            case 3:
                tokens[at] = choose.choice(
                    ["0", "-1", "99999999999999999999", '""', "{", ">", "@", "f32", "1.5e400", "é"]
                )
            case _:
                del tokens[at:]
    return "".join(tokens)


@FUZZ
@given(which=st.integers(0, 10**6), chunk=st.integers(0, 10**6), seed=st.integers(0, 10**9))
def test_mutated_files(which: int, chunk: int, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source = SEEDS[which % len(SEEDS)]
    chunks = source.read_text().split("// -----")
    check(tmp_path / f"x{source.suffix}", mutate(chunks[chunk % len(chunks)], seed), capsys)


@FUZZ
@given(text=st.text(alphabet=st.sampled_from(list('abc019%@!#{}()<>[]=:,.;"\\ \n-+*/\t')), max_size=60))
@pytest.mark.parametrize("suffix", [".mlir", ".acg"])
def test_random_text(suffix: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    check(tmp_path / f"x{suffix}", text, capsys)


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module {" * 3000,
        '"test.op"() ({' * 3000,
        '"test.op"() {a = ' + "[" * 5000 + "} : () -> ()",
        '"test.op"() : () -> ' + "tuple<" * 5000,
        "func.func @f(%a: " + "vector<2x" * 3000,
        "\0" * 100,
        '"',
    ],
)
def test_hostile_mlir(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    check(tmp_path / "x.mlir", text, capsys)


@pytest.mark.parametrize(
    "text",
    [
        "acg x {" * 2000,
        "acg x { compute A { capability f { dims a < 4; O{a} = " + "(" * 10000 + "A{a}; } } }",
        "acg x { compute A { capability f { dims a < 4; O{a} = " + "-" * 10000 + "A{a}; } } }",
        "acg x { memory M { data_width 8; banks 1; depth " + "9" * 5000 + "; } }",
        "acg x { compute P[1000000000][1000000000] {} }",
        "\0",
        "",
    ],
)
def test_hostile_acg(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    check(tmp_path / "x.acg", text, capsys)


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for suffix in (".mlir", ".acg", ".onnx"):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(b"\xff\xfe\x00\x80")
        assert main([str(path)]) == 1
        assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("dim", ["n", "n=0", "n=4..2", "n=1..8..0", "n=1..2..3..4", "n=x", "=4", f"n={'9' * 11}"])
def test_a_dim_is_a_number_or_a_range(dim: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(tmp_path / "a.onnx"), "--dim", dim]) == 1  # no such file
    (tmp_path / "a.onnx").write_bytes(b"")
    assert main([str(tmp_path / "a.onnx"), "--dim", dim]) == 2
    assert "--dim: expected NAME=N, NAME=FIRST..LAST" in capsys.readouterr().err


def test_dims_are_of_onnx_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "a.mlir").write_text("")
    assert main([str(tmp_path / "a.mlir"), "--dim", "n=1..8"]) == 2
    assert "--dim: expected an ONNX file, found mlir; extents of IR: -p graph-fix-extents" in capsys.readouterr().err


def test_unknown_ending_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.txt"
    path.write_text("")
    assert main([str(path)]) == 2
    assert "'txt'" in capsys.readouterr().err


ODD_FUNCTIONS = {
    "of branches": (
        "(%x: tensor<2xf32>) -> tensor<2xf32> {\n  cf.br ^a(%x : tensor<2xf32>)\n"
        "^a(%y: tensor<2xf32>):\n  func.return %y : tensor<2xf32>\n}",
        "expected a function of one block, found 2 blocks",
    ),
    "of no tensor": ("(%x: f32) -> f32 {\n  func.return %x : f32\n}", "expected a tensor, found f32"),
    "of no elements": ("(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {\n  func.return %x : tensor<0x3xf32>\n}", ""),
    "of nothing": ("() {\n  func.return\n}", ""),
}


@pytest.mark.parametrize("name", ODD_FUNCTIONS)
def test_odd_functions(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Also where passes come in an order that makes no sense."""
    text, words = ODD_FUNCTIONS[name]
    path, load = tmp_path / "x.mlir", 'load-target{target="tiny"}'
    path.write_text(f"func.func @main{text}")
    for passes in (pipeline_text("tiny"), f"{load},convert-nest-to-codelet,convert-graph-to-nest", "dram-schedule"):
        code, err = main([str(path), "-p", passes]), capsys.readouterr().err
        assert code in (0, 1)
        assert words in err or passes == "dram-schedule"
