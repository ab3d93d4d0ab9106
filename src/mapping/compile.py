"""Compiling what a person names for machines whose programs are kernels of blocks of threads."""

from pathlib import Path

from ..driver import Progress
from ..errors import check_type
from .machines import find_architecture
from .pipeline import MapOptions
from .run import choose
from .threads import ThreadKernel, kernel_from


def compile_threads(
    kernel: str, target: str | Path, options: MapOptions | None = None, progress: Progress | None = None
) -> ThreadKernel:
    """Map a kernel (any that `map_kernel` takes), or take its mapping from a `.mlir` file, and write it for threads.

    Raises `TilewrightError` for what is no sum of products of types that the target multiplies.
    """
    check_type("model", kernel, str, "a kernel, the name of a layer, or a .mlir file")
    chosen = choose(kernel, target, find_architecture(target), options or MapOptions(), progress, simulated=False)
    return kernel_from(chosen.name, chosen.module, target, chosen.arch, chosen.problem, chosen.mapping)
