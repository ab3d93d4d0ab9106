"""Kernels of `gpu_h100` on a GPU, timed against cuBLAS and cuDNN through PyTorch.

    python bench/gpu_speed.py                         products and convolutions in f32 and f16
    python bench/gpu_speed.py --method cosa --time-limit 1

A kernel is compiled by NVRTC for the GPU that there is, its machine code is loaded and launched by the CUDA driver on
PyTorch's own tensors, and its output is compared with PyTorch's.  A time is the median of `--repeat` launches, between
events of the device.  Without PyTorch, a GPU or NVRTC the script says what is missing and ends.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from statistics import median
from typing import Any

from tilewright.backends.gpu.nvrtc import missing_package, resource_use
from tilewright.mapping import MapOptions, ThreadKernel, compile_threads

F32, F16 = dict.fromkeys("ABO", "f32"), dict.fromkeys("ABO", "f16")
PRODUCT = "O[m,n] += A[m,k] * B[k,n]"
CONV = "O[n,k,p,q] += A[n,c,p+r,q+s] * B[k,c,r,s]"
CASES = [
    *((f"{PRODUCT}; m={n} n={n} k={n}", types) for n in (512, 1024, 2048) for types in (F32, F16)),
    (f"{PRODUCT}; m=128 n=3072 k=768", F16),
    (f"{CONV}; n=1 k=64 c=64 p=56 q=56 r=3 s=3", F32),
    (f"{CONV}; n=8 k=128 c=128 p=28 q=28 r=3 s=3", F16),
    (f"{CONV}; n=8 k=512 c=256 p=14 q=14 r=1 s=1", F16),
]


def missing() -> str | None:
    """What there is not, or None."""
    if find_spec("torch") is None:
        return "PyTorch"
    import torch  # pyright: ignore[reportMissingImports]

    if not torch.cuda.is_available():
        return "a GPU that PyTorch sees"
    return missing_package(architecture(torch))


def architecture(torch: Any) -> int:
    """The GPU's architecture: 90 for sm_90."""
    major, minor = torch.cuda.get_device_capability()
    return 10 * major + minor


class Launcher:
    """A kernel that is loaded on the device of PyTorch's current context."""

    def __init__(self, kernel: ThreadKernel, code: bytes) -> None:
        self._kernel = kernel
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._driver.cuModuleLoadData(ctypes.byref(self._module), code))
        name = kernel.entry.encode()
        self._check(self._driver.cuModuleGetFunction(ctypes.byref(self._function), self._module, name))

    def _check(self, status: int) -> None:
        if status:
            raise SystemExit(f"the CUDA driver answers {status}")

    def __call__(self, stream: int, *pointers: int) -> None:
        """Launch on a stream, with the addresses of the inputs and of the output."""
        values = [ctypes.c_void_p(pointer) for pointer in pointers]
        array = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        plan = self._kernel.plan
        grid = plan.blocks, 1, 1, plan.block_size, 1, 1, 0
        self._check(self._driver.cuLaunchKernel(self._function, *grid, ctypes.c_void_p(stream), array, None))


def seconds(torch: Any, work: Callable[[], object], repeat: int) -> float:
    """The median time of some work on the device."""
    for _ in range(3):
        work()
    found: list[float] = []
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return median(found)


def compared(torch: Any, text: str, types: dict[str, str], options: MapOptions, repeat: int) -> str:
    """A line of the table: time, rate, and PyTorch's."""
    kernel = compile_threads(text, "gpu_h100", replace(options, types=types))
    use = resource_use(kernel.cuda, kernel.entry, architecture(torch))
    launcher = Launcher(kernel, use.code)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    dtype = torch.float16 if types["A"] == "f16" else torch.float32
    torch.manual_seed(0)
    a, b = (torch.randn(x.shape, device="cuda", dtype=dtype) for x in kernel.plan.inputs)
    ours = torch.zeros(kernel.plan.output.shape, device="cuda", dtype=dtype)
    stream = torch.cuda.current_stream().cuda_stream
    peer = (lambda: a @ b) if a.ndim == 2 else (lambda: torch.nn.functional.conv2d(a, b))
    launcher(stream, a.data_ptr(), b.data_ptr(), ours.data_ptr())
    theirs = peer()
    error = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    own = seconds(torch, lambda: launcher(stream, a.data_ptr(), b.data_ptr(), ours.data_ptr()), repeat)
    other = seconds(torch, peer, repeat)
    rate = 2e-12 * kernel.problem.macs
    predicted = kernel.prices.cycles / kernel.machine.frequency_hz
    cells = (
        text,
        types["A"],
        f"{1e6 * own:.1f}",
        f"{rate / own:.2f}",
        f"{1e6 * other:.1f}",
        f"{rate / other:.2f}",
        f"{own / other:.2f}",
        f"{1e6 * predicted:.1f}",
        use.registers,
        use.spilled_bytes,
        f"{error:.1e}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Print the table, or what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="exact")
    parser.add_argument("--time-limit", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=50)
    arguments = parser.parse_args()
    if (lacking := missing()) is not None:
        print(f"nothing timed: no {lacking}")
        return 0
    import torch  # pyright: ignore[reportMissingImports]

    head = "kernel", "types", "us", "TFLOP/s", "PyTorch, us", "TFLOP/s", "ratio", "predicted us", "registers"
    head = (*head, "spilled B", "error")
    print(f"{torch.cuda.get_device_name()}\n\n| {' | '.join(head)} |\n|---|---|{'--:|' * (len(head) - 2)}")
    options = MapOptions(mapper=arguments.method, time_limit_s=arguments.time_limit)
    for text, types in CASES:
        print(compared(torch, text, types, options, arguments.repeat), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
