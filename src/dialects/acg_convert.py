"""Between the ops of the `acg` dialect and `Machine`: each declaration has one function each way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import Float64Type, FloatAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, f64, i64
from xdsl.ir import Attribute, Block, Operation, Region

from ..algebra.expr import Expr
from ..machine import Capability, Compute, Link, Machine, Memory, Mnemonic, Ports, Unit
from .acg import (
    CapabilityOp,
    ComputeOp,
    GraphOp,
    IsaOp,
    LinkOp,
    MemoryOp,
    MnemonicOp,
    UnitOp,
    declarations,
)
from .acg_attributes import (
    ActionAttr,
    ChoicesAttr,
    DimsAttr,
    EngineAttr,
    FieldsAttr,
    FormulaAttr,
    NamesAttr,
    OperandsAttr,
    PairsAttr,
    PortsAttr,
    StatementAttr,
    TypesAttr,
    executed,
)
from .acg_macros import macro_op, macro_values
from .acg_packets import packet_ops, packet_value
from .acg_stages import stage_ops, stages_value
from .acg_timing import TimingAttr


def _int(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _float(value: float) -> FloatAttr[Float64Type]:
    return FloatAttr(value, f64)


def _present(properties: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {name: attribute for name, attribute in properties.items() if attribute is not None}


def _formula(formula: Expr | None) -> FormulaAttr | None:
    return FormulaAttr(formula) if formula is not None else None


def _written(attribute: FormulaAttr | None) -> Expr | None:
    return attribute.data if attribute is not None else None


def _pairs(pairs: tuple[tuple[str, str], ...]) -> PairsAttr | None:
    return PairsAttr(pairs) if pairs else None


def _data(attribute: PairsAttr | None) -> tuple[tuple[str, str], ...]:
    return attribute.data if attribute is not None else ()


def graph_op(machine: Machine) -> GraphOp:
    """The op of a whole machine."""
    two_way = [(link.dst, link.src) for link in machine.links if link.back]
    ops: list[Operation] = [_memory_op(memory) for memory in machine.memories]
    ops += [_compute_op(compute) for compute in machine.computes]
    ops += [_link_op(link, (link.src, link.dst) in two_way) for link in machine.links if not link.back]
    ops += [_unit_op(unit) for unit in machine.units]
    ops += [_isa_op(machine)] if machine.has_isa else []
    ops += [_mnemonic_op(mnemonic) for mnemonic in machine.mnemonics]
    ops += [macro_op(macro) for macro in machine.macros]
    ops += packet_ops(machine.packets) if machine.packets is not None else []
    ops += stage_ops(machine.stages) if machine.stages is not None else []
    properties = {
        "sym_name": StringAttr(machine.name),
        "control": StringAttr(machine.control),
        "frequency_hz": _float(machine.frequency_hz),
    }
    return GraphOp.create(properties=properties, regions=[Region(Block(ops))])


Facts = tuple[Any, ...]

RECENT = 8
"""Machines that are kept beside the ops that they came from: passes ask for the same one again and again."""

_recent: list[tuple[Facts, Machine]] = []


def machine_value(graph: GraphOp) -> Machine:
    """The machine of an op, not checked."""
    facts = _facts(graph)
    known = next((machine for known, machine in _recent if known == facts), None)
    if known is None:
        known = _machine(graph)
        _recent[:] = [(facts, known), *_recent[: RECENT - 1]]
    return known


def _facts(op: Operation) -> Facts:
    """All that an op says; facts are equal where machines are, and quick to compare where attributes are the same."""
    inner = [_facts(child) for region in op.regions for block in region.blocks for child in block.ops]
    return (type(op), tuple(op.properties.items()), tuple(op.attributes.items()), tuple(inner))


def _machine(graph: GraphOp) -> Machine:
    ops = declarations(graph.body)
    isa = next((_isa_fields(op) for op in ops if isinstance(op, IsaOp)), {})
    return Machine(
        graph.sym_name.data,
        graph.control.data,
        tuple(_memory(op) for op in ops if isinstance(op, MemoryOp)),
        tuple(_compute(op) for op in ops if isinstance(op, ComputeOp)),
        tuple(link for op in ops if isinstance(op, LinkOp) for link in _links(op)),
        tuple(_unit(op) for op in ops if isinstance(op, UnitOp)),
        tuple(_mnemonic(op) for op in ops if isinstance(op, MnemonicOp)),
        frequency_hz=graph.frequency_hz.value.data,
        packets=packet_value(ops),
        macros=macro_values(ops),
        stages=stages_value(ops),
        **isa,
    )


def _memory_op(memory: Memory) -> MemoryOp:
    properties = {
        "sym_name": StringAttr(memory.name),
        "data_width_bits": _int(memory.data_width_bits),
        "banks": _int(memory.banks),
        "depth": None if memory.depth is None else _int(memory.depth),
        "align_bytes": _int(memory.align_bytes),
        "read_energy_pj": _float(memory.read_energy_pj_per_byte),
        "write_energy_pj": _float(memory.write_energy_pj_per_byte),
        "instances_x": _int(memory.instances_x) if memory.instances_x != 1 else None,
        "instances_y": _int(memory.instances_y) if memory.instances_y != 1 else None,
        "holds": NamesAttr(memory.holds) if memory.holds is not None else None,
        "buffering": _float(memory.buffering) if memory.buffering != 1 else None,
        "most_regions": _int(memory.regions) if memory.regions else None,
        "ports": PortsAttr(memory.ports) if memory.ports != Ports() else None,
        "offchip": UnitAttr() if memory.offchip else None,
        "timing": TimingAttr(memory.timing) if memory.timing is not None else None,
        "area_mm2": _formula(memory.area_mm2),
    }
    return MemoryOp.create(properties=_present(properties))


def _memory(op: MemoryOp) -> Memory:
    return Memory(
        op.sym_name.data,
        op.data_width_bits.value.data,
        op.banks.value.data,
        op.depth.value.data if op.depth is not None else None,
        op.offchip is not None,
        op.align_bytes.value.data,
        op.read_energy_pj.value.data,
        op.write_energy_pj.value.data,
        op.instances_x.value.data if op.instances_x is not None else 1,
        op.instances_y.value.data if op.instances_y is not None else 1,
        op.holds.data if op.holds is not None else None,
        op.buffering.value.data if op.buffering is not None else 1.0,
        op.ports.data if op.ports is not None else Ports(),
        op.most_regions.value.data if op.most_regions is not None else 0,
        op.timing.data if op.timing is not None else None,
        _written(op.area_mm2),
    )


def _compute_op(compute: Compute) -> ComputeOp:
    properties = {
        "sym_name": StringAttr(compute.name),
        "instances_x": _int(compute.instances_x),
        "instances_y": _int(compute.instances_y),
        "area_mm2": _formula(compute.area_mm2),
    }
    return ComputeOp.create(properties=_present(properties), regions=[_capability_ops(compute.capabilities)])


def _compute(op: ComputeOp) -> Compute:
    name = op.sym_name.data
    x, y = op.instances_x.value.data, op.instances_y.value.data
    return Compute(name, x, y, _capabilities(op.body, name), _written(op.area_mm2))


def _link_op(link: Link, both: bool) -> LinkOp:
    bandwidth = link.bandwidth_bytes_per_cycle
    properties = {
        "src": StringAttr(link.src),
        "dst": StringAttr(link.dst),
        "both": UnitAttr() if both else None,
        "bandwidth": None if math.isinf(bandwidth) else _float(bandwidth),
        "latency_cycles": _int(link.latency_cycles),
        "channel": StringAttr(link.channel),
        "area_mm2": _formula(link.area_mm2),
    }
    return LinkOp.create(properties=_present(properties), regions=[_capability_ops(link.capabilities)])


def _links(op: LinkOp) -> tuple[Link, ...]:
    bandwidth = op.bandwidth.value.data if op.bandwidth is not None else math.inf
    forth = Link(op.src.data, op.dst.data, bandwidth, op.latency_cycles.value.data, op.channel.data)
    forth = replace(forth, capabilities=_capabilities(op.body, forth.name), area_mm2=_written(op.area_mm2))
    return (forth,) if op.both is None else (forth, forth.reversed())


def _capability_ops(capabilities: Sequence[Capability]) -> Region:
    return Region(Block([_capability_op(c) for c in capabilities]) if capabilities else ())


def _capabilities(body: Region, node: str) -> tuple[Capability, ...]:
    return tuple(_capability(op, node) for op in declarations(body) if isinstance(op, CapabilityOp))


def _capability_op(capability: Capability) -> CapabilityOp:
    properties = {
        "sym_name": StringAttr(capability.name),
        "dims": DimsAttr(capability.dims),
        "statement": StatementAttr(capability.statement),
        "functions": ChoicesAttr(capability.functions) if capability.functions else None,
        "immediates": _pairs(capability.immediates),
        "types": TypesAttr(capability.types),
        "splits": NamesAttr(capability.splits) if capability.splits else None,
        "cycles": FormulaAttr(capability.formulas[0]),
        "energy_pj": FormulaAttr(capability.formulas[1]),
    }
    return CapabilityOp.create(properties=_present(properties))


def _capability(op: CapabilityOp, node: str) -> Capability:
    return Capability(
        op.sym_name.data,
        node,
        op.dims.data,
        op.statement.data,
        op.types.data,
        op.cycles.data,
        op.energy_pj.data,
        op.functions.data if op.functions is not None else (),
        _data(op.immediates),
        op.splits.data if op.splits is not None else (),
    )


def _unit_op(unit: Unit) -> UnitOp:
    engine = EngineAttr(unit.engine) if unit.engine is not None else None
    properties = {"sym_name": StringAttr(unit.name), "depth": _int(unit.depth), "engine": engine}
    return UnitOp.create(properties=_present(properties))


def _unit(op: UnitOp) -> Unit:
    return Unit(op.sym_name.data, op.depth.value.data, op.engine.data if op.engine is not None else None)


def _isa_op(machine: Machine) -> IsaOp:
    properties = {
        "opcode_bits": _int(machine.opcode_bits),
        "align_bits": _int(machine.instruction_align_bits),
        "width_bits": _int(machine.instruction_bits),
        "header": FieldsAttr(machine.header),
        "signal": StringAttr(machine.signal),
        "waits": PairsAttr(machine.waits),
        "positional": UnitAttr() if machine.positional else None,
        "little": UnitAttr() if machine.little else None,
    }
    return IsaOp.create(properties=_present(properties))


def _isa_fields(op: IsaOp) -> dict[str, Any]:
    """Fields of a machine that an `acg.isa` gives."""
    return {
        "opcode_bits": op.opcode_bits.value.data,
        "instruction_align_bits": op.align_bits.value.data,
        "instruction_bits": op.width_bits.value.data,
        "header": op.header.data,
        "signal": op.signal.data,
        "waits": op.waits.data,
        "positional": op.positional is not None,
        "little": op.little is not None,
    }


def _mnemonic_op(mnemonic: Mnemonic) -> MnemonicOp:
    axes = (("x", mnemonic.spread_x), ("y", mnemonic.spread_y))
    properties = {
        "sym_name": StringAttr(mnemonic.name),
        "opcode": _int(mnemonic.opcode),
        "unit": StringAttr(mnemonic.unit),
        "fields": FieldsAttr(mnemonic.fields),
        "execute": SymbolRefAttr(mnemonic.node, [mnemonic.capability]) if mnemonic.capability else None,
        "extents": PairsAttr(mnemonic.extents) if mnemonic.capability else None,
        "bindings": OperandsAttr(mnemonic.operands) if mnemonic.capability else None,
        "action": ActionAttr(mnemonic.action) if mnemonic.action is not None else None,
        "named": StringAttr(mnemonic.named) if mnemonic.named else None,
        "functions": _pairs(mnemonic.functions),
        "immediates": _pairs(mnemonic.immediates),
        "accumulate": StringAttr(mnemonic.accumulate) if mnemonic.accumulate else None,
        "spread": _pairs(tuple((axis, name) for axis, name in axes if name)),
    }
    return MnemonicOp.create(properties=_present(properties))


def _mnemonic(op: MnemonicOp) -> Mnemonic:
    spread = dict(_data(op.spread))
    return Mnemonic(
        op.sym_name.data,
        op.opcode.value.data,
        op.unit.data,
        op.fields.data,
        *executed(op.execute),
        _data(op.extents),
        op.bindings.data if op.bindings is not None else (),
        _data(op.functions),
        _data(op.immediates),
        op.accumulate.data if op.accumulate is not None else "",
        spread.get("x", ""),
        spread.get("y", ""),
        op.action.data if op.action is not None else None,
        op.named.data if op.named is not None else "",
    )
