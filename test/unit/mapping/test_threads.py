"""Kernels of threads: run by an OpenCL device, and measured by NVIDIA's compiler, where these are installed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.arrays import make_inputs
from tilewright.backends.gpu.nvrtc import missing_package, resource_use
from tilewright.cli import main
from tilewright.costs.hierarchy import LevelMapping, Loop, LoopMapping, architecture_of
from tilewright.driver import reference
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.einsum import einsum_module
from tilewright.mapping import MapOptions, ThreadKernel, compile_threads, find_layers
from tilewright.mapping.threads import kernel_from, missing_device
from tilewright.search.mapping.draw import Sampler
from tilewright.search.mapping.pricing import Pricer
from tilewright.search.mapping.values import Request, Space

needs_device = pytest.mark.skipif(missing_device() is not None, reason=f"not installed: {missing_device()}")
needs_nvrtc = pytest.mark.skipif(missing_package(37) is not None, reason=f"not installed: {missing_package(37)}")

INTEGERS = {"A": "i8", "B": "i8", "O": "i32"}
PADDED = """
func.func @main(%X: tensor<2x5x9x9xsi8>, %W: tensor<6x5x3x3xsi8>) -> tensor<2x6x5x5xi32>
    attributes {graph.inputs = ["X", "W"], graph.outputs = ["O"]} {
  %o = nest.group @conv dims {n = 2, k = 6, p = 5, q = 5, c = 5, r = 3, s = 3} ins(X = %X, W = %W)
      -> tensor<2x6x5x5xi32> {
  ^bb0(%x: tensor<2x5x9x9xsi8>, %w: tensor<6x5x3x3xsi8>):
    %0 = nest.kernel @O "O[n, k, p, q] += X[n, c, 2 * p + r - 1, 2 * q + s - 1] * W[k, c, r, s]" (X = %x, W = %w)
      pad {X = 3} : (tensor<2x5x9x9xsi8>, tensor<6x5x3x3xsi8>) -> tensor<2x6x5x5xi32>
    nest.yield %0 : tensor<2x6x5x5xi32>
  }
  func.return %o : tensor<2x6x5x5xi32>
}
"""


def computed(kernel: ThreadKernel, text: str, types: dict[str, str] | None) -> tuple[np.ndarray, np.ndarray]:
    """The output of a kernel on the device, and by NumPy."""
    signature = {a["name"]: (tuple(a["shape"]), np.dtype(a["dtype"])) for a in kernel.launch["arguments"][:-1]}
    inputs = make_inputs(signature, 0)
    (expected,) = reference(einsum_module(text, types), inputs).values()
    return kernel.run(inputs).output, expected


def drawn(text: str, types: dict[str, str] | None, seed: int) -> ThreadKernel:
    """The kernel of a random mapping that fits, drawn for bounds a little larger, so that all tiles have tails."""
    (layer,) = find_layers(text, types=types)
    arch = architecture_of(load_target("gpu_k80"))
    larger = replace(layer.problem, bounds=tuple(b + (b > 3) for b in layer.problem.bounds))
    batch = Sampler(arch, larger, Space(), seed).draw(4096)
    prices = Pricer(arch, larger, Request()).prices(batch)
    spread = np.prod(batch.spatial_x * batch.spatial_y, axis=(1, 2))
    best = int(np.argmax(np.where(prices.valid, spread, 0)))
    mapping: LoopMapping = batch.mapping(best, larger)
    return kernel_from(layer.name, einsum_module(text, types), "gpu_k80", arch, layer.problem, mapping)


KERNELS = {
    "product": ("O[m,n] += A[m,k] * B[k,n]; m=31 n=23 k=19", INTEGERS),
    "strided": ("O[n,k,p,q] += A[n,c,2*p+r,2*q+s] * B[k,c,r,s]; n=2 k=7 c=5 p=5 q=5 r=3 s=3", INTEGERS),
    "dilated": ("O[k,p,q] += A[c,p+2*r,q+2*s] * B[k,c,r,s]; k=7 c=5 p=5 q=5 r=3 s=3", INTEGERS),
    "groups": ("O[4*g+k,p] += A[3*g+c,p+r] * B[4*g+k,c,r]; g=5 k=4 c=3 p=11 r=3", INTEGERS),
    "depthwise": ("O[c,p,q] += A[c,p+r,q+s] * B[c,r,s]; c=11 p=7 q=7 r=3 s=3", INTEGERS),
    "flipped": ("O[p] += A[p-r+4] * B[r]; p=21 r=5", INTEGERS),
    "spaced": ("O[2*p,14-q] += A[3*p,16-k] * B[k,2*q+1]; p=9 q=15 k=17", INTEGERS),
    "one group": ("O[4*g+k,p] += A[3*g+c,2*p+r] * B[4*g+k,c,r]; g=1 k=4 c=3 p=5 r=3", INTEGERS),
    "three factors": ("O[i,j] += A[i,k,l] * B[k,j] * C[l,j]; i=9 j=7 k=11 l=5", None),
}


QUICK = "product", "strided", "groups", "one group", "spaced", "three factors"


@needs_device
@pytest.mark.parametrize("name", QUICK)
def test_random_mappings_compute_what_numpy_does(name: str):
    text, types = KERNELS[name]
    found, expected = computed(drawn(text, types, len(name)), text, types)
    if types is not None:
        assert np.array_equal(found, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@needs_device
@pytest.mark.slow
@pytest.mark.parametrize("name", list(KERNELS)[:-1])
def test_more_random_mappings(name: str):
    text, types = KERNELS[name]
    found, expected = computed(drawn(text, types, 100), text, types)
    assert np.array_equal(found, expected)


@needs_device
@pytest.mark.parametrize(
    ("text", "types", "kind"),
    [
        ("O[m,n] += A[m,k] * B[k,n]; m=36 n=40 k=48", None, "uint4"),
        ("O[m,n] += A[m,k] * B[k,n]; m=36 n=40 k=48", INTEGERS, "uint2"),
        ("O[m,n] += A[k,m] * B[n,k]; m=20 n=6 k=26", None, "uint2"),
        ("O[m,n] += A[m,k] * B[k,n]; m=36 n=41 k=47", None, None),
        ("O[n,k,p] += A[n,c,p+r] * B[k,c,r]; n=2 k=8 c=8 p=13 r=3", INTEGERS, None),
    ],
)
def test_neighbours_are_copied_together(text: str, types: dict[str, str] | None, kind: str | None):
    kernel = compile_threads(text, "gpu_k80", MapOptions(types=types, time_limit_s=0.5))
    assert ("*(const uint" in kernel.cuda) == (kind is not None)
    assert kind is None or f"*(const {kind} *)&" in kernel.cuda
    found, expected = computed(kernel, text, types)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_tiles_are_as_deep_as_they_may_be():
    """Of the divisors of 48, 24 is the largest one of at most 32."""
    text = "O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=48"
    (layer,) = find_layers(text)
    m, n, k = 0, 1, 2
    registers = LevelMapping(temporal=(Loop(n, 2), Loop(m, 2)))
    shared = LevelMapping(spatial_x=(Loop(m, 2), Loop(n, 8)), spatial_y=(Loop(m, 8),), bypass=frozenset("O"))
    dram = LevelMapping(temporal=(Loop(k, 48),), spatial_x=(Loop(n, 4), Loop(m, 2)))
    mapping = LoopMapping((registers, shared, dram))
    arch = architecture_of(load_target("gpu_k80"))
    kernel = kernel_from(layer.name, einsum_module(text), "gpu_k80", arch, layer.problem, mapping)
    assert kernel.plan.shared_tile == {"m": 32, "n": 16, "k": 24}
    assert kernel.plan.serial[-1].bound == 2
    assert kernel.plan.shared_bytes == 4 * 24 * (32 + 16) <= 4 * 12288


@needs_device
def test_halves_are_summed_as_floats():
    text, types = "O[m,n] += A[m,k] * B[k,n]; m=17 n=12 k=33", {"A": "f16", "B": "f16", "O": "f16"}
    found, expected = computed(drawn(text, types, 3), text, types)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=4e-3, atol=4e-3)


@needs_device
def test_padding_is_what_is_read_around_a_tensor(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "conv.mlir").write_text(PADDED)
    command = ["run", str(tmp_path / "conv.mlir"), "--target", "gpu_k80", "--time-limit", "0.3", "-o", str(tmp_path)]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["equal"] is True
    assert answer["executed"]["equal"] is True
    assert answer["cycles"] == answer["predicted"]["cycles"]


@needs_nvrtc
def test_the_compiler_reports_what_the_plan_has():
    text, types = KERNELS["strided"]
    kernel = drawn(text, types, 5)
    use = resource_use(kernel.cuda, kernel.entry, 37)
    assert use.shared_bytes == kernel.plan.shared_bytes > 0
    assert 0 < use.registers <= 65536 // kernel.plan.block_size
    assert use.code.startswith(b"\x7fELF")
    with pytest.raises(TilewrightError, match="a kernel that compiles"):
        resource_use(kernel.cuda.replace("const int", "const nothing"), kernel.entry, 37)


def test_compiled_files_say_how_to_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "O[m,n] += A[m,k] * B[k,n]; m=31 n=23 k=19"
    command = ["compile", text, "--target", "gpu_k80", "--types", "A=i8,B=i8,O=i32", "--time-limit", "0.2"]
    assert main([*command, "-o", str(tmp_path)]) == 0
    assert "predicted cycles" in capsys.readouterr().out
    launch = json.loads((tmp_path / "launch.json").read_text())
    assert [a["dtype"] for a in launch["arguments"]] == ["int8", "int8", "int32"]
    assert f"__launch_bounds__({launch['threads']}) kernel_(" in (tmp_path / "kernel.cu").read_text()
    assert f"reqd_work_group_size({launch['threads']}, 1, 1)" in (tmp_path / "kernel.cl").read_text()
    assert "gpu.func" in (tmp_path / "kernel.mlir").read_text()
    assert launch["predicted"]["cycles"] * 2496 >= 31 * 23 * 19


def test_types_that_a_machine_does_not_multiply():
    options = MapOptions(mapper="cosa", types={"A": "f64", "B": "f64", "O": "f64"})
    with pytest.raises(TilewrightError, match=r"expected elements of f32 = f32, f32 \| .*, found .*A f64"):
        compile_threads("O[m,n] += A[m,k] * B[k,n]; m=8 n=8 k=8", "gpu_k80", options)


@pytest.mark.parametrize("mapper", ["exact", "refine", "cosa", "random", "hybrid"])
def test_no_mapper_spreads_sums(mapper: str):
    options = MapOptions(mapper=mapper, time_limit_s=0.2)
    kernel = compile_threads("O[m,n] += A[m,k] * B[k,n]; m=4 n=6 k=512", "gpu_k80", options)
    assert {loop.dim for loop in kernel.plan.threads if loop.bound > 1} <= {"m", "n"}
    assert kernel.prices.valid
