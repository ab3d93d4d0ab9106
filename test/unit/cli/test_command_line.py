import json
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.arrays import read_arrays, write_arrays
from tilewright.cli import main
from tilewright.cli.command_line import finite

Capture = pytest.CaptureFixture[str]


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


def test_a_fault_of_ours_leaves_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture):
    def fail(arguments: object) -> None:
        raise ZeroDivisionError("division \ud800 by zero")

    monkeypatch.setattr("tilewright.cli.networks.execute", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["networks"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    (file,) = tmp_path.iterdir()
    assert str(file) in err
    assert "in fail" in file.read_text()
    assert main(["networks", "--json"]) == 70
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "internal"


@pytest.mark.parametrize(("shift", "code"), [(0, 0), (1e-6, 0), (5, 1)])
def test_the_verdict_is_the_exit_code(shift: float, code: int, tmp_path: Path, capsys: Capture):
    command = ["run", "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6", "--target", "tiny", "-o", str(tmp_path)]
    assert main([*command, "--json"]) == 0
    capsys.readouterr()
    expected = dict(read_arrays(tmp_path / "outputs.npz"))
    expected["O"][1, 2] += shift
    write_arrays(tmp_path / "y.npz", expected)
    command += ["--expect", str(tmp_path / "y.npz")]
    assert main([*command, "--json"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer["agrees"] is (code == 0)
    assert answer["equal"] is (shift == 0)
    assert (answer["worst"] or {"index": None})["index"] == ([1, 2] if shift else None)
    assert main([*command, "--tolerance", "100"]) == 0
    assert main(command) == code
    out = capsys.readouterr().out
    assert ("differs" in out) == bool(code)
    assert "Units" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_answers_that_find_no_room():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "tilewright", "targets", "--target", "tiny", "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no space left" in done.stderr
