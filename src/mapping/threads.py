"""Kernels of blocks of threads from mappings: their text, how they are launched, what they take, and running them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from ..algebra.element import ELEMENT_TYPES, Array
from ..arrays import Comparison, compare, undefined, verdict
from ..backends.gpu.c_text import c_text
from ..backends.gpu.devices import (
    INSTALL,
    KernelRun,
    LoadedKernel,
    gpu_architecture,
    missing_opencl,
    run_cuda,
    run_opencl,
)
from ..backends.gpu.languages import CUDA, OPENCL, identifier
from ..backends.gpu.nvrtc import ResourceUse, missing_package, resource_use
from ..costs.exact import ExactPrices, dram_bytes, evaluate
from ..costs.hierarchy import Architecture, LoopMapping, Problem
from ..dialects import nest
from ..driver import make_context, parse_passes
from ..files import make_folder, write_file
from ..frontends.acg import load_target
from ..machine import Machine
from ..passes.nest.trees import put_mapping
from ..passes.nest_to_gpu.convert_nest_to_gpu import plan_of_group
from ..passes.nest_to_gpu.plan import Plan


@dataclass(frozen=True)
class DeviceRun:
    """A kernel on a device beside what is expected of it; or what is `missing` to run it."""

    missing: str | None = None
    device: str = ""
    compared: Comparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """The part of an answer about it."""
        if self.missing is not None:
            return {"missing": self.missing, "install": INSTALL}
        return {"device": self.device, **verdict(self.compared)}


@dataclass(frozen=True)
class ThreadKernel:
    """A mapped kernel for a machine of threads: `module` holds it as IR of the `gpu` dialect."""

    name: str
    machine: Machine
    arch: Architecture
    problem: Problem
    mapping: LoopMapping
    plan: Plan
    module: ModuleOp

    def __repr__(self) -> str:
        return (
            f"<ThreadKernel {self.name} for {self.machine.name}: {self.plan.blocks} blocks of {self.plan.block_size}>"
        )

    @property
    def function(self) -> gpu.FuncOp:
        """The kernel's function."""
        return next(op for op in self.module.walk() if isinstance(op, gpu.FuncOp))

    @property
    def entry(self) -> str:
        """The function's name in the sources."""
        return identifier(self.function.sym_name.data)

    @cached_property
    def opencl(self) -> str:
        """The kernel in OpenCL C."""
        return c_text(self.function, OPENCL)

    @cached_property
    def cuda(self) -> str:
        """The kernel in CUDA C."""
        return c_text(self.function, CUDA)

    @cached_property
    def prices(self) -> ExactPrices:
        """Cycles, energy and words of the mapping by the exact cost model."""
        return evaluate(self.arch, self.problem, self.mapping)

    @property
    def launch(self) -> dict[str, Any]:
        """What a host must know: the function, its arguments in order, blocks and threads, and what they take."""
        plan = self.plan
        operands = (*plan.inputs, plan.output)
        return {
            "kernel": self.entry,
            "target": self.machine.name,
            "blocks": plan.blocks,
            "threads": plan.block_size,
            "arguments": [
                {
                    "name": x.name,
                    "role": "output" if x is plan.output else "input",
                    "dtype": ELEMENT_TYPES[x.element].name,
                    "shape": list(x.shape),
                }
                for x in operands
            ],
            "shared_bytes": plan.shared_bytes,
            "register_tile_words": sum(plan.register_elements.values()),
            "predicted": {
                "cycles": self.prices.cycles,
                "energy_pj": self.prices.energy_pj,
                "dram_bytes": dram_bytes(self.arch, self.problem, self.prices),
            },
        }

    def save(self, folder: Path) -> list[Path]:
        """Writes `kernel.mlir`, `kernel.cl`, `kernel.cu` and `launch.json`; the files."""
        make_folder(folder)
        texts = {
            "kernel.mlir": str(self.module) + "\n",
            "kernel.cl": self.opencl,
            "kernel.cu": self.cuda,
            "launch.json": json.dumps(self.launch, indent=2) + "\n",
        }
        for name, text in texts.items():
            write_file(folder / name, text)
        return [folder / name for name in texts]

    def resource_use(self, architecture: int) -> ResourceUse:
        """What NVIDIA's compiler says the kernel takes on an architecture; errors as for `nvrtc.resource_use`."""
        return resource_use(self.cuda, self.entry, architecture)

    def loaded(self, code: bytes) -> LoadedKernel:
        """The kernel's machine code (`resource_use`) on the GPU; errors as for `LoadedKernel`."""
        return LoadedKernel(code, self.entry, self.plan.blocks, self.plan.block_size)

    def run(self, arrays: Mapping[str, Array], cuda: bool = True) -> KernelRun:
        """The output for inputs by name of the tensor, on a GPU if `cuda` is true and `cuda_device` finds one, else on
        an OpenCL device; errors as for `run_cuda` and `run_opencl`."""
        plan = self.plan
        dtype = ELEMENT_TYPES[plan.output.element]
        output = np.full(plan.output.shape, undefined(dtype), dtype)
        inputs = [arrays[x.name] for x in plan.inputs]
        if cuda and (architecture := cuda_device()) is not None:
            return run_cuda(self.loaded(self.resource_use(architecture).code), inputs, output)
        return run_opencl(self.opencl, self.entry, inputs, output, plan.blocks, plan.block_size)


def cuda_device() -> int | None:
    """The architecture of the GPU that kernels can be compiled for and run on, or None."""
    architecture = gpu_architecture()
    return None if architecture is None or missing_package(architecture) else architecture


def missing_device() -> str | None:
    """What is missing before a kernel can run: None with a GPU or an OpenCL device."""
    return None if cuda_device() is not None else missing_opencl()


def on_device(kernel: ThreadKernel, arrays: Mapping[str, Array], expected: Array, tolerance: float | None) -> DeviceRun:
    """A kernel on the device that there is, its output compared with `expected`."""
    if (missing := missing_device()) is not None:
        return DeviceRun(missing)
    ran, name = kernel.run(arrays), kernel.plan.output.name
    return DeviceRun(None, ran.device, compare({name: ran.output}, {name: expected}, tolerance))


def kernel_from(
    name: str,
    module: ModuleOp,
    target: str | Path | Machine,
    arch: Architecture,
    problem: Problem,
    mapping: LoopMapping,
) -> ThreadKernel:
    """The kernel of a module of one group, mapped like this on memories and units of the target, `arch`; errors as for
    `convert-nest-to-gpu`."""
    module, machine = module.clone(), load_target(target)
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    if not group.is_mapped:
        put_mapping(group, arch, problem, mapping)
    plan = plan_of_group(group, machine)
    parse_passes(f'load-target{{target="{target}"}},convert-nest-to-gpu').apply(make_context(), module)
    return ThreadKernel(name, machine, arch, problem, mapping, plan, module)
