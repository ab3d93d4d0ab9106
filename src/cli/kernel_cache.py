"""First answers where the kernels of a search are not compiled yet.

numba compiles the kernels of `map` in about 100 seconds of processor time and keeps the code beside the source, or
in its folder of the user.  Until that is there a command runs the same functions as plain Python: some hundred times
slower, with the same prices, bounds and proofs, so what differs is how far a search comes in its time.  Meanwhile a
process of low priority compiles what the command would call.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..costs.kernel_sources import version

FIRST_ANSWER_S = 6.0
"""Processor seconds of a search by interpreted kernels where no limit is given."""

WAIT = "TILEWRIGHT_KERNELS"
"""An environment variable: `wait` compiles kernels before the first answer."""

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
CONV = "O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]; k=8 c=8 p=8 q=8 r=3 s=3"
SMALL = ("map", CONV, "--target", "eyeriss_like", "--time-limit", "1")
PRICES, ANNEAL = "costs/exact/batch_kernel.price_all", "search/mapping/refine/anneal.anneal"


class Search(NamedTuple):
    """A search: the `kernels` that take long to compile, and `commands` that call, and so compile, all that it does."""

    kernels: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


SEARCHES: dict[str, Search] = {
    "exact mapper": Search(
        ("search/mapping/exact/tree/walk.walk", PRICES, ANNEAL),
        ((*SMALL, "--factors", "perfect"), SMALL, (*SMALL, "--method", "refine")),
    ),
    "exact mapper of Timeloop's model": Search(
        ("search/mapping/exact/tree/walk.walk", "costs/timeloop/batch_kernel.price_all", ANNEAL),
        ((*SMALL, "--model", "timeloop"), (*SMALL, "--model", "timeloop", "--method", "refine")),
    ),
    "refine mapper": Search((PRICES, ANNEAL), ((*SMALL, "--method", "refine"),)),
    "cost model": Search((PRICES,), ((*SMALL, "--method", "sunstone"),)),
    "search for partitions": Search(
        ("costs/fusion/price.price_groups",), (("partition", "randwire_small", "--time-limit", "1"),)
    ),
}

PACKAGE = Path(__file__).parents[1]
PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"
"""The version of Python in names of kept code."""


def is_compiled(kernel: str) -> bool:
    """Whether code of a kernel, `search/mapping/exact/tree/walk.walk`, was kept after its files were last edited.

    Code for another version of Python does not count.
    """
    name, function = kernel.rsplit(".", 1)
    source = PACKAGE / f"{name}.py"
    given = os.environ.get("NUMBA_CACHE_DIR")
    index = f"{source.stem}.{function}-*.{PYTHON}.nbi"
    if given:  # numba reads no other folder then
        found = [*Path(given).glob(f"*/{index}")]
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
        found = [*source.parent.glob(f"__pycache__/{index}"), *user.glob(f"*/{index}")]
    edited = version(source).newest
    return any(path.stat().st_mtime_ns >= edited for path in found)


def interpret_first(search: str) -> str | None:
    """Have a search interpreted by this process, and compiled by another, unless that is done; what to tell.

    Nothing is done where numba is at work already, or where the environment says so.
    """
    if all(map(is_compiled, SEARCHES[search].kernels)) or "numba" in sys.modules or os.environ.get(WAIT) == "wait":
        return None
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # for the processes that this one starts, too
    environment = {**os.environ, WAIT: "wait"}
    del environment["NUMBA_DISABLE_JIT"]
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", __spec__.name, search],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    return f"a first answer: the {search} is being compiled (minutes, once), and comes further when that is done"


def compile_kernels(search: str) -> None:
    """Compile the kernels of a search, unless another process is at it."""
    import fcntl

    from . import main

    name = f"tilewright-{os.getuid()}-{list(SEARCHES).index(search)}.lock"
    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(Path(tempfile.gettempdir()) / name, flags, 0o600)
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.nice(10)
        for arguments in SEARCHES[search].commands:
            main([*arguments, "--json"])


if __name__ == "__main__":
    compile_kernels(sys.argv[1])
