"""What `tilewright targets` says about machines."""

from dataclasses import asdict
from typing import Any

from ..costs.hierarchy import architecture_of
from ..errors import TilewrightError
from ..frontends.acg import load_target, target_files
from ..machine import Machine
from ..machine.area import area_of, areas_of


def describe_target(name: str) -> dict[str, Any]:
    """What `tilewright targets` says about a target: memories (levels), element types, mnemonics."""
    return describe_machine(load_target(name), str(target_files().get(name, name)))


def describe_machine(machine: Machine, file: str) -> dict[str, Any]:
    """`describe_target` of a machine that `file` holds."""
    try:
        arch = architecture_of(machine)
    except TilewrightError:  # nothing to map on
        arch = None
    capabilities = [c for node in (*machine.computes, *machine.links) for c in node.capabilities]
    mnemonics = machine.packets.mnemonics if machine.packets else machine.mnemonics
    return {
        "name": machine.name,
        "file": file,
        "levels": [memory.name for memory in machine.memories],
        "memories": [
            {
                "name": m.name,
                "capacity_bytes": m.capacity_bytes if m.depth is not None else None,
                "instances": m.instances_x * m.instances_y,
            }
            for m in machine.memories
        ],
        "dtypes": sorted({element for c in capabilities for row in c.types for element in row}),
        "has_mnemonics": bool(mnemonics),
        "mnemonics": [mnemonic.name for mnemonic in mnemonics],
        "chain": [asdict(level) for level in reversed(arch.levels)] if arch is not None else [],
        "area_mm2": area_of(machine),
        "areas_mm2": areas_of(machine),
        "multipliers": arch.mac_instances if arch is not None else 0,
    }
