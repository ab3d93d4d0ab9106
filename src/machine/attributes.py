"""Formulas that name what the file says elsewhere, so that no number is said twice.

`bandwidth` and `latency` are those of the link that a capability belongs to, `k_lanes` the lanes of its dim `k`; others
go by path, with the words of the language: `GBUF.depth`, `DRAM->GBUF.bandwidth`.  Numbers take the places of names when
a machine is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, TypeVar

from ..algebra.expr import Expr, Num, free_names, substitute

if TYPE_CHECKING:
    from .model import Capability, Compute, Link, Machine, Memory

Numbers = Mapping[str, int | float]
Node = TypeVar("Node", "Compute", "Link")

MEMORY_FIELDS = {
    "data_width": "data_width_bits",
    "banks": "banks",
    "depth": "depth",
    "align": "align_bytes",
    "read_energy": "read_energy_pj_per_byte",
    "write_energy": "write_energy_pj_per_byte",
    "buffering": "buffering",
}
"""Attributes of a memory in the language, and its fields in `Memory`."""

PORT_FIELDS = {
    "block": "block_words",
    "latency": "latency_cycles",
    "access_energy": "read_energy_pj",
    "write_access_energy": "write_energy_pj",
    "read_bandwidth": "read_bandwidth",
    "write_bandwidth": "write_bandwidth",
    "shared_bandwidth": "shared_bandwidth",
    "network_bandwidth": "network_bandwidth",
    "hop_energy": "hop_energy_pj",
    "flit": "flit_bits",
    "queue": "queue_flits",
    "router": "router_cycles",
    "tag_energy": "tag_energy_pj",
}
"""Attributes of a memory in the language, and its fields in `Ports`."""


def resolved(machine: Machine) -> tuple[tuple[Compute, ...], tuple[Link, ...]]:
    """Nodes and links whose capabilities' formulas have numbers for the attributes that they name."""
    paths: Numbers | None = None
    nodes = (*machine.computes, *machine.links)
    if any("." in name for node in nodes for c in node.capabilities for name in _named(c)):
        paths = _paths(machine)
    computes = tuple(_node(node, {}, paths or {}) for node in machine.computes)
    links = tuple(_node(link, own_attributes(link), paths or {}) for link in machine.links)
    return computes, links


def _node(node: Node, own: Numbers, paths: Numbers) -> Node:
    found = tuple(_resolved(c, own, paths) for c in node.capabilities)
    same = all(new is old for new, old in zip(found, node.capabilities, strict=True))
    return node if same else replace(node, capabilities=found)


def own_attributes(link: Link) -> dict[str, int | float]:
    """What capabilities of a link may name without a path; an unlimited bandwidth is no number."""
    found: dict[str, int | float] = {"latency": link.latency_cycles}
    if link.bandwidth_bytes_per_cycle < inf:
        found["bandwidth"] = _number(link.bandwidth_bytes_per_cycle)
    return found


def _named(capability: Capability) -> set[str]:
    return {name for formula in capability.formulas for name in free_names(formula)}


def _resolved(capability: Capability, own: Numbers, paths: Numbers) -> Capability:
    """The capability with numbers in its formulas; the formulas as written are kept."""
    if capability.written is None and not _named(capability):
        return capability
    dims = {dim.name for dim in capability.dims}
    lanes = {f"{dim.name}_lanes": dim.lanes for dim in capability.dims}
    known = {name: Num(value) for name, value in {**paths, **own, **lanes}.items() if name not in dims}
    cycles, energy = capability.formulas
    found = replace(capability, written=None, cycles=_with(cycles, known), energy_pj=_with(energy, known))
    changed = (found.cycles, found.energy_pj) != (cycles, energy)
    return replace(found, written=(cycles, energy)) if changed else found


def _with(formula: Expr, known: Mapping[str, Expr]) -> Expr:
    return substitute(formula, {name: known[name] for name in free_names(formula) if name in known})


def _paths(machine: Machine) -> dict[str, int | float]:
    """Every attribute that a file may give a memory or link, where it has a value."""
    found: dict[str, int | float | None] = {}
    for memory in machine.memories:
        found |= {f"{memory.name}.{key}": value for key, value in _of_memory(memory).items()}
    for link in machine.links:
        found |= {f"{link.name}.{key}": value for key, value in own_attributes(link).items()}
    return {name: _number(value) for name, value in found.items() if value is not None}


def _of_memory(memory: Memory) -> dict[str, int | float | None]:
    own = {word: getattr(memory, field) for word, field in MEMORY_FIELDS.items()}
    return own | {word: getattr(memory.ports, field) for word, field in PORT_FIELDS.items()}


def _number(value: float) -> int | float:
    """Whole numbers as integers, on which formulas are exact."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
