"""NVIDIA's compiler for CUDA C from its wheels: kernels become machine code, which says what a thread and a block take.

The libraries are found in the packages `nvidia-cuda-nvrtc-cu11` (11.8 knows architectures from the K80's to the H100's)
and `nvidia-cuda-nvrtc-cu12`; neither a GPU nor a driver is needed.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...errors import TilewrightError

PACKAGES = {11: "nvidia-cuda-nvrtc-cu11", 12: "nvidia-cuda-nvrtc-cu12"}
LAST_OF_11 = 50
"""Architectures before this one are no longer in version 12."""

LATEST_OF_11 = 90
"""The last architecture that version 11.8 knows."""


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
    version = _version(architecture)
    return None if _library_path(version) else PACKAGES[version]


def resource_use(source: str, name: str, architecture: int) -> ResourceUse:
    """Compile the kernel `name` of a source of CUDA C for an architecture.

    Raises `TilewrightError` (kind `tool`) where the compiler is missing or refuses.
    """
    if missing := missing_package(architecture):
        raise TilewrightError("tool", "nvrtc", f"a compiler for sm_{architecture}", "none", f"pip install {missing}")
    library = _library(_version(architecture))
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        options = [f"--gpu-architecture=sm_{architecture}".encode(), b"--ptxas-options=-v"]
        array = (ctypes.c_char_p * len(options))(*options)
        with _kept_locale():
            status = library.nvrtcCompileProgram(program, len(options), array)
        log = _text(library, program, "ProgramLog")
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


def _version(architecture: int) -> int:
    if architecture < LAST_OF_11:
        return 11
    return 11 if architecture <= LATEST_OF_11 and _library_path(11) and not _library_path(12) else 12


@cache
def _library_path(version: int) -> Path | None:
    spec = find_spec("nvidia.cuda_nvrtc") if find_spec("nvidia") else None
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for path in sorted((Path(folder) / "lib").glob(f"libnvrtc.so.{version}*")):
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


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    return _bytes(library, program, what).rstrip(b"\0").decode(errors="replace")


def _measured(code: bytes, name: str, log: str) -> ResourceUse:
    """What the assembler's lines in the log say; a kernel without shared memory has no such word."""
    registers, shared = re.search(r"Used (\d+) registers", log), re.search(r"(\d+) bytes smem", log)
    if registers is None:
        raise TilewrightError("tool", "nvrtc", f"registers of {name}", log[-200:])
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", log)))
    return ResourceUse(int(registers.group(1)), int(shared.group(1)) if shared else 0, spilled, code.rstrip(b"\0"))
