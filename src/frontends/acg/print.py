"""`Machine` to canonical `.acg` text: declarations by kind, defaults left out, lines of at most 120 columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import groupby

from ...algebra.expr import Num
from ...algebra.printer import print_expr, print_statement
from ...machine import Capability, Compute, Engine, Field, Link, Machine, Memory, Mnemonic, OperandBinding
from ...machine.dram import DramTiming, differences
from ...machine.rules import default_channel
from .macros import macro_lines
from .ports import port_words
from .print_packets import packed_lines, packet_lines
from .stages import stage_lines, width_text

COLUMNS = 120
GLUE = "\0"  # a blank at which a line is not broken


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
        yield f"  frequency {_number(machine.frequency_hz)};"


def _number(value: float) -> str:
    """Whole numbers without a point, others so that they read back exactly."""
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)


def _wrapped(text: str, indent: int) -> Iterator[str]:
    """`text` broken at blanks into lines of at most COLUMNS, continuations indented by four more."""
    if indent + len(text) <= COLUMNS:
        yield " " * indent + text.replace(GLUE, " ")
        return
    line = " " * indent
    for word in text.split(" "):
        word = word.replace(GLUE, " ")
        start = line.strip() == ""
        if not start and len(line) + 1 + len(word) > COLUMNS:
            yield line
            line, start = " " * (indent + 4), True
        line += word if start else f" {word}"
    yield line


def _packed(items: Iterable[str], indent: int) -> list[str]:
    """As many items on a line as fit."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= COLUMNS:
            lines[-1] += f" {item.replace(GLUE, ' ')}"
        else:
            lines.extend(_wrapped(item, indent))
    return lines


def _memory(memory: Memory) -> str:
    parts = [f"data_width {memory.data_width_bits};"]
    parts += [f"banks {memory.banks};"] if memory.banks != 1 else []
    parts += [f"depth {memory.depth};"] if memory.depth is not None else []
    parts += [f"align {memory.align_bytes};"] if memory.align_bytes != 1 else []
    parts += [f"read_energy {_number(memory.read_energy_pj_per_byte)};"] if memory.read_energy_pj_per_byte else []
    parts += [f"write_energy {_number(memory.write_energy_pj_per_byte)};"] if memory.write_energy_pj_per_byte else []
    parts += [f"{name} {_number(value)};" for name, value in port_words(memory.ports)]
    parts += [f"buffering {_number(memory.buffering)};"] if memory.buffering != 1 else []
    parts += [f"regions {memory.regions};"] if memory.regions else []
    parts += [f"holds {', '.join(memory.holds)};"] if memory.holds is not None else []
    parts += ["offchip;"] if memory.offchip else []
    parts += [_timing(memory.timing)] if memory.timing is not None else []
    parts += _area(memory)
    head = f"memory {memory.name}{_instances(memory)} {{"
    if len(line := f"  {head} {' '.join(parts)} }}") <= COLUMNS:
        return line
    return "\n".join([f"  {head}", *_packed(parts, 4), "  }"])


def _timing(timing: DramTiming) -> str:
    figures, address = differences(timing)
    items = [f"{key} {value};" for key, value in figures.items()]
    items += [f"map {', '.join(f'{part} {bits}' for part, bits in address)};"] if address is not None else []
    return f'timing "{timing.name}" {{ {" ".join(items)} }}' if items else f'timing "{timing.name}";'


def _area(node: Memory | Compute | Link) -> list[str]:
    return [f"area {print_expr(node.area_mm2)};"] if node.area_mm2 is not None else []


def _instances(node: Memory | Compute) -> str:
    single = (node.instances_x, node.instances_y) == (1, 1)
    return "" if single else f"[{node.instances_x}][{node.instances_y}]"


def _compute(compute: Compute) -> Iterator[str]:
    yield " ".join([f"  compute {compute.name}{_instances(compute)} {{", *_area(compute)])
    for capability in compute.capabilities:
        yield from _capability(capability)
    yield "  }"


def _capability(capability: Capability) -> Iterator[str]:
    items = [f"{item};" for line in _capability_lines(capability) for item in line]
    short = f"    capability {capability.name} {{ {' '.join(items)} }}".replace(GLUE, " ")
    if not capability.dims and len(short) <= COLUMNS:
        yield short
        return
    yield f"    capability {capability.name} {{"
    for items in _capability_lines(capability):
        yield from _packed([f"{item};" for item in items], 6)
    yield "    }"


