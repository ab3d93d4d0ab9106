"""Machine code on the first GPU that NVIDIA's driver knows, by the driver's own interface."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from ...arrays import Array
from ...errors import TilewrightError
from .kernel_run import KernelRun

COMPUTE_CAPABILITY = 75, 76
"""The driver's numbers of the attributes that give an architecture: its first digits, and its last."""


@cache
def _driver() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


@cache
def gpu_architecture() -> int | None:
    """The architecture of the first GPU (`90` for sm_90), whose context is made the thread's; None without one."""
    driver, context, digits = _driver(), ctypes.c_void_p(), [ctypes.c_int(), ctypes.c_int()]
    if driver is None or driver.cuInit(0) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0):
        return None
    _check(driver.cuCtxSetCurrent(context))
    for attribute, digit in zip(COMPUTE_CAPABILITY, digits, strict=True):
        _check(driver.cuDeviceGetAttribute(ctypes.byref(digit), attribute, 0))
    return 10 * digits[0].value + digits[1].value


def _present() -> ctypes.CDLL:
    if (driver := _driver()) is None:
        raise TilewrightError("tool", "CUDA driver", "libcuda.so.1", "none", "install NVIDIA's driver")
    return driver


class LoadedKernel:
    """The kernel `name` of machine code, loaded on the GPU; launched with so many blocks of so many threads.

    Raises `TilewrightError` (kind `tool`) where the driver refuses the code, or later a launch.
    """

    def __init__(self, code: bytes, name: str, blocks: int, threads: int) -> None:
        self._driver = _present()
        self._grid = blocks, 1, 1, threads, 1, 1, 0
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        _check(self._driver.cuModuleLoadData(ctypes.byref(self._module), code))
        _check(self._driver.cuModuleGetFunction(ctypes.byref(self._function), self._module, name.encode()))

    def launch(self, addresses: Sequence[int], stream: int = 0) -> None:
        """Launch on a stream with the addresses of the inputs and of the output in the GPU's memory."""
        values = [ctypes.c_void_p(address) for address in addresses]
        array = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        _check(self._driver.cuLaunchKernel(self._function, *self._grid, ctypes.c_void_p(stream), array, None))


def run_cuda(kernel: LoadedKernel, inputs: Sequence[Array], output: Array) -> KernelRun:
    """The output of a kernel for `inputs` and a copy of `output`; errors as for `LoadedKernel`."""
    driver = _present()
    buffers: list[ctypes.c_uint64] = []
    try:
        for array in (*inputs, output):
            values = np.ascontiguousarray(array)
            buffers.append(ctypes.c_uint64())
            _check(driver.cuMemAlloc_v2(ctypes.byref(buffers[-1]), ctypes.c_size_t(max(values.nbytes, 1))))
            size, source = ctypes.c_size_t(values.nbytes), ctypes.c_void_p(values.ctypes.data)
            _check(driver.cuMemcpyHtoD_v2(buffers[-1], source, size))
        kernel.launch([buffer.value for buffer in buffers])
        _check(driver.cuCtxSynchronize())
        found = np.empty(output.shape, output.dtype)
        target = ctypes.c_void_p(found.ctypes.data)
        _check(driver.cuMemcpyDtoH_v2(target, buffers[-1], ctypes.c_size_t(found.nbytes)))
    finally:
        for buffer in buffers:
            driver.cuMemFree_v2(buffer)
    return KernelRun(_device_name(), found)


def _device_name() -> str:
    text = ctypes.create_string_buffer(256)
    _check(_present().cuDeviceGetName(text, len(text), 0))
    return text.value.decode(errors="replace")


def _check(status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        _present().cuGetErrorName(status, ctypes.byref(text))
        raise TilewrightError("tool", "CUDA driver", "success", (text.value or str(status).encode()).decode())
