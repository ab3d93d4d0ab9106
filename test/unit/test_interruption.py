"""Signals to real processes: exit codes, what they answer, what they leave behind.

Nothing waits for a time: a process is asked to stop when it has shown that it is where the test wants it, by the
signals that it listens to, the libraries that it has loaded, its children, files, or the progress on its terminal.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tilewright.interruption import SIGNALS

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes in /proc")

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
CONV = "resnet18:conv2_1"
PATIENCE_S = 120.0
INTERRUPTED = "tilewright: interrupted"

POOLS = """
func.func @main(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %a : tensor<1x4x8x8xf32>
}
"""  # noqa: E501


@dataclass
class Process:
    """A command with a terminal as its stderr; all that runs in its session is its own."""

    started: subprocess.Popen[str]
    terminal: int
    said: str = ""
    hearing: Thread = field(init=False)

    def __post_init__(self) -> None:
        self.hearing = Thread(target=self.hear, daemon=True)
        self.hearing.start()

    @property
    def pid(self) -> int:
        return self.started.pid

    def wait_until(self, there: Callable[[Process], bool]) -> None:
        """Wait until it is at some point; fails where it ends before."""

        def reached() -> bool:
            if there(self):
                return True
            assert self.started.poll() is None, f"ended before the point: {self.said[-2000:]}"
            return False

        assert eventually(reached), "the point was never reached"

    def hear(self) -> None:
        """Take what it says on its terminal, which would stop it once it is full, until nobody is there any more."""
        while True:
            try:
                text = os.read(self.terminal, 1 << 16)
            except OSError:
                return
            if not text:
                return
            self.said += text.decode(errors="replace")

    def end(self) -> tuple[int, str]:
        """Its exit code and output."""
        output, _ = self.started.communicate(timeout=PATIENCE_S)
        self.hearing.join(PATIENCE_S)
        return self.started.returncode, output


@pytest.fixture
def begin() -> Iterator[Callable[..., Process]]:
    """Starts commands, and ends what is left of them."""
    running: list[Process] = []

    def start(*arguments: str, tool: str = "tilewright", **others: Any) -> Process:
        ours, theirs = os.openpty()
        command = [str(Path(sys.executable).with_name(tool)), *arguments]
        usual: dict[str, Any] = {
            "stdout": subprocess.PIPE,
            "start_new_session": True,
            "text": True,
            "preexec_fn": _hear,
        }
        started = subprocess.Popen(command, stderr=theirs, **(usual | others))
        os.close(theirs)
        running.append(Process(started, ours))
        return running[-1]

    yield start
    for process in running:
        for left in alive(process.pid):
            os.kill(left, signal.SIGKILL)
        process.started.wait()
        process.hearing.join(PATIENCE_S)
        os.close(process.terminal)


def eventually(true: Callable[[], bool]) -> bool:
    """Whether something gets true; looking takes a tenth of the processor at most: others need it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        began = time.process_time()
        if true():
            return True
        time.sleep(max(0.005, 9 * (time.process_time() - began)))
    return False


