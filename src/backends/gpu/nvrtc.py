"""NVIDIA's compiler for CUDA C from its wheels: kernels become machine code, which says what a thread and a block take.

The libraries are found in the packages `nvidia-cuda-nvrtc-cu11` (11.8 knows architectures from the K80's to the
H100's), `nvidia-cuda-nvrtc-cu12` and `nvidia-cuda-nvrtc` (13); neither a GPU nor a driver is needed.
"""

import ctypes
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...errors import TilewrightError


@dataclass(frozen=True)
class Release:
    """A release of the compiler: its package, the first and the last architecture that it knows, options for it."""

    version: int
    package: str
    first: int
    last: int
    options: tuple[bytes, ...] = ()


RELEASES = (
    Release(12, "nvidia-cuda-nvrtc-cu12", 50, 121),
    Release(13, "nvidia-cuda-nvrtc", 75, 121, (b"--no-cache",)),
    Release(11, "nvidia-cuda-nvrtc-cu11", 35, 90),
)
"""In order of preference.  Release 13 has a cache, and no report for what comes from there."""


@dataclass(frozen=True)
class ResourceUse:
    """What the compiler says a kernel takes: registers and spilled bytes per thread, bytes of shared memory per block.

    `code` is the machine code, an ELF file.
    """

    registers: int
    shared_bytes: int
    spilled_bytes: int
    code: bytes


def missing_package(architecture: int) -> str | None:
    """The package to install before kernels can be compiled for an architecture (`90` for sm_90), or None."""
    release = _release(architecture)
    return None if _library_path(release.version) else release.package


def resource_use(source: str, name: str, architecture: int) -> ResourceUse:
    """Compile the kernel `name` of a source of CUDA C for an architecture.

    Raises `TilewrightError` (kind `tool`) where the compiler is missing or refuses.
    """
    if missing := missing_package(architecture):
        raise TilewrightError("tool", "nvrtc", f"a compiler for sm_{architecture}", "none", f"pip install {missing}")
    release = _release(architecture)
    library = _library(release.version)
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        options = [f"--gpu-architecture=sm_{architecture}".encode(), b"--ptxas-options=-v", *release.options]
        array = (ctypes.c_char_p * len(options))(*options)
        with _kept_locale():
            status = library.nvrtcCompileProgram(program, len(options), array)
        log = _bytes(library, program, "ProgramLog").rstrip(b"\x00").decode(errors="replace")
        if status:
            raise TilewrightError("tool", "nvrtc", "a kernel that compiles", "; ".join(log.splitlines()[:3]))
        return _measured(_bytes(library, program, "CUBIN"), name, log)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@contextmanager
def _kept_locale() -> Generator[None]:
    """The thread's locale as it was before: the compiler leaves one behind in which files are ASCII."""
    libc = ctypes.CDLL(None)
    libc.uselocale.restype, libc.uselocale.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    before = libc.uselocale(None)
    try:
        yield
    finally:
        libc.uselocale(before)


def _release(architecture: int) -> Release:
    """The first release that knows an architecture and is installed; the first that knows it if none is."""
    known = [release for release in RELEASES if release.first <= architecture <= release.last]
    if not known:
        raise TilewrightError("tool", "nvrtc", "an architecture from sm_35 to sm_121", f"sm_{architecture}")
    return next((release for release in known if _library_path(release.version)), known[0])


@cache
def _library_path(version: int) -> Path | None:
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for path in sorted(Path(folder).glob(f"*/lib/libnvrtc.so.{version}*")):
            return path
    return None


@cache
def _library(version: int) -> ctypes.CDLL:
    path = _library_path(version)
    assert path is not None
    for builtins in path.parent.glob(f"libnvrtc-builtins.so.{version}*"):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(path))


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise TilewrightError("tool", "nvrtc", "success", library.nvrtcGetErrorString(status).decode())


def _bytes(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def _measured(code: bytes, name: str, log: str) -> ResourceUse:
    """What the assembler's lines in the log say; a kernel without shared memory has no such word."""
    registers, shared = re.search(r"Used (\d+) registers", log), re.search(r"(\d+) bytes smem", log)
    if registers is None:
        raise TilewrightError("tool", "nvrtc", f"registers of {name}", log[-200:])
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", log)))
    return ResourceUse(int(registers.group(1)), int(shared.group(1)) if shared else 0, spilled, code)
