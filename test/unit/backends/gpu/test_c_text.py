"""Kernels as C."""

import re
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects import gpu
from xdsl.printer import Printer

from tilewright.backends.gpu.c_text import c_text
from tilewright.backends.gpu.devices import missing_opencl, run_opencl
from tilewright.backends.gpu.languages import CUDA, OPENCL, identifier
from tilewright.driver import parse_mlir
from tilewright.errors import TilewrightError

KERNEL = """
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<4x6xf16>, memref<4x6xf32>) -> (), kernel}> ({
  ^bb0(%float: memref<4x6xf16>, %out: memref<4x6xf32>):
    %six = arith.constant 6 : index
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %j = arith.remui %i, %six : index
    %k = arith.divui %i, %six : index
    %h = memref.load %float[%k, %j] : memref<4x6xf16>
    %x = arith.extf %h : f16 to f32
    %two = arith.constant 2.000000e+00 : f32
    %y = arith.OP %x, %two : f32
    memref.store %y, %out[%k, %j] : memref<4x6xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "double", gpu.known_block_size = array<i32: 24, 1, 1>} : () -> ()
}) : () -> ()
"""


def kernel(folder: Path, op: str = "mulf") -> gpu.FuncOp:
    (folder / "k.mlir").write_text(KERNEL.replace("OP", op))
    return next(op for op in parse_mlir(folder / "k.mlir").walk() if isinstance(op, gpu.FuncOp))


def test_both_languages(tmp_path: Path):
    opencl, cuda = (c_text(kernel(tmp_path), language) for language in (OPENCL, CUDA))
    head = "void double_(__global const half_bits *restrict float_, __global float *restrict out) {"
    assert f"__kernel __attribute__((reqd_work_group_size(24, 1, 1))) {head}" in opencl
    assert "__launch_bounds__(24) double_(const half_bits *__restrict__ float_, float *__restrict__ out) {" in cuda
    body = [re.sub(r"\bv\d+", "v", text).split("{", 3)[-1] for text in (opencl, cuda)]
    assert all("half_to_float(" in text and " * 2.0f)" in text for text in body)


@pytest.mark.skipif(missing_opencl() is not None, reason=f"not installed: {missing_opencl()}")
def test_a_device_computes_it(tmp_path: Path):
    import numpy as np

    halves = np.arange(24, dtype=np.float16).reshape(4, 6) / 8
    source = c_text(kernel(tmp_path), OPENCL)
    found = run_opencl(source, "double_", [halves], np.zeros((4, 6), np.float32), 1, 24)
    assert np.array_equal(found.output, 2 * halves.astype(np.float32))
    with pytest.raises(TilewrightError, match="a run of double_"):
        run_opencl(source.replace("const int", "const nothing"), "double_", [halves], found.output, 1, 24)


def test_other_operations_are_refused(tmp_path: Path):
    with pytest.raises(TilewrightError, match=r"expected operations of kernels, found arith\.divf"):
        c_text(kernel(tmp_path, "divf"), OPENCL)


def test_names_are_no_words_of_the_language():
    assert [identifier(name) for name in ("kernel", "a.b", "1x", "A")] == ["kernel_", "a_b", "k_1x", "A"]


def test_the_text_is_that_of_the_printed_ir(tmp_path: Path):
    stream = StringIO()
    Printer(stream).print_op(kernel(tmp_path).parent_op())  # pyright: ignore[reportArgumentType]
    (tmp_path / "again.mlir").write_text(stream.getvalue())
    again = next(op for op in parse_mlir(tmp_path / "again.mlir").walk() if isinstance(op, gpu.FuncOp))
    assert c_text(again, CUDA) == c_text(kernel(tmp_path), CUDA)
