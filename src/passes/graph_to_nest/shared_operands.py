"""Weights and inputs that several products or sums read, loaded once: they stay on chip from the first to the last."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...costs.fusion.of_machine import platform_of
from ...dialects import graph
from ...dialects.acg import has_target, machine_of
from ...dialects.types import element_of, element_type_name, size_bytes, tensor_type
from ...machine import Machine

READERS = (
    graph.ConvOp,
    graph.GemmOp,
    graph.MatmulOp,
    graph.BinaryOp,
    graph.CastOp,
    graph.SoftmaxOp,
    graph.StandardizeOp,
)

LEAST_BYTES = 1024
"""Smaller weights and inputs are loaded by each of their readers."""

SHARE = 1 / 4
"""Part of the memory that all copies together may take."""


def shared_operands(module: ModuleOp, block: Block, samples: int = 1) -> frozenset[SSAValue]:
    """The weights and inputs that are worth a copy among the maps, those that spare the most bytes first.

    Of inputs one of so many `samples` is there at a time.

    None where the module has no target, or its maps and weights have memories of their own.
    """
    if not has_target(module):
        return frozenset()
    machine = machine_of(module)
    buffers = platform_of(machine).buffers
    if buffers.weight_bytes is not None:
        return frozenset()
    weights: list[SSAValue] = [
        op.result for op in block.ops if isinstance(op, graph.WeightOp) and _only_readers(op.result)
    ]
    sizes = {value: size_bytes(tensor_type(value)) for value in weights}
    sizes |= {value: size_bytes(tensor_type(value)) // samples for value in block.args}
    spared: dict[SSAValue, int] = {}
    for value in sizes:
        readers = len({use.operation for use in value.uses if isinstance(use.operation, READERS)})
        if readers > 1 and sizes[value] >= LEAST_BYTES and _copies(machine, element_type_name(element_of(value))):
            spared[value] = sizes[value] * (readers - 1)
    room, chosen = int(buffers.global_bytes * SHARE), list[SSAValue]()
    for value in sorted(spared, key=lambda value: -spared[value]):
        if sizes[value] <= room:
            room -= sizes[value]
            chosen.append(value)
    return frozenset(chosen)


def _only_readers(value: SSAValue) -> bool:
    return all(isinstance(use.operation, READERS) for use in value.uses)


def _copies(machine: Machine, element: str) -> bool:
    """Whether a node of the machine copies elements of a type from map to map."""
    capabilities = [capability for node in machine.computes for capability in node.capabilities]
    return any(
        (element, element) in capability.types and "identity" in names
        for capability in capabilities
        for _, names in capability.functions
    )


def first_reader(value: SSAValue, block: Block) -> Operation:
    """The first operation of a block that reads a value."""
    readers = {use.operation for use in value.uses}
    return next(op for op in block.ops if op in readers)
