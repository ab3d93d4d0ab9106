"""Packets of generated kernels on Hexagon with HVX, counted under qemu, beside plain C through clang.

python bench/hvx_packets.py [--only bert_gemm1] [--table] [--resnet50] [--layers [--type i8]]

The unit is multiplications (or elements) in each packet, not cycles; the most possible is 256 for products (two vrmpy
of 128), 16 for add and 32 for relu of i32.  "a packet" counts everything that runs, the pass that corrects for signed
weights too; "alone" are the products without it (unsigned weights).  "host" names the tensors that do not lie in their
natural order, which the host lays out before the program runs and nobody counts: weights.  The C is the best of
the loop orders tried by hand: rows of the result, innermost loop over columns, which clang vectorises.  The exit code
is 1 where a result is not NumPy's.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from math import prod
from pathlib import Path
from time import process_time
from typing import cast

import numpy as np
from hvx_scalars import scalar_program

from tilewright import compile, load_target, simulate
from tilewright.algebra.evaluate import run_statement
from tilewright.arrays import Array
from tilewright.backends.hexagon import missing_tools, run_program
from tilewright.backends.packets.text import assembly
from tilewright.dialects.types import Tensor
from tilewright.driver import load_model, reference
from tilewright.frontends.einsum import einsum_module, integer_types, parse_einsum
from tilewright.interpreters.graph import argument_names, find_function, result_names
from tilewright.machine.packet_program import Isa, PacketProgram, Stored, executed_packets
from tilewright.machine.packet_storage import contiguous_strides
from tilewright.passes.nest_to_packets.generate import generate
from tilewright.passes.nest_to_packets.network import Switches
from tilewright.zoo.covenant_layers import LAYERS, covenant_layer

COMPILE = (
    "clang --target=hexagon -mv66 -mhvx -mhvx-length=128b -O3 -fvectorize -ffreestanding -fno-pic -G0 -nostdlib -c"
).split()

PLAIN_C = r"""
typedef unsigned char u8; typedef signed char i8;
void *memset(void *to, int value, unsigned n) { volatile u8 *p = to; while (n--) *p++ = value; return to; }
void *memcpy(void *to, const void *from, unsigned n) {
  volatile u8 *p = to; const u8 *q = from; while (n--) *p++ = *q++; return to;
}
#define ALIGNED(p) p = __builtin_assume_aligned(p, 128)
#ifdef GEMM
static __attribute__((noinline)) void kernel_c(const u8 *restrict a, const i8 *restrict b, int *restrict o) {
  ALIGNED(a); ALIGNED(b); ALIGNED(o);
  for (int m = 0; m < M; m++) {
    for (int n = 0; n < N; n++) o[m * N + n] = 0;
    for (int k = 0; k < K; k++)
      for (int n = 0; n < N; n++) o[m * N + n] += a[m * K + k] * b[k * N + n];
  }
}
#endif
#ifdef CONV
static __attribute__((noinline)) void kernel_c(const u8 *restrict a, const i8 *restrict b, int *restrict o) {
  ALIGNED(a); ALIGNED(b); ALIGNED(o);
  for (int p = 0; p < P; p++) for (int q = 0; q < Q; q++) {
    for (int k = 0; k < K; k++) o[(p * Q + q) * K + k] = 0;
    for (int r = 0; r < R; r++) for (int s = 0; s < R; s++) for (int c = 0; c < C; c++)
      for (int k = 0; k < K; k++)
        o[(p * Q + q) * K + k] +=
          a[((STEP * p + r) * WIDTH + STEP * q + s) * C + c] * b[((r * R + s) * C + c) * K + k];
  }
}
#endif
#ifdef ADD
static __attribute__((noinline)) void kernel_c(const int *restrict a, const int *restrict b, int *restrict o) {
  ALIGNED(a); ALIGNED(b); ALIGNED(o);
  for (int i = 0; i < I; i++) o[i] = a[i] + b[i];
}
#endif
#ifdef RELU
#define B 0
static __attribute__((noinline)) void kernel_c(const int *restrict a, const int *restrict b, int *restrict o) {
  ALIGNED(a); ALIGNED(o);
  for (int i = 0; i < I; i++) o[i] = a[i] > 0 ? a[i] : 0;
}
#endif
void plain(u8 *memory) { kernel_c((void *)(memory + A), (void *)(memory + B), (void *)(memory + O)); }
"""


@dataclass(frozen=True)
class Case:
    """A kernel as text, the C that does the same, and where C takes long a smaller one to measure it on."""

    name: str
    text: str
    c: str
    small: str = ""


def gemm(name: str, m: int, n: int, k: int) -> Case:
    small = f"O[m,n] += A[m,k] * B[k,n]; m=32 n={n} k={k}" if m > 32 else ""
    return Case(name, f"O[m,n] += A[m,k] * B[k,n]; m={m} n={n} k={k}", "GEMM", small)


def conv(size: int, c: int, k: int, taps: int, step: int = 1) -> Case:
    def text(rows: int) -> str:
        bounds = f"p={rows} q={size} k={k} r={taps} s={taps} c={c}"
        return f"O[p,q,k] += A[{step}*p + r, {step}*q + s, c] * B[r,s,c,k]; {bounds}"

    name = f"conv {taps}x{taps} {c}->{k} {size}x{size}{f' /{step}' if step > 1 else ''}"
    return Case(name, text(size), "CONV", text(2))


CASES = (
    gemm("bert_gemm1", 384, 4096, 1024),
    gemm("bert_gemm2", 384, 1024, 4096),
    gemm("bert_atn4", 384, 1024, 1024),
    gemm("384x1024x64", 384, 64, 1024),
    gemm("resnet50_fc1", 1, 1000, 512),
    conv(56, 64, 64, 1),
    conv(56, 64, 64, 3),
    conv(56, 64, 256, 1),
    conv(28, 128, 128, 3),
    conv(28, 512, 128, 1),
    conv(14, 256, 256, 3),
    conv(7, 512, 2048, 1),
    Case("add", "O[i] = A[i] + B[i]; i=393216", "ADD"),
    Case("relu", "O[i] = relu(A[i]); i=393216", "RELU"),
)

RESNET50 = (
    conv(112, 3, 64, 7, 2),
    *(conv(56, c, k, taps) for c, k, taps in ((64, 64, 1), (64, 64, 3), (64, 256, 1), (256, 64, 1), (256, 128, 1))),
    conv(28, 128, 128, 3, 2),
    *(conv(28, c, k, taps) for c, k, taps in ((128, 128, 3), (128, 512, 1), (512, 128, 1), (512, 256, 1))),
    conv(28, 256, 512, 1, 2),
    conv(14, 256, 256, 3, 2),
    *(conv(14, c, k, taps) for c, k, taps in ((256, 256, 3), (256, 1024, 1), (1024, 256, 1), (1024, 512, 1))),
    conv(14, 512, 1024, 1, 2),
    conv(7, 512, 512, 3, 2),
    *(conv(7, c, k, taps) for c, k, taps in ((512, 512, 3), (512, 2048, 1), (2048, 512, 1))),
    conv(7, 1024, 2048, 1, 2),
)
"""Its different convolutions (1x1 in front of a stride of 2, which stands at the 3x3)."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--table", action="store_true", help="what each optimisation is worth, instead")
    parser.add_argument("--static", action="store_true", help="count by the code, do not run it")
    parser.add_argument("--resnet50", action="store_true", help="all different convolutions of ResNet-50, instead")
    parser.add_argument("--layers", action="store_true", help="Covenant's sixteen layers, instead")
    parser.add_argument("--type", default="u8", choices=("u8", "i8"), help="activations of --layers")
    options = parser.parse_args()
    if options.layers:
        return int(not layers(options.only, options.type))
    isa = Isa(load_target("hvx"))
    chosen = [case for case in (RESNET50 if options.resnet50 else CASES) if options.only in case.name]
    if options.table:
        table(isa, chosen)
        return 0
    print(
        f"{'kernel':28} {'packets':>9} {'a packet':>8} {'alone':>7} {'host':>5} {'equal':>6} "
        f"{'plain C':>8} {'ratio':>6} {'compile s':>9}"
    )
    return int(not all([row(isa, case, options.static) for case in chosen]))


