"""`convert-nest-to-gpu`: mapped groups become kernels of blocks of threads."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.expr import factors_of, print_statement, reduction_dims
from ...costs.hierarchy import Architecture, Problem, architecture_of
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.types import shape_of
from ...errors import TilewrightError
from ...machine import Capability, Machine
from ..functions import functions_of
from ..nest.trees import capability_of, in_group, only_kernel, problem_of, read_mapping, types_of
from .kernel import Kernel
from .matrix_kernel import MatrixKernel
from .plan import Plan
from .planning import plan_of


@dataclass(frozen=True)
class ConvertNestToGpuPass(ModulePass):
    """Turn each mapped group into a kernel that a grid of blocks of threads runs (CoSA, section V-D).

    The innermost memory of the machine is a thread's registers, the next one a block's shared memory.  Loops over dims
    of the output in the outermost memory, in time or spread, become blocks; what is spread below shared memory,
    threads.  Each block works through the loops over reduced dims, its threads copy tiles to shared memory together,
    and each thread sums its points in registers, whose loops are marked `unrolled`.  Where tiles reach beyond a tensor,
    zeros (or what is read around it, `pads`) take the place of elements, and results are not written.

        nest.group @kernel ... mapping {...}   ->   gpu.module @kernels { gpu.func @kernel(%A, %B, %O) kernel {...} }

    Points of a dim that no window has are dealt out to threads in turn, so that neighbours read neighbouring words.
    Precondition: groups of one kernel, a sum of products, mapped to all memories (`nest-map{mapper=...}`), and a target
    of control model `threads` (`load-target`).  Raises `TilewrightError` (kind `unsupported`) for other kernels and for
    element types that the machine does not multiply.
    """

    name = "convert-nest-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        if machine.control != "threads":
            found = f"control {machine.control}"
            raise TilewrightError("unsupported", machine.name, "a target of control model threads", found)
        groups = [group for group in op.walk() if isinstance(group, nest.GroupOp)]
        plans = [(plan_of_group(group, machine), group.sym_name.data) for group in groups]
        kernels = [(MatrixKernel if plan.matrix else Kernel)(plan, name).function for plan, name in plans]
        for kernel, group in zip(kernels, groups, strict=True):
            names = [*only_kernel(group).operands_by_name, only_kernel(group).sym_name.data]
            kernel.attributes["arguments"] = ArrayAttr(StringAttr(name) for name in names)
        for function in functions_of(op):
            Rewriter.erase_op(function)
        body = Region(Block(kernels))
        op.body.block.add_op(gpu.ModuleOp(StringAttr("kernels"), body))  # pyright: ignore[reportArgumentType]


def plan_of_group(group: nest.GroupOp, machine: Machine) -> Plan:
    """The kernel that a mapped group spells."""
    try:
        kernel, capability = only_kernel(group), capability_of(group, machine)
        arch = architecture_of(machine, capability)
        problem = problem_of(kernel, group.sym_name.data)
        statement = kernel.statement.data
        if kernel.init is not None or not _sums_products(kernel):
            expected = "a sum of products of tensors, from nothing"
            raise TilewrightError("unsupported", problem.name, expected, print_statement(statement))
        elements = types_of(kernel)
        _check_types(capability, arch, problem, elements)
        values = {**kernel.operands_by_name, problem.tensors[-1].name: kernel.result}
        shapes = {name: tuple(shape_of(value)) for name, value in values.items()}
        mapping = read_mapping(group, machine, arch, problem)
        return plan_of(statement, problem, arch, mapping, shapes, elements, kernel.pads)
    except TilewrightError as error:
        raise in_group(error, group) from error


def _sums_products(kernel: nest.KernelOp) -> bool:
    statement = kernel.statement.data
    product = factors_of(statement.value)
    return bool(product) and (statement.reduce == "+=" or (statement.reduce == "=" and not reduction_dims(statement)))


def _check_types(capability: Capability, arch: Architecture, problem: Problem, elements: dict[str, str]) -> None:
    """Element types are of one row of the capability; other operands than its own have those of its last one."""
    if takes_types(capability, arch, problem, elements):
        return
    found = ", ".join(f"{name} {kind}" for name, kind in elements.items())
    rows = " | ".join(f"{row[0]} = {', '.join(row[1:])}" for row in capability.types)
    raise TilewrightError("unsupported", problem.name, f"elements of {rows}", found)


def takes_types(capability: Capability, arch: Architecture, problem: Problem, elements: Mapping[str, str]) -> bool:
    """Whether one of the capability's rows of types is that of the problem's tensors."""
    for row in capability.types:
        allowed = dict(zip(capability.operands, row, strict=True))
        roles = zip(problem.tensors, arch.roles(problem), strict=True)
        if all(elements[tensor.name] == allowed[role] for tensor, role in roles):
            return True
    return False
