import json
import subprocess
import sys

import pytest

from tilewright.cli import main
from tilewright.cli.command_line import finite


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["run"], ["run", "a", "--seed", "x"], ["compile", "a", "--no"]])
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tilewright: usage: ")


def test_an_unknown_argument_leads_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]):
    assert main(["schedule", "vgg16", "--buffers", "4"]) == 2
    assert "unknown --buffers 4; see tilewright schedule --help" in capsys.readouterr().err


def test_wrong_usage_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--json"]) == 2
    out, err = capsys.readouterr()
    assert set(json.loads(out)["error"]) == {"kind", "subject", "expected", "found", "lever"}
    assert err == ""


def test_missing_file_exits_with_1(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", "no-such.onnx"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "no-such.onnx" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["compile", "run", "targets"])
def test_help_tells_the_options(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as leaving:
        main([command, "--help"])
    assert leaving.value.code == 0
    out = capsys.readouterr().out
    assert "--json" in out
    assert "--target" in out


def test_json_has_no_infinite_numbers():
    assert finite({"a": [1.5, float("inf")], "b": {"c": float("nan")}, "d": "x"}) == {
        "a": [1.5, None],
        "b": {"c": None},
        "d": "x",
    }


def test_help_is_quick():
    """Parsing the arguments of all commands loads no numbers, kernels or solvers."""
    program = "import sys; from tilewright.cli.command_line import make_parser; make_parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "scipy", "numba", "z3", "lark", "onnx"}.isdisjoint(loaded)
