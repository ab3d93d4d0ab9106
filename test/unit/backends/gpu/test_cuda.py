"""NVIDIA's driver and compiler: what is told where there is none, or none for an architecture."""

import pytest

from tilewright.backends.gpu.devices import LoadedKernel, gpu_architecture
from tilewright.backends.gpu.nvrtc import missing_package, resource_use
from tilewright.errors import TilewrightError

without_gpu = pytest.mark.skipif(gpu_architecture() is not None, reason="there is a GPU")
with_gpu = pytest.mark.skipif(gpu_architecture() is None, reason="there is no GPU")


@without_gpu
def test_a_kernel_needs_the_driver():
    with pytest.raises(TilewrightError, match=r"CUDA driver: expected libcuda.*found none; install"):
        LoadedKernel(b"", "k", 1, 1)


@with_gpu
def test_the_driver_refuses_what_is_no_code():
    with pytest.raises(TilewrightError, match="CUDA driver: expected success, found CUDA_ERROR_"):
        LoadedKernel(b"no code", "k", 1, 1)


def test_architectures_that_no_compiler_knows():
    for architecture in (20, 130):
        with pytest.raises(TilewrightError, match=f"an architecture from sm_35 to sm_121, found sm_{architecture}"):
            missing_package(architecture)


@pytest.mark.skipif(missing_package(120) is None, reason="there is a compiler for sm_120")
def test_the_package_of_a_missing_compiler_is_named():
    message = "expected a compiler for sm_120, found none; pip install nvidia-cuda-nvrtc-cu12"
    with pytest.raises(TilewrightError, match=message):
        resource_use("", "k", 120)
