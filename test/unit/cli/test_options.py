"""Words that commands share: the same checks everywhere, older words still taken, nothing ignored in silence."""

import json
from pathlib import Path

import numpy as np
import pytest

from tilewright.cli import main
from tilewright.cli.command_line import COMMANDS, UsageError, make_parser
from tilewright.cli.effort import apply_effort
from tilewright.cli.options import Number
from tilewright.driver.pipelines import NEAR

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
EFFORT = ("compile", "run", "map", "partition", "explore", "schedule")
INPUTS = {"targets": [], "networks": [], "map": [KERNEL, "--target", "conventional"]}


def parse(command: str, *options: str) -> dict[str, object]:
    return vars(make_parser()[0].parse_args([command, *INPUTS.get(command, ["x"]), *options]))


@pytest.mark.parametrize("command", EFFORT)
@pytest.mark.parametrize(
    ("option", "bad"), [("--seed", ("-1", "1e3", "x", "9" * 30)), ("--time-limit", ("0", "-1", "nan", "x"))]
)
def test_effort_is_the_same_everywhere(command: str, option: str, bad: tuple[str, ...]):
    assert parse(command, option, "7")[option[2:].replace("-", "_")] == 7
    for value in bad:
        with pytest.raises(UsageError) as caught:
            parse(command, option, value)
        assert caught.value.subject == option
        assert value[:20] in caught.value.found


@pytest.mark.parametrize("command", EFFORT)
@pytest.mark.parametrize(
    ("words", "gap", "limit"),
    [
        (("--effort", "quick"), 0.1, 0.5),
        (("--effort", "thorough"), 0.0, 3600.0),
        (("--gap", "0.2", "--effort", "quick"), 0.2, 0.5),
        (("--effort=quick", "--time-limit", "7"), 0.1, 7.0),
    ],
)
def test_effort_is_a_gap_and_a_time_limit(command: str, words: tuple[str, ...], gap: float, limit: float):
    parser, parsers = make_parser()
    arguments = parser.parse_args([command, *INPUTS.get(command, ["x"]), *words])
    apply_effort(arguments, parsers[command].given(words))
    assert (arguments.gap, arguments.time_limit) == (gap, limit)


def test_gaps_are_told_in_the_same_words():
    between = f"{NEAR} between ways to compile, 0 within a search"
    helps = [
        action.help.replace(between, "0")
        for name, parser in make_parser()[1].items()
        for action in parser._actions
        if "--gap" in action.option_strings and name and action.help
    ]
    assert len(helps) == 6
    assert len(set(helps)) == 1


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("map", ("--mapper", "random"), ("--method", "random")),
        ("map", ("--objective", "edp"), ("--objective", "edp")),
        ("partition", ("--metric", "energy"), ("--objective", "energy")),
        ("explore", ("--metric", "latency"), ("--objective", "latency")),
        ("schedule", ("--svg", "a.svg"), ("--output", "a.svg")),
    ],
)
def test_older_words_are_taken(command: str, old: tuple[str, str], new: tuple[str, str]):
    assert parse(command, *old) == parse(command, *new)


