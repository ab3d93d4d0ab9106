"""Kernels of `gpu_h100` on a GPU, timed against cuBLAS and cuDNN through PyTorch.

    python bench/gpu_speed.py                         products and convolutions in f32 and f16
    python bench/gpu_speed.py --method cosa --time-limit 1

A kernel is compiled by NVRTC for the GPU that there is, its machine code is loaded and launched by the CUDA driver on
PyTorch's own tensors, and its output is compared with PyTorch's.  A time is a tenth of the median of `--repeat` replays
of a graph of 10 launches, between events of the device: what the host spends on a launch is in neither.  Without
PyTorch, a GPU or NVRTC the script says what is missing and ends.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from statistics import median
from typing import Any

from tilewright.backends.gpu.devices import gpu_architecture
from tilewright.backends.gpu.nvrtc import missing_package
from tilewright.mapping import MapOptions, compile_threads

F32, F16 = dict.fromkeys("ABO", "f32"), dict.fromkeys("ABO", "f16")
PRODUCT = "O[m,n] += A[m,k] * B[k,n]"
CONV = "O[n,k,p,q] += A[n,c,p+r,q+s] * B[k,c,r,s]"
LAUNCHES = 10
"""In a graph."""

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
    if (architecture := gpu_architecture()) is None:
        return "a GPU of NVIDIA's"
    return missing_package(architecture)


def seconds(torch: Any, work: Callable[[], object], repeat: int) -> float:
    """The median time of some work on the device."""
    for _ in range(3):
        work()
    graph, found = torch.cuda.CUDAGraph(), list[float]()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            work()
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / (1e3 * LAUNCHES))
    return median(found)


def compared(torch: Any, architecture: int, text: str, types: dict[str, str], options: MapOptions, repeat: int) -> str:
    """A line of the table: time, rate, and PyTorch's."""
    kernel = compile_threads(text, "gpu_h100", replace(options, types=types))
    use = kernel.resource_use(architecture)
    loaded = kernel.loaded(use.code)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    dtype = torch.float16 if types["A"] == "f16" else torch.float32
    torch.manual_seed(0)
    a, b = (torch.randn(x.shape, device="cuda", dtype=dtype) for x in kernel.plan.inputs)
    ours = torch.zeros(kernel.plan.output.shape, device="cuda", dtype=dtype)
    addresses = a.data_ptr(), b.data_ptr(), ours.data_ptr()
    peer = (lambda: a @ b) if a.ndim == 2 else (lambda: torch.nn.functional.conv2d(a, b))

    def launch() -> None:
        loaded.launch(addresses, torch.cuda.current_stream().cuda_stream)

    launch()
    theirs = peer()
    error = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    own = seconds(torch, launch, repeat)
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
    architecture = gpu_architecture()
    assert architecture is not None
    options = MapOptions(mapper=arguments.method, time_limit_s=arguments.time_limit)
    for text, types in CASES:
        print(compared(torch, architecture, text, types, options, arguments.repeat), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