def _capability_lines(capability: Capability) -> Iterator[list[str]]:
    lanes = {dim: f" lanes {dim.lanes}" if dim.lanes != 1 else "" for dim in capability.dims}
    dims = (f"{dim.name} <= {dim.limit}{lanes[dim]}".replace(" ", GLUE) for dim in capability.dims)
    yield [f"dims {', '.join(dims)}"] if capability.dims else []
    yield [print_statement(capability.statement)]
    yield [f"functions {variable} = {', '.join(functions)}" for variable, functions in capability.functions]
    immediates = [f"immediates {_pairs(capability.immediates)}"] if capability.immediates else []
    splits = [f"splits {', '.join(capability.splits)}"] if capability.splits else []
    yield [*immediates, f"types {' | '.join(_types(row) for row in capability.types)}", *splits]
    cycles_written, energy_written = capability.formulas
    energy = [f"energy {print_expr(energy_written)}"] if energy_written != Num(0) else []
    single = not capability.dims and cycles_written == Num(1)
    yield [*([] if single else [f"cycles {print_expr(cycles_written)}"]), *energy]


def _types(row: tuple[str, ...]) -> str:
    target, *others = row
    return f"{target}{GLUE}={GLUE}{f',{GLUE}'.join(others)}" if others else target


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name}{GLUE}{word}" for name, word in pairs)


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
    unlimited = math.isinf(link.bandwidth_bytes_per_cycle)
    parts = [] if unlimited else [f"bandwidth {_number(link.bandwidth_bytes_per_cycle)};"]
    parts += [f"latency {link.latency_cycles};"] if link.latency_cycles else []
    parts += [f"channel {link.channel};"] if link.channel != default_channel(machine, link) else []
    parts += _area(link)
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
    yield from _packed((f"{heads[unit.name]};" for unit in machine.units if unit.engine is None), 2)
    for unit in machine.units:
        if unit.engine is not None:
            yield f"  {heads[unit.name]} {{"
            yield from _packed(_engine(unit.engine), 4)
            yield "  }"


def _engine(engine: Engine) -> Iterator[str]:
    if engine.capability:
        yield f"execute {engine.node}.{engine.capability};"
    yield from (f"operand {_operand(operand)};" for operand in engine.operands)
    yield from (f"initial {_operand(operand)};" for operand in engine.initial)
    lists = {"loops": engine.levels, "granules": engine.granules, "interleave": engine.interleave}
    yield from (f"{word} {_pairs(pairs)};" for word, pairs in lists.items() if pairs)
    if engine.latency_cycles or not any((engine.capability, engine.operands, *lists.values())):
        yield f"latency {engine.latency_cycles};"


def _isa(machine: Machine) -> Iterator[str]:
    width = f" width {machine.instruction_bits};" if machine.instruction_bits else ""
    width += " positional;" if machine.positional else ""
    width += " little;" if machine.little else ""
    yield "  isa {"
    yield f"    opcode_bits {machine.opcode_bits}; align {machine.instruction_align_bits};{width}"
    if machine.header:
        yield from _packed(["header {", *_fields(machine.header), "}"], 4)
    words = [f"signal {machine.signal};"] if machine.signal else []
    yield from _packed([*words, *(f"wait {tag} {count};" for tag, count in machine.waits)], 4)
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
    executed = [f"execute {mnemonic.node}.{mnemonic.capability};"] if mnemonic.capability else []
    named = [f"named {mnemonic.named};"] if mnemonic.named else []
    yield from _packed([f"unit {mnemonic.unit};", *executed, *named], 4)
    yield from _packed(_fields(mnemonic.fields), 4)
    extents = [f"extents {_pairs(mnemonic.extents)};"] if mnemonic.extents else []
    yield from _packed([*extents, *(f"{item};" for item in _scalars(mnemonic))], 4)
    if mnemonic.action is not None:
        roles = f" {{ {_pairs(mnemonic.action.roles)} }}" if mnemonic.action.roles else ""
        yield from _wrapped(f"action {mnemonic.action.kind}{roles};", 4)
    for operand in mnemonic.operands:
        yield from _wrapped(f"operand {_operand(operand)};", 4)
    yield "  }"


def _scalars(mnemonic: Mnemonic) -> Iterator[str]:
    for variable, name in mnemonic.functions:
        yield f"function {variable} {name}"
    if mnemonic.immediates:
        yield f"immediates {_pairs(mnemonic.immediates)}"
    if mnemonic.accumulate:
        yield f"accumulate {mnemonic.accumulate}"
    yield from (f"spread {axis} {name}" for axis, name in zip("xy", (mnemonic.spread_x, mnemonic.spread_y)) if name)


def _operand(operand: OperandBinding) -> str:
    strides = f"{{ {_pairs(operand.strides)} }}" if operand.strides else "{ }"
    return f"{operand.operand} {operand.memory}[{operand.address}] {operand.type_name} {strides}"
