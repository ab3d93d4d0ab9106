"""First answers by interpreted kernels."""

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.cli import kernel_cache, main
from tilewright.cli.command_line import load_command, make_parser
from tilewright.cli.kernel_cache import GEMM, SEARCHES, WAIT, interpret_first, is_compiled


@pytest.mark.parametrize("search", SEARCHES)
def test_kernels_have_these_names(search: str) -> None:
    for kernel in SEARCHES[search].kernels:
        name, function = kernel.rsplit(".", 1)
        assert f"\ndef {function}(" in (kernel_cache.PACKAGE / f"{name}.py").read_text()


@pytest.mark.parametrize("folder", ["package/a/__pycache__", "given/a_1234", "home/numba/a_1234"])
def test_code_that_is_older_than_its_source_does_not_count(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / "package")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if folder.startswith("given"):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    for name, edited in (("b", 5), ("late", 7)):
        source, code = tmp_path / f"package/a/{name}.py", tmp_path / folder / f"{name}.walk-7.{kernel_cache.PYTHON}.nbi"
        for path in (source, code):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        os.utime(source, (1, edited))
        os.utime(code, (1, 6))
    (caller := tmp_path / "package/a/caller.py").write_text("from .late import walk\n")
    os.utime(caller, (1, 5))
    called = tmp_path / folder / f"caller.walk-7.{kernel_cache.PYTHON}.nbi"
    called.touch()
    os.utime(called, (1, 6))
    assert is_compiled("a/b.walk")
    assert not is_compiled("a/b.start")
    assert not is_compiled("a/late.walk")
    assert not is_compiled("a/caller.walk")
    with monkeypatch.context() as another:
        another.setattr(kernel_cache, "PYTHON", "py39")
        assert not is_compiled("a/b.walk")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "other"))  # the only folder that numba reads then
    assert not is_compiled("a/b.walk")


def test_another_process_compiles_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[list[str], str | None]] = []

    def start(command: list[str], *, env: dict[str, str], **_: object) -> None:
        started.append((command, env.get("NUMBA_DISABLE_JIT")))

    monkeypatch.setattr(kernel_cache, "is_compiled", lambda _: False)
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    monkeypatch.setenv(WAIT, "wait")
    assert interpret_first("exact mapper") is None
    monkeypatch.delenv(WAIT)
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert interpret_first("exact mapper") is None
    assert not started
    monkeypatch.delitem(sys.modules, "numba")
    told = interpret_first("exact mapper")
    assert told is not None
    assert told.startswith("a first answer: the exact mapper is being compiled")
    assert os.environ["NUMBA_DISABLE_JIT"] == "1"
    ((command, told),) = started
    assert command == [sys.executable, "-m", "tilewright.cli.kernel_cache", "exact mapper"]
    assert told is None


@pytest.mark.parametrize(
    ("arguments", "search"),
    [
        (["map", GEMM, "--target", "conventional"], "exact mapper"),
        (["map", GEMM, "--target", "conventional", "--model", "timeloop"], "exact mapper of Timeloop's model"),
        (["map", GEMM, "--target", "conventional", "--method", "cosa"], "cost model"),
        (["map", "--cases", "cases.json"], None),
        (["partition", "resnet50"], "search for partitions"),
        (["run", GEMM, "--target", "conventional"], "exact mapper"),
        (["run", GEMM, "--target", "tiny"], None),
        (["run", GEMM.replace("m=4", "m=40000"), "--target", "conventional"], None),
        (["run", "resnet18:conv2_1", "--target", "conventional"], None),
    ],
)
def test_commands_name_their_search(arguments: list[str], search: str | None) -> None:
    kernels: Callable[[Namespace], str | None] = vars(load_command(arguments[0]))["kernels"]
    assert kernels(make_parser()[0].parse_args(arguments)) == search
    assert search is None or search in SEARCHES


@pytest.mark.parametrize("command", ["map", "partition", "run", "compile"])
def test_numba_is_not_there_when_a_search_is_named(command: str) -> None:
    target = "gpu_k80" if command == "compile" else "conventional"
    given = [command, "resnet50"] if command == "partition" else [command, GEMM, "--target", target]
    program = f"""
import sys
from tilewright.cli import command_line
command_line.interpret_first = lambda search: sys.exit("numba" if "numba" in sys.modules else search)
command_line.run({given})
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    assert done.stderr.strip() in SEARCHES


def test_interpreted_kernels_find_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["map", GEMM.replace("n=8", "n=4"), "--target", "conventional", "--factors", "perfect", "--json"]
    program = f"from tilewright.cli import main; main({command!r})"
    told = subprocess.check_output([sys.executable, "-c", program], env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert main(command) == 0
    compiled, interpreted = (json.loads(answer) for answer in (capsys.readouterr().out, told))
    assert compiled["proven"]
    assert interpreted["proven"]
    assert compiled["edp"] == interpreted["edp"]
