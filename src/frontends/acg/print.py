"""`Machine` to canonical `.acg` text: declarations by kind, defaults left out, lines of at most 120 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...algebra.expr import Num
from ...algebra.printer import print_expr, print_statement
from ...machine import Capability, Compute, Field, Link, Machine, Memory, Mnemonic, OperandBinding

COLUMNS = 120
GLUE = "\0"  # a blank at which a line is not broken


def print_target(machine: Machine) -> str:
    """Text that `parse_target` reads back as an equal machine; the same for equal machines."""
    groups = [
        [f"  control {machine.control};", f"  frequency {_number(machine.frequency_hz)};"],
        [_memory(memory) for memory in machine.memories],
        *(list(_compute(compute)) for compute in machine.computes),
        [line for link in machine.links for line in _link(machine, link)],
        _packed((f"unit {u.name} depth {u.depth};" if u.depth else f"unit {u.name};" for u in machine.units), 2),
        list(_isa(machine)) if machine.mnemonics or machine.header else [],
        *(list(_mnemonic(mnemonic)) for mnemonic in machine.mnemonics),
    ]
    body = "\n\n".join("\n".join(group) for group in groups if group)
    return f"acg {machine.name} {{\n{body}\n}}\n"


def _number(value: float) -> str:
    """Whole numbers without a point, others so that they read back exactly."""
    return str(int(value)) if value == int(value) else repr(value)


def _wrapped(text: str, indent: int) -> Iterator[str]:
    """`text` broken at blanks into lines of at most COLUMNS, continuations indented by four more."""
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
            lines[-1] += f" {item}"
        else:
            lines.extend(_wrapped(item, indent))
    return lines


def _memory(memory: Memory) -> str:
    parts = [f"data_width {memory.data_width_bits};", f"banks {memory.banks};", f"depth {memory.depth};"]
    parts += [f"align {memory.align_bytes};"] if memory.align_bytes != 1 else []
    parts += [f"read_energy {_number(memory.read_energy_pj_per_byte)};"] if memory.read_energy_pj_per_byte else []
    parts += [f"write_energy {_number(memory.write_energy_pj_per_byte)};"] if memory.write_energy_pj_per_byte else []
    parts += ["offchip;"] if memory.offchip else []
    return f"  memory {memory.name} {{ {' '.join(parts)} }}"


def _compute(compute: Compute) -> Iterator[str]:
    single = (compute.instances_x, compute.instances_y) == (1, 1)
    instances = "" if single else f"[{compute.instances_x}][{compute.instances_y}]"
    yield f"  compute {compute.name}{instances} {{"
    for capability in compute.capabilities:
        yield from _capability(capability)
    yield "  }"


def _capability(capability: Capability) -> Iterator[str]:
    yield f"    capability {capability.name} {{"
    for item in _capability_items(capability):
        yield from _wrapped(f"{item};", 6)
    yield "    }"


def _capability_items(capability: Capability) -> Iterator[str]:
    lanes = {dim: f" lanes {dim.lanes}" if dim.lanes != 1 else "" for dim in capability.dims}
    yield "dims " + ", ".join(f"{dim.name} <= {dim.limit}{lanes[dim]}".replace(" ", GLUE) for dim in capability.dims)
    yield print_statement(capability.statement)
    for variable, functions in capability.functions:
        yield f"functions {variable} = {', '.join(functions)}"
    if capability.immediates:
        yield f"immediates {_pairs(capability.immediates)}"
    yield "types " + " | ".join(_types(row) for row in capability.types)
    if capability.splits:
        yield f"splits {', '.join(capability.splits)}"
    yield f"cycles {print_expr(capability.cycles)}"
    if capability.energy_pj != Num(0):
        yield f"energy {print_expr(capability.energy_pj)}"


def _types(row: tuple[str, ...]) -> str:
    target, *others = row
    return f"{target}{GLUE}={GLUE}{f',{GLUE}'.join(others)}" if others else target


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name}{GLUE}{word}" for name, word in pairs)


def _link(machine: Machine, link: Link) -> Iterator[str]:
    if link.back:
        return
    both = any(other.back and (other.dst, other.src) == (link.src, link.dst) for other in machine.links)
    arrow = "<->" if both else "->"
    parts = [f"bandwidth {_number(link.bandwidth_bytes_per_cycle)};"]
    parts += [f"latency {link.latency_cycles};"] if link.latency_cycles else []
    default = f"{link.src}<->{link.dst}" if both else ""
    parts += [f"channel {link.channel};"] if link.channel != default else []
    head = f"  link {link.src} {arrow} {link.dst} {{ {' '.join(parts)}"
    if not link.capabilities:
        yield f"{head} }}"
        return
    yield head
    for capability in link.capabilities:
        yield from _capability(capability)
    yield "  }"


def _isa(machine: Machine) -> Iterator[str]:
    width = f" width {machine.instruction_bits};" if machine.instruction_bits else ""
    yield "  isa {"
    yield f"    opcode_bits {machine.opcode_bits}; align {machine.instruction_align_bits};{width}"
    if machine.header:
        yield "    header {"
        yield from _packed((_field(item) for item in machine.header), 6)
        yield "    }"
    words = [f"signal {machine.signal};"] if machine.signal else []
    yield from _packed([*words, *(f"wait {tag} {count};" for tag, count in machine.waits)], 4)
    yield "  }"


def _field(item: Field) -> str:
    at = f" at {item.at_bit}" if item.at_bit is not None else ""
    if not item.enum:
        return f"ifield {item.name} {item.width_bits}{' signed' if item.signed else ''}{at};"
    return f"efield {item.name} {item.width_bits} [{', '.join(_enumerators(item.enum))}]{at};"


def _enumerators(enum: tuple[tuple[str, int], ...]) -> Iterator[str]:
    following = 0
    for name, code in enum:
        yield name if code == following else f"{name} = {code}"
        following = code + 1


def _mnemonic(mnemonic: Mnemonic) -> Iterator[str]:
    yield f"  mnemonic {mnemonic.name}({mnemonic.opcode}) {{"
    yield f"    unit {mnemonic.unit};"
    yield from _packed((_field(item) for item in mnemonic.fields), 4)
    for item in _meaning(mnemonic):
        yield from _wrapped(f"{item};", 4)
    yield "  }"


def _meaning(mnemonic: Mnemonic) -> Iterator[str]:
    if mnemonic.capability:
        yield f"execute {mnemonic.node}.{mnemonic.capability}"
    if mnemonic.extents:
        yield f"extents {_pairs(mnemonic.extents)}"
    for operand in mnemonic.operands:
        yield _operand(operand)
    for variable, name in mnemonic.functions:
        yield f"function {variable} {name}"
    if mnemonic.immediates:
        yield f"immediates {_pairs(mnemonic.immediates)}"
    if mnemonic.accumulate:
        yield f"accumulate {mnemonic.accumulate}"
    yield from (f"spread {axis} {name}" for axis, name in zip("xy", (mnemonic.spread_x, mnemonic.spread_y)) if name)


def _operand(operand: OperandBinding) -> str:
    strides = f"{{ {_pairs(operand.strides)} }}" if operand.strides else "{ }"
    return f"operand {operand.operand} {operand.memory}[{operand.address}] {operand.type_name} {strides}"
