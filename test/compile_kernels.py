"""Compile what the searches and simulators call, before tests do: two processes at once, each kernel in one of them.

Left to the tests, each of their workers compiles all of it for itself.  Nothing is done twice: numba keeps the
code.  What fails here fails in tests, too, and they say why.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
CONV = "O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]; k=8 c=8 p=8 q=8 r=3 s=3"
DECODE = ("gpt2_small_decode", "--tokens", "17", "--rounds", "2")
FIRST = (
    ("map", GEMM, "--target", "conventional", "--model", "timeloop"),
    ("map", CONV, "--target", "eyeriss_like", "--factors", "perfect", "--time-limit", "1"),
)
SECOND = (
    ("partition", "randwire_small", "--time-limit", "1"),
    ("explore", "vgg16"),
    ("schedule", *DECODE),
    ("schedule", *DECODE, "--method", "soma", "--model", "soma"),
    ("run", GEMM, "--target", "hvx"),
    ("map", CONV, "--target", "eyeriss_like", "--time-limit", "1"),
)


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
    if sys.argv[1:]:
        run({"first": FIRST, "second": SECOND}[sys.argv[1]])
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        for process in [start("first", folder), start("second", folder)]:
            process.wait()
