"""Between the ops of the `acg` dialect and `Machine`; `acg_control_models` does what goes field by field."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, Region

from ..machine import Capability, Compute, Link, Machine, Memory, Mnemonic, Unit
from .acg import CapabilityOp, ComputeOp, GraphOp, IsaOp, LinkOp, MemoryOp, MnemonicOp, UnitOp, declarations
from .acg_attributes import FormulaAttr, PairsAttr
from .acg_control_models import (
    declaration,
    declared,
    macro_op,
    macro_values,
    packet_ops,
    packet_value,
    stage_ops,
    stages_value,
)


def graph_op(machine: Machine) -> GraphOp:
    """The op of a whole machine; ops of equal machines have the same attributes, which are compared at once."""
    return _graph_op(machine).clone()


@lru_cache(maxsize=16)
def _graph_op(machine: Machine) -> GraphOp:
    two_way = [(link.dst, link.src) for link in machine.links if link.back]
    ops: list[Operation] = [declaration(MemoryOp, memory) for memory in machine.memories]
    ops += [declaration(ComputeOp, node, _capability_ops(node.capabilities)) for node in machine.computes]
    ops += [_link_op(link, (link.src, link.dst) in two_way) for link in machine.links if not link.back]
    ops += [declaration(UnitOp, unit) for unit in machine.units]
    ops += [declaration(IsaOp, machine)] if machine.has_isa else []
    ops += [_mnemonic_op(mnemonic) for mnemonic in machine.mnemonics]
    ops += [macro_op(macro) for macro in machine.macros]
    ops += packet_ops(machine.packets) if machine.packets is not None else []
    ops += stage_ops(machine.stages) if machine.stages is not None else []
    return declaration(GraphOp, machine, Region(Block(ops)))


Facts = tuple[Any, ...]

RECENT = 8
"""Machines that are kept beside the ops that they came from: passes ask for the same one again and again."""

_recent: list[tuple[Facts, Machine]] = []


def machine_value(graph: GraphOp) -> Machine:
    """The machine of an op, not checked."""
    facts = _facts(graph)
    at = next((at for at, (known, _) in enumerate(_recent) if known == facts), None)
    machine = _machine(graph) if at is None else _recent.pop(at)[1]
    # The newest attributes are kept: the next pass has the same objects, which compare equal by identity.
    _recent[:] = [(facts, machine), *_recent[: RECENT - 1]]
    return machine


def _facts(op: Operation) -> Facts:
    """All that an op says; facts are equal where machines are, and quick to compare where attributes are the same.

    Of what declarations do not have (operands, results, successors, arguments of blocks) they say how many there are.
    """
    inner = [
        (len(block.args), *(_facts(child) for child in block.ops)) for region in op.regions for block in region.blocks
    ]
    others = len(op.operands), len(op.results), len(op.successors), len(op.regions)
    return (type(op), tuple(op.properties.items()), tuple(op.attributes.items()), others, tuple(inner))


_verified: list[Facts] = []


def was_verified(graph: GraphOp) -> bool:
    """Whether the declarations of an op that says the same were verified a short time ago."""
    return _facts(graph) in _verified


def note_verified(graph: GraphOp) -> None:
    """The declarations of an op are verified: they are the same between passes."""
    if not was_verified(graph):
        _verified[:] = [_facts(graph), *_verified[: RECENT - 1]]


def _machine(graph: GraphOp) -> Machine:
    ops = declarations(graph.body)
    isa = next((declared(op) for op in ops if isinstance(op, IsaOp)), {})
    return Machine(
        **declared(graph),
        memories=tuple(_memory(op) for op in ops if isinstance(op, MemoryOp)),
        computes=tuple(_compute(op) for op in ops if isinstance(op, ComputeOp)),
        links=tuple(link for op in ops if isinstance(op, LinkOp) for link in _links(op)),
        units=tuple(Unit(**declared(op)) for op in ops if isinstance(op, UnitOp)),
        mnemonics=tuple(_mnemonic(op) for op in ops if isinstance(op, MnemonicOp)),
        packets=packet_value(ops),
        macros=macro_values(ops),
        stages=stages_value(ops),
        **isa,
    )


def _memory(op: MemoryOp) -> Memory:
    given: dict[str, Any] = {"depth": None, **declared(op)}
    return Memory(**given)


def _compute(op: ComputeOp) -> Compute:
    return Compute(**declared(op), capabilities=_capabilities(op.body, op.sym_name.data))


def _link_op(link: Link, both: bool) -> LinkOp:
    unlimited: dict[str, Any] = {"bandwidth": None} if math.isinf(link.bandwidth_bytes_per_cycle) else {}
    body = _capability_ops(link.capabilities)
    return declaration(LinkOp, link, body, both=UnitAttr() if both else None, **unlimited)


def _links(op: LinkOp) -> tuple[Link, ...]:
    given: dict[str, Any] = {"bandwidth_bytes_per_cycle": math.inf, **declared(op)}
    both = given.pop("both", False)
    forth = Link(**given)
    forth = replace(forth, capabilities=_capabilities(op.body, forth.name))
    return (forth, forth.reversed()) if both else (forth,)


def _capability_ops(capabilities: Sequence[Capability]) -> Region:
    return Region(Block([_capability_op(c) for c in capabilities]) if capabilities else ())


def _capabilities(body: Region, node: str) -> tuple[Capability, ...]:
    return tuple(Capability(**declared(op), node=node) for op in declarations(body) if isinstance(op, CapabilityOp))


def _capability_op(capability: Capability) -> CapabilityOp:
    cycles, energy_pj = map(FormulaAttr, capability.formulas)
    return declaration(CapabilityOp, capability, cycles=cycles, energy_pj=energy_pj)


def _mnemonic_op(mnemonic: Mnemonic) -> MnemonicOp:
    axes = (("x", mnemonic.spread_x), ("y", mnemonic.spread_y))
    spread = tuple((axis, name) for axis, name in axes if name)
    return declaration(MnemonicOp, mnemonic, spread=PairsAttr(spread) if spread else None)


def _mnemonic(op: MnemonicOp) -> Mnemonic:
    given = declared(op)
    spread = {f"spread_{axis}": field for axis, field in given.pop("spread", ())}
    return Mnemonic(**given, **spread)
