"""Kernels whose warps multiply fragments of matrices: run by an OpenCL device, measured by NVIDIA's compiler."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import gpu

from tilewright.backends.gpu.c_text import c_text
from tilewright.backends.gpu.devices import missing_opencl
from tilewright.backends.gpu.languages import OPENCL
from tilewright.backends.gpu.nvrtc import missing_package, resource_use
from tilewright.costs.hierarchy import LevelMapping, Loop, LoopMapping, architecture_of
from tilewright.dialects import nest
from tilewright.driver import parse_mlir, reference
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.einsum import einsum_module
from tilewright.machine.memory_chain import multiply_accumulates
from tilewright.mapping import MapOptions, ThreadKernel, compile_threads, find_layers
from tilewright.mapping.matrices import with_lanes
from tilewright.mapping.threads import kernel_from, missing_device
from tilewright.passes.nest.trees import put_mapping
from tilewright.passes.nest_to_gpu.planning import check_matrix, matrix_products

needs_device = pytest.mark.skipif(missing_device() is not None, reason=f"not installed: {missing_device()}")
needs_opencl = pytest.mark.skipif(missing_opencl() is not None, reason=f"not installed: {missing_opencl()}")
needs_nvrtc = pytest.mark.skipif(missing_package(80) is not None, reason=f"not installed: {missing_package(80)}")

HALVES = {"A": "f16", "B": "f16", "O": "f16"}
MIXED = {**HALVES, "O": "f32"}
PRODUCT = "O[m,n] += A[m,k] * B[k,n]; m=70 n=90 k=50"
CONV = "O[n,k,p,q] += A[n,c,2*p+r,q+2*s] * B[k,c,r,s]; n=2 k=20 c=18 p=4 q=9 r=3 s=2"


def by_hand(text: str, levels: tuple[LevelMapping, ...], dims: tuple[int, int, int]) -> ThreadKernel:
    """The kernel of a mapping in fragments."""
    machine = load_target("gpu_h100")
    _, matrices = multiply_accumulates(machine)
    arch = architecture_of(machine, matrices)
    (layer,) = find_layers(text, types=MIXED)
    mapping = with_lanes(arch, LoopMapping(levels), dims)
    return kernel_from(layer.name, einsum_module(text, MIXED), "gpu_h100", arch, layer.problem, mapping)


def time(*loops: tuple[int, int]) -> tuple[Loop, ...]:
    return tuple(Loop(*loop) for loop in loops)


def of_warps(sums_between: bool = False) -> ThreadKernel:
    """Two by two warps of two fragments each, in two steps of k and of m; sums may leave between those of k."""
    steps = time((0, 2), (2, 2)) if sums_between else time((2, 2), (0, 2))
    shared = LevelMapping(steps, time((0, 2)), time((1, 2)), frozenset("O"))
    return by_hand(PRODUCT, (LevelMapping(time((1, 2))), shared, LevelMapping(time((0, 2), (1, 2), (2, 2)))), (0, 2, 1))


def whole_numbers(kernel: ThreadKernel) -> dict[str, np.ndarray]:
    """Inputs whose sums have no rounding."""
    random = np.random.default_rng(1)
    return {x.name: random.integers(-4, 5, x.shape).astype(np.float16) for x in kernel.plan.inputs}


@needs_opencl
@pytest.mark.parametrize("between", [False, True])
def test_sums_are_in_order_of_k_and_in_single_precision(between: bool):
    kernel = of_warps(between)
    random = np.random.default_rng(0)
    arrays = {x.name: random.standard_normal(x.shape).astype(np.float16) for x in kernel.plan.inputs}
    a, b = (arrays[name].astype(np.float32) for name in "AB")
    first = range(0, 50, 16) if between else range(0, 50, 32)
    parts = [range(k, min(50, k + first.step)) for k in first]
    expected = np.zeros((70, 90), np.float32)
    for part in parts:
        sums = np.zeros((70, 90), np.float32)
        for k in part:
            sums += np.outer(a[:, k], b[k])
        expected += sums
    assert np.array_equal(kernel.run(arrays, cuda=False).output, expected)


@needs_device
@pytest.mark.parametrize(
    "text",
    [
        "O[m,n] += A[k,m] * B[n,k]; m=20 n=40 k=33",
        "O[h,m,n] += A[h,m,k] * B[h,k,n]; h=2 m=17 n=32 k=16",
        CONV,
        "O[4*g+k,p] += A[20*g+c,p+r] * B[4*g+k,c,r]; g=3 k=4 c=20 p=30 r=3",
        "O[k,p] += A[c,p-r+4] * B[k,c,r]; k=20 c=17 p=18 r=5",
    ],
)
def test_products_and_convolutions_of_any_size(text: str):
    kernel = compile_threads(text, "gpu_h100", MapOptions(types=MIXED, time_limit_s=0.1))
    assert kernel.plan.matrix
    assert kernel.prices.valid
    arrays = whole_numbers(kernel)
    (expected,) = reference(einsum_module(text, MIXED), arrays).values()
    assert np.array_equal(kernel.run(arrays).output, expected)


@needs_nvrtc
@pytest.mark.parametrize(("architecture", "spilled"), [(80, 0), (90, 24)])
def test_the_compiler_reports_what_the_plan_has(architecture: int, spilled: int):
    kernel = of_warps()
    assert kernel.plan.block_size == 128
    use = resource_use(kernel.cuda, kernel.entry, architecture)
    assert use.shared_bytes == kernel.plan.shared_bytes == 2 * 64 * (32 + 8) + 2 * 32 * (64 + 8) + 4 * 1024
    assert use.spilled_bytes <= spilled
    assert 8 * 2 < use.registers <= 255


def test_the_text_is_that_of_the_printed_ir(tmp_path: Path):
    kernel = of_warps()
    (tmp_path / "k.mlir").write_text(str(kernel.module))
    again = next(op for op in parse_mlir(tmp_path / "k.mlir").walk() if isinstance(op, gpu.FuncOp))
    assert c_text(again, OPENCL) == kernel.opencl


@pytest.mark.parametrize(
    ("target", "text", "types"),
    [
        ("gpu_k80", PRODUCT, HALVES),
        ("gpu_h100", PRODUCT, {"A": "i8", "B": "i8", "O": "i32"}),
        ("gpu_h100", "O[m] += A[m,k] * B[k]; m=64 k=64", HALVES),
        ("gpu_h100", "O[c,p] += A[c,p+r] * B[c,r]; c=64 p=64 r=3", HALVES),
    ],
)
def test_other_kernels_run_on_cores(target: str, text: str, types: dict[str, str]):
    kernel = compile_threads(text, target, MapOptions(types=types, time_limit_s=0.1))
    assert not kernel.plan.matrix


def test_what_is_a_product_of_matrices():
    (layer,) = find_layers(CONV)
    named = [tuple(layer.problem.dims[dim] for dim in dims) for dims in matrix_products(layer.problem)]
    assert named == [("n", "c", "k"), ("p", "c", "k"), ("q", "c", "k")]


def test_lanes_without_work_are_refused():
    shared = LevelMapping((), (), (), frozenset("O"))
    machine = load_target("gpu_h100")
    _, matrices = multiply_accumulates(machine)
    arch, (layer,) = architecture_of(machine, matrices), find_layers(PRODUCT, types=MIXED)
    mapping = LoopMapping((LevelMapping(), shared, LevelMapping(time((0, 70), (1, 90), (2, 50)))))
    with pytest.raises(TilewrightError, match="expected Tensor with all of its lanes in use, found nothing spread"):
        kernel_from("k", einsum_module(PRODUCT, MIXED), "gpu_h100", arch, layer.problem, mapping)


def test_a_mapping_in_a_file_names_the_memories_of_its_units(tmp_path: Path):
    kernel = of_warps()
    module = einsum_module(PRODUCT, MIXED)
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    put_mapping(group, kernel.arch, kernel.problem, kernel.mapping)
    (tmp_path / "mapped.mlir").write_text(str(module))
    again = compile_threads(str(tmp_path / "mapped.mlir"), "gpu_h100")
    assert again.plan == kernel.plan
    assert again.prices.cycles == kernel.prices.cycles


def test_numbers_other_than_zero_beyond_the_bound_are_not_summed():
    """A padded convolution whose summed channels fill no fragment would multiply what is read around them."""
    kernel = of_warps()
    padded = replace(kernel.plan, inputs=tuple(replace(x, pad=1) for x in kernel.plan.inputs))
    with pytest.raises(TilewrightError, match="expected sums of 0 beyond the bound, found tiles of k"):
        check_matrix(padded, kernel.problem)
