"""Kernels of OpenCL C on the devices that pyopencl finds, such as the processor itself by PoCL."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import TilewrightError
from .kernel_run import KernelRun

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
