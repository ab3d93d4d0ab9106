"""Fused groups of a function, if it has any: what they need (prices, kernels) is loaded for those that have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Block

from ...costs.mapping.binding import Pricer
from ...dialects import nest
from ...machine import Machine

if TYPE_CHECKING:
    from .fused_layers import FusedGroup


def marked_groups(block: Block, machine: Machine, pricer: Pricer) -> dict[nest.GroupOp, FusedGroup]:
    """`fused_layers.fused_groups`: the fused groups of a function, by each of their nest groups."""
    if not any("fused" in op.attributes for op in block.ops):
        return {}
    from .fused_layers import fused_groups

    return fused_groups(block, machine, pricer)
