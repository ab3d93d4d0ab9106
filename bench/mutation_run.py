"""Commands run in forked processes under limits of memory and time, and what came of each."""

from __future__ import annotations

import io
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tilewright
from tilewright import opt
from tilewright.cli import command_line

MEMORY_BYTES = 4 << 30
CPU_SECONDS = 30
WALL_SECONDS = 300
"""A process that sleeps is ended, too; much longer, so that a busy machine does not matter."""
PARAGRAPH_MAX = 4000
"""Characters that an error may have."""
FAULTS = ("traceback", "hang", "memory", "crash", "wrong", "unclear")

Answer = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A command on mutated files.  `check` tells what is wrong with an answer that was given, or ""."""

    arguments: Sequence[str]
    check: Callable[[Answer], str] | None = None
    optimizer: bool = False
    """Whether the command is `tilewright-opt`."""


@dataclass(frozen=True)
class Outcome:
    """`verdict` is ok, refused, differs, or one of `FAULTS`."""

    index: int
    verdict: str
    text: str = ""


Make = Callable[[int, Path], Case]
"""Writes the files of a case by number to a folder."""


def run_batch(make: Make, indices: Sequence[int], keep: Path | None = None) -> list[Outcome]:
    """The outcome of each case; a process that ends badly costs only the case that it was at."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(indices):
        outcomes += _fork(make, indices[len(outcomes) :], keep)
    return outcomes


def _fork(make: Make, indices: Sequence[int], keep: Path | None) -> list[Outcome]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _work(make, indices, write, keep)
    os.close(write)
    outcomes = [Outcome(**json.loads(line)) for line in _lines(read, child)]
    _, status = os.waitpid(child, 0)
    if len(outcomes) < len(indices):
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        verdict = "hang" if ended in (signal.SIGPROF, signal.SIGKILL) else "crash"
        outcomes.append(Outcome(indices[len(outcomes)], verdict, f"signal {ended}, status {status}"))
    return outcomes


def _lines(read: int, child: int) -> Iterator[str]:
    """What a process writes, line by line; it is killed where nothing comes for too long."""
    with open(read, "rb", buffering=0) as stream:
        rest = b""
        while True:
            if not select.select([stream], [], [], WALL_SECONDS)[0]:
                os.kill(child, signal.SIGKILL)
            data = stream.read(1 << 16)
            if not data:
                return
            *whole, rest = (rest + data).split(b"\n")
            yield from (line.decode() for line in whole)


def _work(make: Make, indices: Sequence[int], write: int, keep: Path | None) -> None:
    """The forked process; does not return."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        for index in indices:
            os.write(write, (json.dumps(_kept_case(make, index, keep).__dict__) + "\n").encode())
    finally:
        os._exit(0)


def _kept_case(make: Make, index: int, keep: Path | None) -> Outcome:
    """A case in a folder of its own, which also takes what commands put into the folder for temporary files."""
    folder = Path(tempfile.mkdtemp(prefix="mutation-"))
    place, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        return run_case(make, index, folder)
    finally:
        tempfile.tempdir = place
        if keep is not None:
            shutil.copytree(folder, keep / str(index), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def run_case(make: Make, index: int, folder: Path) -> Outcome:
    """Make a case's files in `folder` and run its command, at most `CPU_SECONDS` long."""
    try:
        case = make(index, folder)
    except Exception:
        return Outcome(index, "unclear", f"no case: {_last_line(traceback.format_exc())}")
    os.chdir(folder)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = (opt.main if case.optimizer else command_line.run)(list(case.arguments))
    except BaseException:
        return Outcome(index, "traceback", _last_line(traceback.format_exc()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    verdict, text = judge_optimizer(code, err.getvalue()) if case.optimizer else judge(code, out.getvalue())
    if verdict == "ok" and case.check is not None:
        answer = {} if case.optimizer else json.loads(out.getvalue())
        if text := case.check(answer):
            return Outcome(index, "wrong", text)
    return Outcome(index, verdict, text)


def judge(code: int, out: str) -> tuple[str, str]:
    """Verdict and text of a command's exit code and JSON."""
    answer = json.loads(out)
    error = answer.get("error")
    if error is None:
        return ("ok", "") if code == 0 else ("differs", str(answer.get("worst")))
    text = f"{error['subject']}: {error['expected']}, found {error['found']}"
    if code == command_line.INTERNAL:
        *_, file = error["lever"].split()
        return "traceback", _last_line(Path(file).read_text())
    if "MemoryError" in text:
        return "memory", text
    if not error["subject"] or not error["found"] or len(text) > PARAGRAPH_MAX or "Traceback" in text:
        return "unclear", text[:300]
    return "refused", text


def judge_optimizer(code: int, err: str) -> tuple[str, str]:
    """Verdict and text of the optimizer's exit code and stderr."""
    if code == 0:
        return "ok", ""
    if code == command_line.INTERNAL:
        *_, file = err.split()
        return "traceback", _last_line(Path(file).read_text())
    if "more memory than there is" in err:
        return "memory", err
    return ("refused", err) if err and len(err) <= PARAGRAPH_MAX else ("unclear", err[:300])


def _last_line(text: str) -> str:
    """Where a traceback ends in our sources, and its message."""
    root = str(Path(tilewright.__file__).parent)
    frames = [line.strip() for line in text.splitlines() if root in line or "/src/" in line]
    return f"{text.strip().splitlines()[-1][:200]} [{frames[-1].replace(root, '') if frames else ''}]"
