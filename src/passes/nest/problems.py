"""Kernels of `nest` as problems of the mappers."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import tensors_of
from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...costs.hierarchy.statement import problem_of_statement
from ...costs.mapping.levels import mapping_of, tree_of
from ...dialects import nest
from ...dialects.nest_mapping import HoldOp
from ...dialects.types import Tensor, element_type_name
from ...errors import TilewrightError
from ...machine import Capability, Machine
from ...machine.memory_chain import memory_chain, multiply_accumulate, multiply_accumulates
from .trees import group_of, region_tree, set_mapping

WORDS = StringAttr("words")
"""Value of the attribute `elements` of groups whose elements have no type: one word of each memory."""


def problem_of(kernel: nest.KernelOp, name: str | None = None, typed: bool = True) -> Problem:
    """The loop nest of a kernel in a group, its tensors named as in its statement, inputs first.

    With `typed` an element has the bits of its type, unless the group's attribute `elements` is "words"; otherwise each
    is one word of whatever memory it is in.
    `TilewrightError` (kind `unsupported`) for a kernel that is no such nest, see `problem_of_statement`.
    """
    group = kernel.parent_op()
    assert isinstance(group, nest.GroupOp)
    typed = typed and group.attributes.get("elements") != WORDS
    bits = (
        {tensor: 8 * ELEMENT_TYPES[element].itemsize for tensor, element in types_of(kernel).items()} if typed else {}
    )
    return problem_of_statement(kernel.statement.data, group.extents, name or kernel.sym_name.data, bits)


def types_of(kernel: nest.KernelOp) -> dict[str, str]:
    """Each tensor of a kernel's statement -> the name of its element type."""
    values = {**kernel.operands_by_name, tensors_of(kernel.statement.data)[0]: kernel.result}
    return {t: element_type_name(cast(Tensor, value.type).element_type) for t, value in values.items()}


def buffers_of(kernel: nest.KernelOp) -> dict[str, str]:
    """Each tensor of a kernel's statement -> its buffer in the group."""
    group = kernel.parent_op()
    assert isinstance(group, nest.GroupOp)
    names = group.buffers()
    values = {**kernel.operands_by_name, tensors_of(kernel.statement.data)[0]: kernel.result}
    return {tensor: names[value] for tensor, value in values.items()}


def only_kernel(group: nest.GroupOp) -> nest.KernelOp:
    """The kernel of a group that has one; raises `TilewrightError` (kind `unsupported`) if it has more."""
    if len(group.kernels) != 1:
        found = ", ".join(f"@{kernel.sym_name.data}" for kernel in group.kernels) or "none"
        raise TilewrightError("unsupported", f"group @{group.sym_name.data}", "one kernel", found)
    return group.kernels[0]


def put_mapping(group: nest.GroupOp, arch: Architecture, problem: Problem, mapping: LoopMapping) -> None:
    """Makes a mapping the tree of a group of one kernel."""
    kernel = only_kernel(group)
    set_mapping(group, tree_of(arch, problem, mapping, kernel.sym_name.data, buffers_of(kernel)))


def capability_of(group: nest.GroupOp, machine: Machine) -> Capability:
    """The multiply-accumulate that a mapped group runs on: the first whose memories its tree names all."""
    held = {op.memory.root_reference.data for op in group.walk() if isinstance(op, HoldOp)}
    found = [c for c in multiply_accumulates(machine) if held <= {m.name for m in memory_chain(machine, c).memories}]
    first = next(iter(found), multiply_accumulate(machine))
    if first is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        raise TilewrightError("target", machine.name, "a capability that sums products of operands", "none", lever)
    return first


def read_mapping(group: nest.GroupOp, machine: Machine | None, arch: Architecture, problem: Problem) -> LoopMapping:
    """The mapping that the tree of a group of one kernel spells; errors as for `mapping_of`."""
    nodes = region_tree(group.mapping, group_of(group), machine)
    return mapping_of(arch, problem, nodes, buffers_of(only_kernel(group)))
