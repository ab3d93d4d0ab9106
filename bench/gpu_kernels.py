"""36 kernels on machines of threads: what a device computes, and what NVIDIA's compiler says they take.

    python bench/gpu_kernels.py                       both machines, mapped by CoSA's search and by the exact one
    python bench/gpu_kernels.py --targets gpu_k80 --method cosa --kernels 6

The device is a GPU of NVIDIA's where there is one, else one of OpenCL.  For each kernel: processor seconds until its
text is there, whether the device's output equals NumPy's (floats: agrees within the tolerance of their type), bytes of
shared memory by the plan and by the compiler, registers of a thread by the compiler and the most that its block may
have, and bytes that it spills.  Parts for which something is not installed are left out, and the table says so.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import compare, make_inputs
from tilewright.backends.gpu.devices import INSTALL
from tilewright.backends.gpu.nvrtc import missing_package
from tilewright.driver import load_model, reference
from tilewright.frontends.einsum import einsum_module
from tilewright.mapping import MapOptions, ThreadKernel, compile_threads
from tilewright.mapping.threads import missing_device

ARCHITECTURES = {"gpu_k80": 37, "gpu_h100": 90}
REGISTERS, MOST = 65536, 255
"""Registers of a block, and of a thread, at most, on both."""

I8, U8 = {"A": "i8", "B": "i8", "O": "i32"}, {"A": "u8", "B": "i8", "O": "i32"}
F16, MIXED = {"A": "f16", "B": "f16", "O": "f16"}, {"A": "f16", "B": "f16", "O": "f32"}
F32 = dict.fromkeys("ABO", "f32")
PRODUCT = "O[m,n] += A[m,k] * B[k,n]"
CONV = "O[n,k,p,q] += A[n,c,p+r,q+s] * B[k,c,r,s]"
HALVED = CONV.replace("p+r", "2*p+r").replace("q+s", "2*q+s")
DEPTHWISE = "O[c,p,q] += A[c,p+r,q+s] * B[c,r,s]"

KERNELS: dict[str, tuple[str, dict[str, str]]] = {
    "product 64": (f"{PRODUCT}; m=64 n=64 k=64", I8),
    "product 128, f32": (f"{PRODUCT}; m=128 n=128 k=128", F32),
    "product 128, f16": (f"{PRODUCT}; m=128 n=128 k=128", F16),
    "product 96x160x72": (f"{PRODUCT}; m=96 n=160 k=72", I8),
    "product of primes": (f"{PRODUCT}; m=127 n=97 k=61", I8),
    "product of primes, f16 to f32": (f"{PRODUCT}; m=127 n=97 k=61", MIXED),
    "product, u8": (f"{PRODUCT}; m=50 n=70 k=30", U8),
    "product, i32": (f"{PRODUCT}; m=50 n=70 k=30", dict.fromkeys("ABO", "i32")),
    "product, transposed": ("O[m,n] += A[k,m] * B[n,k]; m=64 n=48 k=80", I8),
    "product, batched": ("O[h,m,n] += A[h,m,k] * B[h,n,k]; h=12 m=32 n=32 k=64", F32),
    "matrix by vector": ("O[m] += A[m,k] * B[k]; m=1000 k=512", I8),
    "fully connected, one sample": (f"{PRODUCT}; m=1 n=1000 k=512", F16),
    "conv 1x1": (f"{CONV}; n=1 k=64 c=32 p=14 q=14 r=1 s=1", I8),
    "conv 3x3": (f"{CONV}; n=1 k=32 c=16 p=14 q=14 r=3 s=3", I8),
    "conv 3x3, f32": (f"{CONV}; n=1 k=32 c=16 p=14 q=14 r=3 s=3", F32),
    "conv 3x3, f16": (f"{CONV}; n=2 k=16 c=16 p=7 q=7 r=3 s=3", F16),
    "conv 3x3, stride 2": (f"{HALVED}; n=1 k=32 c=16 p=13 q=13 r=3 s=3", I8),
    "conv 7x7, stride 2": (f"{HALVED}; n=1 k=16 c=3 p=28 q=28 r=7 s=7", I8),
    "conv 5x5": (f"{CONV}; n=1 k=12 c=10 p=13 q=13 r=5 s=5", I8),
    "conv 3x3, dilation 2": ("O[k,p,q] += A[c,p+2*r,q+2*s] * B[k,c,r,s]; k=16 c=16 p=14 q=14 r=3 s=3", I8),
    "conv 1x7": ("O[k,p,q] += A[c,p,q+s] * B[k,c,s]; k=24 c=24 p=12 q=12 s=7", I8),
    "conv, 4 groups": ("O[8*g+k,p,q] += A[4*g+c,p+r,q+s] * B[8*g+k,c,r,s]; g=4 k=8 c=4 p=14 q=14 r=3 s=3", I8),
    "conv, 32 groups": ("O[4*g+k,p,q] += A[4*g+c,p+r,q+s] * B[4*g+k,c,r,s]; g=32 k=4 c=4 p=7 q=7 r=3 s=3", I8),
    "depthwise 3x3": (f"{DEPTHWISE}; c=96 p=14 q=14 r=3 s=3", I8),
    "depthwise 5x5, f32": (f"{DEPTHWISE}; c=48 p=14 q=14 r=5 s=5", F32),
    "depthwise 3x3, stride 2": ("O[c,p,q] += A[c,2*p+r,2*q+s] * B[c,r,s]; c=96 p=7 q=7 r=3 s=3", I8),
    "conv in time": ("O[n,k,p] += A[n,c,p+r] * B[k,c,r]; n=2 k=40 c=40 p=50 r=3", I8),
    "product 512x256x300, f16": (f"{PRODUCT}; m=512 n=256 k=300", F16),
    "product, transposed, f16 to f32": ("O[m,n] += A[k,m] * B[n,k]; m=100 n=200 k=150", MIXED),
    "product, batched, f16": ("O[h,m,n] += A[h,m,k] * B[h,n,k]; h=4 m=64 n=64 k=64", F16),
    "conv 1x1, f16": (f"{CONV}; n=4 k=64 c=64 p=14 q=14 r=1 s=1", F16),
    "conv 3x3, stride 2, f16": (f"{HALVED}; n=2 k=64 c=32 p=14 q=14 r=3 s=3", F16),
    "conv, 3 groups, f16 to f32": (
        "O[40*g+k,p,q] += A[20*g+c,p+r,q] * B[40*g+k,c,r]; g=3 k=40 c=20 p=16 q=12 r=3",
        MIXED,
    ),
    "conv 3x3, padding": ("O[n,k,p,q] += A[n,c,p+r-1,q+s-1] * B[k,c,r,s]; n=1 k=32 c=16 p=14 q=14 r=3 s=3", I8),
    "conv 3x3, stride 2, padding": (
        "O[n,k,p,q] += A[n,c,2*p+r-1,2*q+s-1] * B[k,c,r,s]; n=1 k=32 c=16 p=7 q=7 r=3 s=3",
        I8,
    ),
    "depthwise 3x3, padding": ("O[c,p,q] += A[c,p+r-1,q+s-1] * B[c,r,s]; c=64 p=14 q=14 r=3 s=3", I8),
}
SHAPES = {
    "conv 3x3, padding": ((1, 16, 14, 14), (32, 16, 3, 3), (1, 32, 14, 14)),
    "conv 3x3, stride 2, padding": ((1, 16, 14, 14), (32, 16, 3, 3), (1, 32, 7, 7)),
    "depthwise 3x3, padding": ((64, 14, 14), (64, 3, 3), (64, 14, 14)),
}
"""Of the operands and the result where padding surrounds the first one."""


@dataclass(frozen=True)
class Row:
    """What was found of a kernel on a machine; None for what could not be asked."""

    name: str
    target: str
    cpu_s: float
    kernel: ThreadKernel
    agrees: bool | None
    equal: bool | None
    registers: int | None
    shared_bytes: int | None
    spilled_bytes: int | None

    @property
    def bound(self) -> int:
        """Registers that a thread of such a block may have."""
        warps = -(-self.kernel.plan.block_size // 32)
        return min(MOST, REGISTERS // (32 * warps) // 8 * 8)

    @property
    def good(self) -> bool:
        """Whether nothing that could be asked is other than it should be."""
        fits = self.registers is None or self.registers <= self.bound
        return self.agrees is not False and fits and self.shared_bytes in (None, self.kernel.plan.shared_bytes)


def padded_module(name: str, folder: Path) -> str:
    """The file of a convolution whose window reads zeros around its input."""
    text, types = KERNELS[name]
    statement, bounds = text.split("; ")
    kinds = [
        f"tensor<{'x'.join(map(str, shape))}x{'s' if types[x] == 'i8' else ''}{types[x]}>"
        for x, shape in zip("ABO", SHAPES[name], strict=True)
    ]
    path = folder / f"{name.replace(' ', '_').replace(',', '')}.mlir"
    path.write_text(
        f"func.func @main(%A: {kinds[0]}, %B: {kinds[1]}) -> {kinds[2]} "
        'attributes {graph.inputs = ["A", "B"], graph.outputs = ["O"]} {\n'
        f"  %o = nest.group @conv dims {{{bounds.replace(' ', ', ').replace('=', ' = ')}}} ins(A = %A, B = %B)"
        f" -> {kinds[2]} {{\n  ^bb0(%a: {kinds[0]}, %b: {kinds[1]}):\n"
        f'    %0 = nest.kernel @O "{statement}" (A = %a, B = %b) pad {{A = 0}}\n'
        f"      : ({kinds[0]}, {kinds[1]}) -> {kinds[2]}\n"
        f"    nest.yield %0 : {kinds[2]}\n  }}\n  func.return %o : {kinds[2]}\n}}\n"
    )
    return str(path)


def expected_of(kernel: ThreadKernel, module: ModuleOp) -> tuple[dict[str, Any], Any]:
    """Made inputs, and what NumPy computes of them."""
    arguments = kernel.launch["arguments"][:-1]
    inputs = make_inputs({a["name"]: (tuple(a["shape"]), np.dtype(a["dtype"])) for a in arguments}, 0)
    (expected,) = reference(module, inputs).values()
    return inputs, expected


def row_of(name: str, target: str, options: MapOptions, folder: Path) -> Row:
    """Map a kernel, run it, and compile it."""
    text, types = KERNELS[name]
    padded = name in SHAPES
    start = time.process_time()
    kernel = compile_threads(
        padded_module(name, folder) if padded else text, target, options_with(options, types, padded)
    )
    spent = time.process_time() - start
    agrees = equal = None
    if missing_device() is None:
        module = load_model(Path(padded_module(name, folder))) if padded else einsum_module(text, types)
        inputs, expected = expected_of(kernel, module)
        found = compare({"O": kernel.run(inputs).output}, {"O": expected})
        agrees, equal = found.agrees, found.equal
    use = None
    if missing_package(ARCHITECTURES[target]) is None:
        use = kernel.resource_use(ARCHITECTURES[target])
    counts = (None,) * 3 if use is None else (use.registers, use.shared_bytes, use.spilled_bytes)
    return Row(name, target, spent, kernel, agrees, equal, *counts)


def options_with(options: MapOptions, types: dict[str, str], padded: bool) -> MapOptions:
    """The options with element types, which files have themselves."""
    return MapOptions(mapper=options.mapper, time_limit_s=options.time_limit_s, types=None if padded else types)


def shown(row: Row) -> str:
    """A line of the table."""
    verdict = {True: "equal", False: "agrees" if row.agrees else "DIFFERS", None: "-"}[row.equal]
    shared = f"{row.kernel.plan.shared_bytes}, {'-' if row.shared_bytes is None else row.shared_bytes}"
    registers = f"{'-' if row.registers is None else row.registers} of {row.bound}"
    spilled = "-" if row.spilled_bytes is None else row.spilled_bytes
    blocks = f"{row.kernel.plan.blocks} x {row.kernel.plan.block_size}"
    cells = (row.name, row.target, f"{row.cpu_s:.2f}", blocks, verdict, shared, registers, spilled)
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Print the table; 1 if a kernel differs, or takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default=",".join(ARCHITECTURES))
    parser.add_argument("--method", default="exact")
    parser.add_argument("--time-limit", type=float, help="CPU seconds of a search (default: that of `compile`)")
    parser.add_argument("--kernels", type=int, default=len(KERNELS), help="so many of the list (default: all)")
    arguments = parser.parse_args()
    for missing in filter(None, (missing_device(), *map(missing_package, ARCHITECTURES.values()))):
        print(f"not installed: {missing}; {INSTALL}")
    head = (
        "kernel",
        "machine",
        "CPU s",
        "blocks x threads",
        "output",
        "shared B: plan, compiler",
        "registers",
        "spilled B",
    )
    print(f"| {' | '.join(head)} |")
    print("|---|---|--:|--:|---|--:|--:|--:|")
    rows: list[Row] = []
    options = MapOptions(mapper=arguments.method, time_limit_s=arguments.time_limit)
    with tempfile.TemporaryDirectory() as folder:
        for target in arguments.targets.split(","):
            row_of(next(iter(KERNELS)), target, options, Path(folder))  # loads compiled code
            for name in list(KERNELS)[: arguments.kernels]:
                rows.append(row_of(name, target, options, Path(folder)))
                print(shown(rows[-1]), flush=True)
    bad = [row.name for row in rows if not row.good]
    longest = max(row.cpu_s for row in rows)
    print(f"{len(rows)} kernels, {len(bad)} not as they should be, written in {longest:.2f} CPU s at most")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
