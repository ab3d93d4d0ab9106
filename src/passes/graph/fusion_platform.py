"""The accelerator of a module as the partitioner sees it."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from ...costs.fusion.of_machine import platform_of
from ...costs.fusion.values import Buffers, Platform
from ...dialects.acg import has_target, machine_of
from ...errors import TilewrightError


def platform_in(module: ModuleOp, global_bytes: int = 0, weight_bytes: int = 0) -> Platform:
    """The platform that the module's target is, with other capacities where they are not 0.

    A module without a target is for Cocco's machine (`Platform()`).
    """
    described = has_target(module)
    platform = platform_of(machine_of(module)) if described else Platform()
    if min(global_bytes, weight_bytes) < 0:
        raise TilewrightError(
            "usage", "global_bytes, weight_bytes", "capacities in bytes", f"{global_bytes}, {weight_bytes}"
        )
    buffers = platform.buffers
    weight = weight_bytes or buffers.weight_bytes
    return replace(platform, buffers=Buffers(global_bytes or buffers.global_bytes, weight))
