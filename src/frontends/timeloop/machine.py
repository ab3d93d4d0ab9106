"""A chain of storage levels as an accelerator without instructions, which `.acg` text can hold."""

import re
from itertools import pairwise
from math import inf

from ...algebra.expr import Num, Statement
from ...algebra.parser import parse_statement
from ...costs.hierarchy import Architecture, Level
from ...errors import TilewrightError
from ...machine import Capability, Compute, Link, Machine, Memory, Ports
from ...machine.rules import check_machine

WIDTHS = ((8, "i8"), (16, "i16"), (32, "i32"))


def machine_of(arch: Architecture, name: str = "") -> Machine:
    """A machine with `architecture_of(machine) == arch`, up to characters that names cannot have, called `name`.

    Each operand has links through the levels that may hold it; the multiplier takes types as wide as the words of the
    innermost of them, up to 32 bits.  Raises `TilewrightError` (kind `target`) for a chain that text cannot say: a
    level that holds nothing, names that become the same.
    """
    hollow = [level.name for level in arch.levels if level.holds == ()]
    if hollow:
        raise TilewrightError("target", arch.name, "levels that hold an operand", f"{hollow[0]}, which holds none")
    names = {level.name: _name(level.name) for level in arch.levels} | {arch.mac_name: _name(arch.mac_name)}
    output, *inputs = arch.operands
    operands = {name: _name(name) for name in arch.operands}
    product = " * ".join(f"{operands[name]}{{}}" for name in inputs)
    statement = parse_statement(f"{operands[output]}{{}} += {product}")
    compute = names[arch.mac_name]
    capability = _capability(arch, compute, statement)
    memories = tuple(
        _memory(level, names[level.name], operands, index == 0) for index, level in enumerate(reversed(arch.levels))
    )
    columns, rows = arch.mac_mesh_x, arch.mac_instances // arch.mac_mesh_x
    links = _links(arch, names)
    computes = (Compute(compute, columns, rows, (capability,)),)
    machine = Machine(_name(name or arch.name), "queues", memories, computes, links)
    check_machine(machine, str)
    return machine


def _name(text: str) -> str:
    cleaned = re.sub(r"\W", "_", text, flags=re.ASCII)
    return cleaned if re.match(r"[A-Za-z_]", cleaned) else f"_{cleaned}"


def _capability(arch: Architecture, node: str, statement: Statement) -> Capability:
    widths = [next((x.word_bits for x in arch.levels if x.holds is None or o in x.holds), 32) for o in arch.operands]
    types = tuple(next((name for bits, name in WIDTHS if width <= bits), "i32") for width in widths)
    return Capability("mac", node, (), statement, (types,), Num(1), Num(arch.mac_energy_pj))


def _memory(level: Level, name: str, operands: dict[str, str], outermost: bool) -> Memory:
    return Memory(
        name=name,
        data_width_bits=level.word_bits,
        banks=1,
        depth=level.entries,
        offchip=outermost,
        instances_x=level.mesh_x,
        instances_y=level.instances // level.mesh_x,
        holds=None if level.holds is None else tuple(operands[name] for name in level.holds),
        buffering=level.multiple_buffering,
        ports=Ports(
            level.block_size,
            level.energy_pj,
            level.write_energy_pj,
            level.read_bandwidth,
            level.write_bandwidth,
            level.shared_bandwidth,
            level.network_bandwidth,
            level.hop_energy_pj,
            level.latency_cycles,
        ),
    )


def _links(arch: Architecture, names: dict[str, str]) -> tuple[Link, ...]:
    """Each operand's path inward over the levels that may hold it; the output's also outward."""
    found: dict[tuple[str, str], bool] = {}
    for operand in arch.operands:
        path = [level.name for level in reversed(arch.levels) if level.holds is None or operand in level.holds]
        path.append(arch.mac_name)
        for outer, inner in pairwise(path):
            edge = names[outer], names[inner]
            found[edge] = found.get(edge, False) or operand == arch.operands[0]
    links: list[Link] = []
    for (outer, inner), both in found.items():
        forth = Link(outer, inner, inf, channel=f"{outer}<->{inner}" if both else "")
        links += [forth, forth.reversed()] if both else [forth]
    return tuple(links)
