"""`Machine` to canonical `.acg` text: declarations by kind, defaults left out, lines of at most 120 columns."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from ...algebra.expr import Num, print_expr, print_statement
from ...machine import Capability, Compute, Engine, Field, Link, Machine, Memory, Mnemonic, OperandBinding
from ...machine.attributes import PORT_FIELDS
from ...machine.dram import DramTiming, differences
from ...machine.rules import default_channel
from .declarations import macro_lines, packed_lines, packet_lines, stage_lines, width_text
from .words import (
    COLUMNS,
    FUSED_WORDS,
    GLUE,
    LINK_WORDS,
    MEMORY_WORDS,
    braced,
    executed_text,
    number_text,
    number_words,
    packed,
    pairs_text,
    worded,
    wrapped,
)


def print_target(machine: Machine) -> str:
    """Text that `parse_target` reads back as an equal machine; the same for equal machines."""
    groups = [
        list(_head(machine)),
        [_memory(memory) for memory in machine.memories],
        *(list(_compute(compute)) for compute in machine.computes),
        list(_links(machine)),
        list(_units(machine)),
        list(stage_lines(machine.stages)) if machine.stages is not None else [],
        list(_isa(machine)) if machine.has_isa else [],
        *(list(_mnemonic(mnemonic)) for mnemonic in machine.mnemonics),
        *(list(macro_lines(macro)) for macro in machine.macros),
        *([list(packet_lines(machine.packets))] if machine.packets is not None else []),
        *(list(packed_lines(item)) for item in (machine.packets.mnemonics if machine.packets is not None else ())),
    ]
    body = "\n\n".join("\n".join(group) for group in groups if group)
    return f"acg {machine.name} {{\n{body}\n}}\n"


def _head(machine: Machine) -> Iterator[str]:
    """The control model where something is controlled, the frequency there and where it is not 1 GHz."""
    runs = machine.has_isa or machine.units or machine.control != "queues"
    if runs:
        yield f"  control {machine.control};"
    if runs or machine.frequency_hz != 1e9:
        yield f"  frequency {number_text(machine.frequency_hz)};"


def _memory(memory: Memory) -> str:
    parts = number_words(memory, MEMORY_WORDS, banks=1, depth=None)
    parts += number_words(memory.ports, PORT_FIELDS) + number_words(memory, FUSED_WORDS)
    parts += [f"holds {', '.join(memory.holds)};"] if memory.holds is not None else []
    parts += ["offchip;"] if memory.offchip else []
    parts += [_timing(memory.timing)] if memory.timing is not None else []
    parts += worded(("area", _area(memory)))
    head = f"memory {memory.name}{_instances(memory)} {{"
    if len(line := f"  {head} {' '.join(parts)} }}") <= COLUMNS:
        return line
    return "\n".join([f"  {head}", *packed(parts, 4), "  }"])


def _timing(timing: DramTiming) -> str:
    figures, address = differences(timing)
    items = [f"{key} {value};" for key, value in figures.items()]
    items += [f"map {', '.join(f'{part} {bits}' for part, bits in address)};"] if address is not None else []
    return f'timing "{timing.name}" {{ {" ".join(items)} }}' if items else f'timing "{timing.name}";'


def _area(node: Memory | Compute | Link) -> str:
    return print_expr(node.area_mm2) if node.area_mm2 is not None else ""


def _instances(node: Memory | Compute) -> str:
    single = (node.instances_x, node.instances_y) == (1, 1)
    return "" if single else f"[{node.instances_x}][{node.instances_y}]"


def _compute(compute: Compute) -> Iterator[str]:
    yield " ".join([f"  compute {compute.name}{_instances(compute)} {{", *worded(("area", _area(compute)))])
    for capability in compute.capabilities:
        yield from _capability(capability)
    yield "  }"


def _capability(capability: Capability) -> Iterator[str]:
    lines = [list(line) for line in _capability_lines(capability)]
    short = f"    capability {capability.name} {{ {' '.join(chain(*lines))} }}".replace(GLUE, " ")
    if not capability.dims and len(short) <= COLUMNS:
        yield short
        return
    yield f"    capability {capability.name} {{"
    for line in lines:
        yield from packed(line, 6)
    yield "    }"


def _capability_lines(capability: Capability) -> Iterator[Iterable[str]]:
    lanes = {dim: f" lanes {dim.lanes}" if dim.lanes != 1 else "" for dim in capability.dims}
    dims = (f"{dim.name} <= {dim.limit}{lanes[dim]}".replace(" ", GLUE) for dim in capability.dims)
    yield worded(("dims", ", ".join(dims)))
    yield [f"{print_statement(capability.statement)};"]
    yield [f"functions {variable} = {', '.join(functions)};" for variable, functions in capability.functions]
    yield worded(
        ("immediates", pairs_text(capability.immediates)),
        ("types", " | ".join(_types(row) for row in capability.types)),
        ("splits", ", ".join(capability.splits)),
    )
    cycles, energy = capability.formulas
    single = not capability.dims and cycles == Num(1)
    yield worded(
        ("cycles", "" if single else print_expr(cycles)), ("energy", print_expr(energy) if energy != Num(0) else "")
    )


def _types(row: tuple[str, ...]) -> str:
    target, *others = row
    return f"{target}{GLUE}={GLUE}{f',{GLUE}'.join(others)}" if others else target


def _links(machine: Machine) -> Iterator[str]:
    """A statement for each link; links of which nothing is said, and that follow on each other, are one chain."""
    chain, end = "", ""
    for link in (link for link in machine.links if not link.back):
        first, *rest = _link(machine, link)
        if chain and (rest or not first.endswith(";") or link.src != end):
            yield f"{chain};"
            chain = ""
        if rest or not first.endswith(";"):
            yield from (first, *rest)
        else:
            step = first.removesuffix(";")
            chain, end = chain + step.removeprefix(f"  link {end}") if chain else step, link.dst
    if chain:
        yield f"{chain};"


def _link(machine: Machine, link: Link) -> Iterator[str]:
    both = any(other.back and (other.dst, other.src) == (link.src, link.dst) for other in machine.links)
    arrow = "<->" if both else "->"
    parts = number_words(link, LINK_WORDS, bandwidth_bytes_per_cycle=math.inf)
    channel = link.channel if link.channel != default_channel(machine, link) else ""
    parts += worded(("channel", channel), ("area", _area(link)))
    head = f"  link {link.src} {arrow} {link.dst}"
    if not link.capabilities:
        yield f"{head} {{ {' '.join(parts)} }}" if parts else f"{head};"
        return
    yield " ".join([head, "{", *parts])
    for capability in link.capabilities:
        yield from _capability(capability)
    yield "  }"


def _units(machine: Machine) -> Iterator[str]:
    heads = {unit.name: f"unit {unit.name}{f' depth {unit.depth}' if unit.depth else ''}" for unit in machine.units}
    yield from packed((f"{heads[unit.name]};" for unit in machine.units if unit.engine is None), 2)
    for unit in machine.units:
        if unit.engine is not None:
            yield f"  {heads[unit.name]} {{"
            yield from packed(_engine(unit.engine), 4)
            yield "  }"


def _engine(engine: Engine) -> Iterator[str]:
    yield from worded(("execute", executed_text(engine)))
    yield from (f"operand {_operand(operand)};" for operand in engine.operands)
    yield from (f"initial {_operand(operand)};" for operand in engine.initial)
    lists = {"loops": engine.levels, "granules": engine.granules, "interleave": engine.interleave}
    yield from worded(*((word, pairs_text(pairs)) for word, pairs in lists.items()))
    if engine.latency_cycles or not any((engine.capability, engine.operands, *lists.values())):
        yield f"latency {engine.latency_cycles};"


def _isa(machine: Machine) -> Iterator[str]:
    width = f" width {machine.instruction_bits};" if machine.instruction_bits else ""
    width += " positional;" if machine.positional else ""
    width += " little;" if machine.little else ""
    yield "  isa {"
    yield f"    opcode_bits {machine.opcode_bits}; align {machine.instruction_align_bits};{width}"
    if machine.header:
        yield from packed(["header {", *_fields(machine.header), "}"], 4)
    waits = (f"wait {tag} {count};" for tag, count in machine.waits)
    yield from packed([*worded(("signal", machine.signal)), *waits], 4)
    yield "  }"


def _fields(fields: Iterable[Field]) -> Iterator[str]:
    """Each efield, and each run of ifields together."""
    for enumerated, run in groupby(fields, lambda item: bool(item.enum)):
        if enumerated:
            yield from (f"efield {i.name} {i.width_bits} [{', '.join(_enumerators(i.enum))}]{_at(i)};" for i in run)
        else:
            for hidden, part in groupby(run, lambda item: item.hidden):
                if hidden:
                    yield from (f"constant {_plain(item)};".replace(" ", GLUE) for item in part)
                else:
                    yield f"ifield {', '.join(_plain(item) for item in part)};"


def _plain(item: Field) -> str:
    fixed = f" = {item.constant}" if item.constant is not None else ""
    signed = " signed" if item.signed else ""
    return f"{item.name} {width_text(item)}{fixed}{signed}{_at(item)}".replace(" ", GLUE)


def _at(item: Field) -> str:
    return f" at {item.at_bit}" if item.at_bit is not None else ""


def _enumerators(enum: tuple[tuple[str, int], ...]) -> Iterator[str]:
    following = 0
    for name, code in enum:
        yield name if code == following else f"{name} = {code}"
        following = code + 1


def _mnemonic(mnemonic: Mnemonic) -> Iterator[str]:
    yield f"  mnemonic {mnemonic.name}({mnemonic.opcode}) {{"
    head = worded(("unit", mnemonic.unit), ("execute", executed_text(mnemonic)), ("named", mnemonic.named))
    yield from packed(head, 4)
    yield from packed(_fields(mnemonic.fields), 4)
    functions = ((f"function {variable}", name) for variable, name in mnemonic.functions)
    scalars = (
        ("extents", pairs_text(mnemonic.extents)),
        *functions,
        ("immediates", pairs_text(mnemonic.immediates)),
        ("accumulate", mnemonic.accumulate),
        ("spread x", mnemonic.spread_x),
        ("spread y", mnemonic.spread_y),
    )
    yield from packed(worded(*scalars), 4)
    if mnemonic.action is not None:
        roles = f" {braced(pairs_text(mnemonic.action.roles))}" if mnemonic.action.roles else ""
        yield from wrapped(f"action {mnemonic.action.kind}{roles};", 4)
    for operand in mnemonic.operands:
        yield from wrapped(f"operand {_operand(operand)};", 4)
    yield "  }"


def _operand(operand: OperandBinding) -> str:
    strides = braced(pairs_text(operand.strides))
    return f"{operand.operand} {operand.memory}[{operand.address}] {operand.type_name} {strides}"