def test_the_old_name_of_dram_traffic():
    assert parse("partition", "--metric", "ema")["objective"] == "ema"
    assert parse("explore")["objective"] == "energy"
    assert parse("partition")["objective"] == "dram"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_the_new_words(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert not {"--metric", "--mapper", "--svg", "--mlir"} & set(out.replace(",", " ").split())


def test_numbers():
    assert Number("--x", least=0)("0") == 0
    assert Number("--x", float, 0, 10)("2.5") == 2.5
    with pytest.raises(UsageError, match="--x: expected at least 0 and at most 10, found '11'"):
        Number("--x", float, 0, 10)("11")


@pytest.mark.parametrize(
    ("arguments", "option", "where"),
    [
        (["run", KERNEL, "--tile-rows", "4"], "--tile-rows", "without a --partition METHOD that searches"),
        (["run", KERNEL, "--rounds", "4"], "--rounds", "without a search for a schedule"),
        (["run", KERNEL, "--tokens", "4"], "--tokens", "with einsum text"),
        (["run", KERNEL, "--batch", "4"], "--batch", "with einsum text"),
        (["run", "FOLDER", "--partition", "best"], "--partition", "with a folder"),
        (["run", "FOLDER", "--target=tiny"], "--target", "with a folder"),
        (["run", "FOLDER", "--no-check"], "--no-check", "with a folder"),
        (["run", KERNEL, "--target", "hvx", "--partition", "best"], "--partition", "on a machine of packets"),
        (["run", "vgg16", "--schedule", "soma", "--tile-rows", "3"], "--tile-rows", "with --schedule"),
        (["run", "vgg16", "--partition", "cocco", "--tile-rows", "3"], "--tile-rows", "with --schedule"),
        (["run", "vgg16", "--schedule", "x.mlir", "--rounds", "3"], "--rounds", "without a search for a schedule"),
        (["run", "vgg16", "--schedule", "x.mlir", "--time-limit", "3"], "--time-limit", "with a schedule from a file"),
        (["run", "vgg16", "--schedule", "ours", "--tokens", "3"], "--tokens", "no transformer by name"),
        (["compile", KERNEL, "--time-limit", "3"], "--time-limit", "where there is one way to compile"),
        (["compile", KERNEL, "--effort", "quick"], "--effort", "where there is one way to compile"),
        (["partition", "vgg16", "--method", "greedy", "--gap", "0.1"], "--gap", "with --method greedy"),
        (["partition", "vgg16", "--method", "chain-3", "--time-limit", "1"], "--time-limit", "does not search"),
        (["partition", "vgg16", "--method", "depth-dp", "--seed", "1"], "--seed", "with --method depth-dp"),
        (["compile", "vgg16", "--partition", "greedy", "--effort", "quick"], "--effort", "does not search"),
        (["compile", "vgg16", "--partition", "enumeration", "--gap", "1"], "--gap", "has no bound"),
        (["compile", "vgg16", "--schedule", "x.mlir", "--gap", "1"], "--gap", "with a schedule from a file"),
        (["compile", KERNEL, "--seed", "3"], "--seed", "without a --partition METHOD that searches"),
        (["compile", KERNEL, "--target", "hvx", "--no-prove"], "--no-prove", "on a machine of packets"),
        (["map", KERNEL, "--target", "conventional", "--batch", "2"], "--batch", "with einsum text"),
        (["map", KERNEL, "--target", "conventional", "--mapper", "random", "--gap", "1"], "--gap", "--method random"),
        (["map", "--cases", "x.json", "--jobs", "2"], "--jobs", "with --cases"),
        (["map", "--cases", "x.json", "-o", "x.svg"], "--output", "with --cases"),
        (["partition", "vgg16", "--tile-columns", "2"], "--tile-columns", "without --tile-rows"),
        (["partition", "vgg16", "--tokens", "2"], "--tokens", "no transformer by name"),
        (["partition", "x.onnx", "--tile-rows", "2", "--cores", "2"], "--cores", "with --tile-rows"),
        (["partition", "vgg16", "--samples", "2"], "--samples", "with --method ours"),
        (["partition", "vgg16", "--method=greedy", "--state", "x.json"], "--state", "with --method greedy"),
        (["run", KERNEL, "--expect", "y.npz", "--no-check"], "--no-check", "with --expect"),
        (["schedule", "vgg16", "--tokens", "2"], "--tokens", "no transformer by name"),
        (["schedule", "vgg16", "--objective", "edp", "--energy-power", "2"], "--objective", "with --energy-power"),
        (["targets", "-o", "x.acg"], "--output", "without --import"),
        (["targets", "--target", "tiny", "--import", "x.yaml"], "--target", "with --import"),
    ],
    ids=lambda value: " ".join(value[:1] + value[-2:]) if isinstance(value, list) else None,
)
def test_options_that_would_be_ignored(
    arguments: list[str], option: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    given = [str(tmp_path) if word == "FOLDER" else word for word in arguments]
    (tmp_path / "target.acg").touch()  # as `compile` writes it
    assert main([*given, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["subject"] == option
    assert where in error["expected"]
    assert "ignored" in error["lever"]


def test_what_is_heeded_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(tmp_path / "built")
    assert main(["compile", KERNEL, "--target", "tiny", "--no-prove", "-o", folder]) == 0
    assert main(["run", folder, "--seed", "3", "--no-trace", "-o", str(tmp_path / "out")]) == 0
    first = np.load(tmp_path / "out/outputs.npz")["O"]
    assert main(["run", KERNEL, "--seed", "3", "-o", str(tmp_path / "out")]) == 0
    assert np.allclose(np.load(tmp_path / "out/outputs.npz")["O"], first, atol=1e-5)


def test_machines_of_stages_search_for_tiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = tmp_path / "most.mlir"
    types = "tensor<1x16x4x4xsi8>"
    model.write_text(
        f'func.func @main(%x: {types}) -> {types} attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}} {{\n'
        f"  %y = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] "
        f": ({types}) -> {types}\n"
        f"  func.return %y : {types}\n}}\n"
    )
    heeded = ["--gap", "0.5", "--time-limit", "1", "--no-prove"]
    command = ["compile", str(model), "--target", "vta", "--json", "-o", str(tmp_path / "built")]
    assert main([*command, *heeded]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["gap"] == answer["cycles"] / answer["lower_bound"]["cycles"] - 1
    assert answer["bound_by"] == "DRAM traffic"
    assert main([*command, "--tile-rows", "3"]) == 2


@pytest.mark.parametrize("name", ["x.png", "x"])
@pytest.mark.parametrize("command", [["map", KERNEL, "--target", "conventional"], ["schedule", "vgg16"]])
def test_files_of_no_known_kind(command: list[str], name: str, capsys: pytest.CaptureFixture[str]):
    assert main([*command, "--time-limit", "0.1", "-o", name]) == 2
    assert "expected a .svg or .mlir file" in capsys.readouterr().err
