"""Compile what the searches and simulators call, before tests do: two processes at once, each kernel in one of them.

Left to the tests, each of their workers compiles all of it for itself.  Nothing is done twice: numba keeps the
code.  What fails here fails in tests, too, and they say why.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
CONV = "O[k,p] += I[c,p+r] * W[k,c,r]; k=4 c=4 p=8 r=3"
FIRST = (
    ("map", GEMM, "--target", "conventional", "--model", "timeloop"),
    ("map", CONV, "--target", "eyeriss_like", "--time-limit", "1"),
)
SECOND = (
    ("schedule", "gpt2_small_decode", "--tokens", "17", "--rounds", "2"),
    ("schedule", "gpt2_small_decode", "--tokens", "17", "--rounds", "2", "--model", "soma"),
    ("partition", "vgg16"),
    ("explore", "vgg16"),
    ("run", GEMM, "--target", "hvx"),
    ("map", GEMM, "--target", "eyeriss_like", "--factors", "perfect"),
)


def run(commands: tuple[tuple[str, ...], ...]) -> int:
    """Run commands of `tilewright`; the number of those that failed."""
    from tilewright.cli import main

    return sum(main([*command, "--json"]) != 0 for command in commands)


def start(name: str, folder: str) -> subprocess.Popen[bytes]:
    """This file in another process, for the commands `name`."""
    command = [sys.executable, str(Path(__file__).resolve()), name]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(run({"first": FIRST, "second": SECOND}[sys.argv[1]]))
    with tempfile.TemporaryDirectory() as folder:
        for process in [start("first", folder), start("second", folder)]:
            process.wait()
