"""Weights that several products read: loaded once where they stay on chip from the first to the last."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from ...costs.fusion.of_machine import platform_of
from ...dialects import graph
from ...dialects.acg import GraphOp, machine_of
from ...dialects.types import element_of, element_type_name, size_bytes, tensor_type
from ...machine import Machine

PRODUCTS = (graph.ConvOp, graph.GemmOp, graph.MatmulOp)

LEAST_BYTES = 1024
"""Smaller weights are loaded by each of their readers."""

SHARE = 1 / 4
"""Part of the memory that such weights may take."""


def shared_weights(module: ModuleOp, block: Block) -> frozenset[SSAValue]:
    """The weights that are worth a copy among the maps, those that spare the most bytes first.

    None where the module has no target, or its maps and weights have memories of their own.
    """
    if not any(isinstance(op, GraphOp) for op in module.body.ops):
        return frozenset()
    machine = machine_of(module)
    buffers = platform_of(machine).buffers
    if buffers.weight_bytes is not None:
        return frozenset()
    spared: dict[SSAValue, int] = {}
    for op in block.ops:
        if isinstance(op, graph.WeightOp):
            size, readers = size_bytes(tensor_type(op.result)), _products(op.result)
            if readers > 1 and size >= LEAST_BYTES and _copies(machine, element_type_name(element_of(op.result))):
                spared[op.result] = size * (readers - 1)
    room, chosen = int(buffers.global_bytes * SHARE), list[SSAValue]()
    for value in sorted(spared, key=lambda value: -spared[value]):
        size = size_bytes(tensor_type(value))
        if size <= room:
            room -= size
            chosen.append(value)
    return frozenset(chosen)


def _products(weight: SSAValue) -> int:
    """How many products read a weight; 0 where anything else does, too."""
    users = {use.operation for use in weight.uses}
    return len(users) if all(isinstance(user, PRODUCTS) for user in users) else 0


def _copies(machine: Machine, element: str) -> bool:
    """Whether a node of the machine copies elements of a type from map to map."""
    capabilities = [capability for node in machine.computes for capability in node.capabilities]
    return any(
        (element, element) in capability.types and "identity" in names
        for capability in capabilities
        for _, names in capability.functions
    )