def row(isa: Isa, case: Case, static: bool) -> bool:
    """One kernel, generated, and plain C; whether the result is NumPy's where it ran."""
    statement, extents = parse_einsum(case.text)
    start = process_time()
    program = generate(isa.machine, statement, extents, integer_types(statement))
    spent = process_time() - start
    work, packets, equal = prod(extents.values()), executed_packets(program.code), "-"
    if not static and not missing_tools():
        inputs = random_inputs(program)
        ran = run_program(assembly(isa, program.code), program, inputs)
        packets, equal = ran.packets, str(np.array_equal(ran.outputs["O"], expected(case.text, inputs)))
    plain = plain_rate(case) if not static and not missing_tools() and shutil.which("clang") else None
    shown = f"{plain:8.2f} {work / packets / plain:6.1f}" if plain else f"{'-':>8} {'-':>6}"
    counted = f"{work / packets:8.2f} {alone(isa, case):>7} {','.join(laid_out(program)) or 'none':>5}"
    print(f"{case.name:28} {packets:9} {counted} {equal:>6} {shown} {spent:9.2f}", flush=True)
    return equal != "False"


def alone(isa: Isa, case: Case) -> str:
    """Multiplications a packet of the same products with unsigned weights, which need no corrections."""
    statement, extents = parse_einsum(case.text)
    types = integer_types(statement)
    if "i8" not in types.values():
        return "-"
    program = generate(isa.machine, statement, extents, types | {"B": "u8"})
    return f"{prod(extents.values()) / executed_packets(program.code):.2f}"


