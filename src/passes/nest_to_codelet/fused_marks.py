"""Fused groups of a function, if it has any: what they need (prices, kernels) is loaded for those that have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue

from ...costs.mapping.binding import Pricer
from ...dialects import nest
from ...machine import Machine

if TYPE_CHECKING:
    from .fused_layers import FusedGroup, FusedLayer
    from .padded_maps import Padding

KEPT = "kept"
"""On a group: its results stay on chip for all that read them."""

KEPT_LATER = "kept_later"
"""On a group that runs sample by sample: its results are stored, and stay on chip from the first group on that reads
them after all samples.
"""

BY_SAMPLE = "by_sample"
"""On a group that runs as a whole: it and its neighbours of the same number run one sample after another."""


RELOADED = "reloaded"
"""On a group that runs one sample after another: its weights are loaded again for each sample."""

UNPADDED = "unpadded"
"""On a group: what it makes in rows, and maps that are loaded for it, have no room around them."""


def marked_groups(block: Block, machine: Machine, pricer: Pricer) -> dict[nest.GroupOp, FusedGroup]:
    """`fused_layers.fused_groups`: the fused groups of a function, by each of their nest groups."""
    if not any("fused" in op.attributes for op in block.ops):
        return {}
    from .fused_layers import fused_groups

    return fused_groups(block, machine, pricer)


@dataclass
class OnChip:
    """Maps that are `kept` on chip from the group that makes or loads them to the last that reads them.

    `tensors` has those that are there so far, `weights` those of layers, `borders` the elements that stand for what
    lies outside of a map, by memory, type and value; maps of `paddings` have room around them.  Of the maps `sampled`,
    which layers that run sample by sample make and read, one sample is there at a time.
    """

    kept: frozenset[SSAValue] = frozenset()
    tensors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    sampled: frozenset[SSAValue] = frozenset()
    weights: dict[tuple[FusedLayer, SSAValue], SSAValue] = field(
        default_factory=dict[tuple["FusedLayer", SSAValue], SSAValue]
    )
    paddings: Mapping[SSAValue, Padding] = field(default_factory=dict["SSAValue", "Padding"])
    borders: dict[tuple[str, Attribute, float], SSAValue] = field(
        default_factory=dict[tuple[str, Attribute, float], SSAValue]
    )


def kept_maps(function: FuncOp) -> OnChip:
    """The maps of a function that are marked as kept."""
    found: list[SSAValue] = []
    for op in function.body.block.ops:
        if isinstance(op, nest.GroupOp) and KEPT in op.attributes:
            found += op.results
    return OnChip(frozenset(found))
