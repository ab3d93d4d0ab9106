"""Compile what the searches and simulators call, before tests do: two processes at once, each kernel in one of them.

Left to the tests, each of their workers compiles all of it for itself.  Nothing is done twice: numba keeps the
code.  What fails here fails in tests, too, and they say why.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tilewright.cli.kernel_cache import GEMM, SEARCHES, WAIT

(PERFECT, IMPERFECT, REFINED), *OTHERS = (search.commands for search in SEARCHES.values())
DECODE = ("schedule", "gpt2_small_decode", "--tokens", "17", "--rounds", "2")
ON_MESH = ("run", GEMM, "--target", "conventional", "--platform", "noc")
SIMULATED = tuple(("run", GEMM, "--target", target) for target in ("edge16", "hvx", "vta"))
FIRST = (PERFECT, ON_MESH)
SECOND = (
    DECODE,
    (*DECODE, "--method", "soma", "--model", "soma"),
    ("explore", "vgg16"),
    *SIMULATED,
    *(command for commands in reversed(OTHERS) for command in commands),
    REFINED,
    IMPERFECT,
)
"""What the first process makes, most of the exact mapper, the second asks for last, and so reads."""


def run(commands: tuple[tuple[str, ...], ...]) -> None:
    """Run commands of `tilewright`."""
    from tilewright.cli import main

    for command in commands:
        main([*command, "--json"])


def start(name: str, folder: str) -> subprocess.Popen[bytes]:
    """This file in another process, for the commands `name`."""
    command = [sys.executable, str(Path(__file__).resolve()), name]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    os.environ[WAIT] = "wait"
    if sys.argv[1:]:
        run({"first": FIRST, "second": SECOND}[sys.argv[1]])
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        for process in [start("first", folder), start("second", folder)]:
            process.wait()