def _hear() -> None:
    """Whatever the tests were started by, their processes hear SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def alive(session: int) -> list[int]:
    """Processes of a session that have not ended."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has gone
            continue
        if int(own) == session and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def listening(pid: int, number: signal.Signals = signal.SIGTERM) -> bool:
    """Whether a process has a handler for a signal."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = re.search(r"SigCgt:\s*([0-9a-f]+)", status)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def workers(process: Process) -> list[int]:
    """Other processes of its session that have asked to hear when it ends."""
    return [pid for pid in alive(process.pid) if pid != process.pid and listening(pid)]


# where a process is


def at_the_start(process: Process) -> bool:
    return listening(process.pid)


def importing(process: Process) -> bool:
    return "llvmlite" in Path(f"/proc/{process.pid}/maps").read_text()


def said(text: str) -> Callable[[Process], bool]:
    return lambda process: re.search(text, process.said) is not None


def at_work(process: Process) -> bool:
    return len(workers(process)) == 2


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


AT_THE_START = ("compile", GEMM, "--target", "tiny", "-o", "OUT"), at_the_start


@pytest.mark.parametrize(
    ("arguments", "there", "number"),
    [
        *((*AT_THE_START, number) for number in SIGNALS),  # one handler hears both
        (("map", CONV, "--target", "eyeriss_like", "--svg", "OUT/x.svg"), importing, signal.SIGINT),
        (("compile", "MODEL", "--target", "cocco_npu", "-o", "OUT"), said("graph-|convert-|codelet-"), signal.SIGTERM),
    ],
    ids=["start-sigint", "start-sigterm", "import", "pass"],
)
def test_without_a_best_a_line_and_nothing_else(
    arguments: tuple[str, ...],
    there: Callable[[Process], bool],
    number: signal.Signals,
    begin: Callable[..., Process],
    tmp_path: Path,
):
    model, folder = tmp_path / "pools.mlir", tmp_path / "out"
    model.write_text(POOLS)
    process = begin(*(word.replace("OUT", str(folder)).replace("MODEL", str(model)) for word in arguments))
    process.wait_until(there)
    process.started.send_signal(number)
    code, output = process.end()
    assert (code, output) == (128 + number, "")
    assert INTERRUPTED in process.said
    assert "Traceback" not in process.said
    assert "Exception" not in process.said
    assert left(folder) == []
    assert alive(process.pid) == []


@pytest.mark.parametrize(
    ("arguments", "there", "number"),
    [
        (
            ("map", CONV, "--target", "conventional", "--method", "random", "--time-limit", "1000"),
            said("best"),
            signal.SIGTERM,
        ),
        (("partition", "nasnet", "--method", "annealing", "--samples", "1000000000"), said("best"), signal.SIGTERM),
        (("explore", "googlenet", "--method", "annealing", "--samples", "1000000000"), said("best"), signal.SIGINT),
        (("schedule", "resnet50", "--rounds", "1000000000", "--jobs", "2"), importing, signal.SIGTERM),
    ],
    ids=["map", "partition", "explore", "schedule"],
)
def test_the_best_so_far_is_answered_and_marked(
    arguments: tuple[str, ...], there: Callable[[Process], bool], number: int, begin: Callable[..., Process]
):
    process = begin(*arguments, "--json")
    process.wait_until(there)
    process.started.send_signal(number)
    code, output = process.end()
    assert code == 128 + number
    assert "Traceback" not in process.said
    if not output:  # before there was a schedule
        assert there is importing
        assert INTERRUPTED in process.said
        return
    answer = json.loads(output)
    assert answer["interrupted"] is True
    assert answer.get("proven") is not True
    assert alive(process.pid) == []


def test_a_table_says_so(begin: Callable[..., Process]):
    process = begin("map", CONV, "--target", "conventional", "--method", "random", "--time-limit", "1000")
    process.wait_until(said("best"))
    process.started.send_signal(signal.SIGINT)
    code, output = process.end()
    assert code == 130
    assert output.endswith("interrupted: the best found until then\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(number: signal.Signals, begin: Callable[..., Process]):
    process = begin("map", "resnet18", "--target", "eyeriss_like", "--time-limit", "1000", "--jobs", "2", "--json")
    process.wait_until(at_work)
    if number == signal.SIGINT:  # as a terminal does
        os.killpg(process.pid, number)
    else:
        process.started.send_signal(number)
    code, output = process.end()
    assert code == (-number if number == signal.SIGKILL else 128 + number)
    if output:
        assert json.loads(output)["interrupted"] is True
    assert "Traceback" not in process.said
    assert eventually(lambda: not alive(process.pid))


def test_signals_while_files_are_written_leave_them_whole_or_not_at_all(begin: Callable[..., Process], tmp_path: Path):
    folder = tmp_path / "out"
    process = begin("compile", GEMM, "--target", "tiny", "-o", str(folder), "--json")
    process.wait_until(lambda _: folder.exists())
    process.started.send_signal(signal.SIGTERM)
    code, _ = process.end()
    assert code in (0, 143)  # 0: it was done already
    files = [name for name in left(folder) if name != "program"]
    assert files in ([], ["program.bin", "program.json", "sources.json", "target.acg", "weights.npz"])


NATIVE = """
import os, signal, sys, time
from tilewright import interruption

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy._core.printoptions":
            os.kill(os.getpid(), signal.SIGTERM)

def run():
    try:
        import numpy
        time.sleep(60)
    finally:
        print("numpy._core._multiarray_umath" in sys.modules)

assert "numpy" not in sys.modules
sys.meta_path.insert(0, Finder())
sys.exit(interruption.as_program(run))
"""


def test_a_request_waits_for_compiled_modules_that_are_being_initialised():
    """NumPy's imports that; out of other modules, an exception would come as another one, or as an abort."""
    done = subprocess.run([sys.executable, "-c", NATIVE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "True\n", f"{INTERRUPTED}\n")


TURNED = """
import os, signal, sys
from tilewright import interruption, opt
from tilewright.cli import command_line

class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)

def work(*_):
    type("Owner", (), {"field": Field()})

command_line.answer_command = opt.TilewrightOptMain.run = work
sys.exit(interruption.as_program(lambda: (command_line.run if sys.argv[1] == "tilewright" else opt.main)([])))
"""


@pytest.mark.parametrize("tool", ["tilewright", "tilewright-opt"])
def test_a_request_that_became_another_exception_is_one(tool: str):
    """Python makes a RuntimeError of what `__set_name__` raises."""
    done = subprocess.run([sys.executable, "-c", TURNED, tool], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", f"{INTERRUPTED}\n")


def test_the_optimizer_is_stopped_too(begin: Callable[..., Process]):
    process = begin(tool="tilewright-opt", stdin=subprocess.PIPE)
    process.wait_until(lambda found: listening(found.pid))
    process.started.send_signal(signal.SIGTERM)
    code, output = process.end()
    assert (code, output) == (143, "")
    assert INTERRUPTED in process.said
    assert "Traceback" not in process.said


def test_a_process_that_was_started_deaf_stays_so(begin: Callable[..., Process]):
    process = begin("networks", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.wait_until(at_the_start)
    process.started.send_signal(signal.SIGINT)
    code, output = process.end()
    assert code == 0
    assert "resnet50" in output
