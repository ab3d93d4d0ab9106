"""A machine as Timeloop's YAML: the list form, which every release reads, and energies that need a table."""

from __future__ import annotations

from ...costs.hierarchy import Architecture, Level, Problem
from ...frontends.timeloop.architecture import SPACES
from .text import Document, dump


def architecture_yaml(arch: Architecture, problem: Problem | None = None) -> str:
    """The `arch` of `timeloop-model`, with an `ERT` beside it and constraints on what levels hold of a problem.

    The table has the energy of a multiply-accumulate (Timeloop reads whole numbers only from `arch`) and prices of
    writes that are not those of reads.  Not said, because Timeloop has no word for it: the bandwidth of networks.
    """
    document: Document = {
        "arch": {
            "name": arch.name,
            "arithmetic": {
                "name": arch.mac_name,
                "instances": arch.mac_instances,
                "meshX": arch.mac_mesh_x,
                "word_bits": arch.levels[0].word_bits,
            },
            "storage": [_storage(level, level is arch.levels[-1]) for level in arch.levels],
        },
        "ERT": {"version": 0.3, "tables": _tables(arch)},
    }
    if constraints := _constraints(arch, _operands(arch, problem)):
        document["architecture_constraints"] = {"targets": constraints}
    return dump(document)


def _storage(level: Level, outermost: bool) -> Document:
    values: Document = {
        "name": level.name,
        "technology": "DRAM" if outermost else "SRAM",
        "entries": level.entries,
        "instances": level.instances,
        "meshX": level.mesh_x,
        "word_bits": level.word_bits,
        "block_size": level.block_size,
        "vector_access_energy": level.energy_pj,
        "read_bandwidth": level.read_bandwidth,
        "write_bandwidth": level.write_bandwidth,
        "shared_bandwidth": level.shared_bandwidth,
        "energy_per_hop": level.hop_energy_pj or None,
        "multiple_buffering": level.multiple_buffering if level.multiple_buffering != 1 else None,
        "network_fill_latency": level.latency_cycles or None,
        "network_drain_latency": level.latency_cycles or None,
    }
    return {key: value for key, value in values.items() if value is not None}


def _tables(arch: Architecture) -> list[Document]:
    """Actions by the names that releases of Timeloop look for."""
    computes = [{"name": name, "energy": arch.mac_energy_pj} for name in ("mac_random", "mac", "compute")]
    tables: list[Document] = [{"name": f"system.{arch.mac_name}", "actions": computes}]
    for level in arch.levels:
        if level.write_energy_pj is None or level.write_energy_pj == level.energy_pj:
            continue
        prices = {"read": level.energy_pj, "write": level.write_energy_pj, "update": level.write_energy_pj}
        actions = [{"name": name, "energy": energy} for name, energy in prices.items()]
        tables.append({"name": f"system.{level.name}", "actions": actions})
    return tables


def _operands(arch: Architecture, problem: Problem | None) -> list[tuple[str, str]]:
    """Data spaces and the operands that they are; without a problem those of Timeloop's layers."""
    if problem is not None:
        return [(t.name, role) for t, role in zip(problem.tensors, arch.roles(problem), strict=True)]
    return [(space, operand) for space, operand in SPACES.items() if operand in arch.operands]


def _constraints(arch: Architecture, operands: list[tuple[str, str]]) -> list[Document]:
    found: list[Document] = []
    for level in arch.levels:
        if level.holds is not None:
            keep = [space for space, operand in operands if operand in level.holds]
            bypass = [space for space, operand in operands if operand not in level.holds]
            found.append(
                {"target": level.name, "type": "bypass"} | ({"keep": keep} if keep else {}) | {"bypass": bypass}
            )
    return found
