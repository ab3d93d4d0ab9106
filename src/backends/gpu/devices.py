"""What a kernel of threads gives on a device: NVIDIA's driver, or OpenCL on those that pyopencl finds."""

import ctypes
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...algebra.element import Array
from ...errors import TilewrightError


@dataclass(frozen=True)
class KernelRun:
    """The output of a kernel, and the device that it ran on."""

    device: str
    output: Array


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


INSTALL = "pip install 'tilewright[gpu]'"


def missing_opencl() -> str | None:
    """What is missing before kernels can run: the package, or a device; None if nothing is."""
    if find_spec("pyopencl") is None:
        return "pyopencl"
    return None if _device() is not None else "an OpenCL device"


def _device() -> Any:
    import pyopencl

    try:
        platforms = pyopencl.get_platforms()
    except pyopencl.LogicError:  # no platform is what the loader calls an error
        return None
    devices = [device for platform in platforms for device in platform.get_devices()]
    return devices[0] if devices else None


def run_opencl(source: str, name: str, inputs: Sequence[Array], output: Array, blocks: int, threads: int) -> KernelRun:
    """Run the kernel `name` of a source on `inputs` and a copy of `output`, with so many blocks of so many threads.

    Raises `TilewrightError` (kind `tool`) where there is no device, or where it refuses the kernel.
    """
    if missing := missing_opencl():
        raise TilewrightError("tool", "OpenCL", "a device and pyopencl", f"no {missing}", INSTALL)
    import pyopencl

    device = _device()
    try:
        context = pyopencl.Context([device])
        queue = pyopencl.CommandQueue(context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the device's compiler remarks
            program = pyopencl.Program(context, source).build(options=_options(pyopencl, device))
        flags = pyopencl.mem_flags
        read = [_buffer(pyopencl, context, array, flags.READ_ONLY) for array in inputs]
        written = _buffer(pyopencl, context, output, flags.READ_WRITE)
        pyopencl.Kernel(program, name)(queue, (blocks * threads,), (threads,), *read, written)
        found = np.empty(output.shape, output.dtype)
        pyopencl.enqueue_copy(queue, found, written)
        queue.finish()
    except pyopencl.Error as error:
        raise TilewrightError("tool", device.name.strip(), f"a run of {name}", str(error)[:400]) from None
    return KernelRun(device.name.strip(), found)


def _options(pyopencl: Any, device: Any) -> list[str]:
    """A processor checks what kernels compute, not how fast: it compiles them several times faster like this."""
    return ["-cl-opt-disable"] if device.type & pyopencl.device_type.CPU else []


def _buffer(pyopencl: Any, context: Any, array: Array, access: int) -> Any:
    return pyopencl.Buffer(context, access | pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(array))