def laid_out(program: PacketProgram) -> list[str]:
    """The tensors that do not lie densely with the last index innermost."""
    return [
        t.name
        for t in program.stored
        if t.packing is not None or t.strides != contiguous_strides(t.shape, np.dtype(t.dtype).itemsize)
    ]


def random_inputs(program: PacketProgram) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    stored = [t for t in program.stored if t.role == "input"]
    limits = {t.name: np.iinfo(np.dtype(t.dtype)) for t in stored}
    return {
        t.name: rng.integers(limits[t.name].min, limits[t.name].max, t.shape, t.dtype, endpoint=True) for t in stored
    }


def expected(text: str, inputs: dict[str, Array]) -> Array:
    """What NumPy gives."""
    statement, extents = parse_einsum(text)
    shapes = [access for access in (statement.target,)]
    dims = [index.id for index in getattr(shapes[0], "indices", ())]
    out = np.zeros([extents[dim] for dim in dims], np.int32)
    run_statement(statement, inputs, extents, out)
    return out


def plain_rate(case: Case) -> float:
    """Multiplications (elements) a packet of the C, on the smaller kernel where there is one."""
    text = case.small or case.text
    statement, extents = parse_einsum(text)
    types = integer_types(statement)
    reach = shapes_of(text)
    stored: list[Stored] = []
    address = 0
    for name in [n for n in types if n != "O"] + ["O"]:
        dtype = np.dtype({"u8": np.uint8, "i8": np.int8, "i32": np.int32}[types[name]])
        size = prod(reach[name]) * dtype.itemsize
        strides = contiguous_strides(reach[name], dtype.itemsize)
        role = "output" if name == "O" else "input"
        stored.append(Stored(name, role, dtype.name, reach[name], strides, address, size))
        address = -(-(address + size) // 128) * 128
    program = PacketProgram((), tuple(stored), address + 4096)
    numbers = {t.name: t.address for t in stored} | {dim.upper(): extent for dim, extent in extents.items()}
    if case.c == "CONV":
        step = (reach["A"][1] - extents["s"]) // max(extents["q"] - 1, 1)
        numbers |= {"WIDTH": reach["A"][1], "STEP": step}
        numbers.pop("S")
    inputs = random_inputs(program)
    with tempfile.TemporaryDirectory() as name:
        source, object_file = Path(name) / "plain.c", Path(name) / "plain.o"
        source.write_text(PLAIN_C)
        defined = [f"-D{key}={value}" for key, value in numbers.items()]
        subprocess.run([*COMPILE, f"-D{case.c}", *defined, str(source), "-o", str(object_file)], check=True)
        ran = run_program("    { jump ##plain }\n", program, inputs, [object_file])
    assert np.array_equal(ran.outputs["O"], expected(text, inputs)), case.name
    return prod(extents.values()) / ran.packets


def shapes_of(text: str) -> dict[str, tuple[int, ...]]:
    """The tensors' shapes, as large as their indices reach."""
    function = find_function(einsum_module(text))
    types = zip(function.function_type.inputs, argument_names(function), strict=True)
    outputs = zip(function.function_type.outputs, result_names(function), strict=True)
    return {name: cast(Tensor, type_).get_shape() for type_, name in (*types, *outputs)}


def layers(only: str, type_name: str) -> bool:
    """Covenant's layers in full size, as `tilewright run` takes them: in simulation and under qemu; whether all are
    equal to NumPy's.
    """
    good = True
    print(f"{'layer':18} {'packets':>9} {'a packet':>8} {'host':>12} {'NumPy':>6} {'qemu':>6} {'compile s':>9}")
    for name in (name for name in LAYERS if only in name):
        model = f"covenant{'_u8' if type_name == 'u8' else ''}:{name}"
        start = process_time()
        program = compile(model, "hvx")
        spent = process_time() - start
        given = random_inputs(program.decoded)
        inputs = {t.name: given[t.name].reshape(t.shape) for t in program.tensors if t.role == "input"}
        result, ran = simulate(program, inputs), program.control.execute(program, inputs)
        wanted = reference(load_model(model), inputs)
        equal = all(np.array_equal(result.outputs[key], values) for key, values in wanted.items())
        outputs = ran.outputs if ran is not None else None
        same = outputs is not None and all(np.array_equal(outputs[key], values) for key, values in wanted.items())
        rate, host = covenant_layer(name).macs / result.cycles, ",".join(laid_out(program.decoded)) or "none"
        shown = f"{rate:8.2f} {host:>12} {equal!s:>6} {same!s:>6} {spent:9.2f}"
        print(f"{name:18} {result.cycles:9} {shown}", flush=True)
        good = good and equal and (same or outputs is None)
    return good


VARIANTS = (
    ("all", Switches()),
    ("no pipelining", Switches(pipeline=False)),
    ("no unrolling", Switches(unroll=False)),
    ("first valid tile", Switches(choose=False)),
    ("no packing", Switches(pack=False)),
    ("neither packing nor unrolling", Switches(pack=False, unroll=False)),
    ("no vectorization", Switches()),
    ("nothing", Switches(pack=False, unroll=False, pipeline=False)),
)
ON_SCALARS = "no vectorization", "nothing"


def table(isa: Isa, cases: list[Case]) -> None:
    """Packets with each optimisation off, and how many times more than with all."""
    for case in cases:
        statement, extents = parse_einsum(case.text)
        base = 0
        for name, switches in VARIANTS:
            types = integer_types(statement)
            if name in ON_SCALARS:
                program = scalar_program(isa, statement, extents, types, switches)
            else:
                program = generate(isa.machine, statement, extents, types, switches)
            packets = executed_packets(program.code)
            base = base or packets
            print(f"{case.name:28} {name:30} {packets:12} packets {packets / base:8.2f}x", flush=True)


if __name__ == "__main__":
    sys.exit(main())
