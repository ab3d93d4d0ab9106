"""A program of stages as a table of numbers: a row an instruction, what compiled loops read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np

from ...algebra.element import ELEMENT_TYPES, Ints
from ...algebra.formula import evaluate_formula
from ...machine import Capability, Link, Machine, Memory, Mnemonic
from ...machine.encoding import DecodedPart, decode_arrays
from ...machine.stages import FUNCTION_CODES, PRODUCTS, kind_of, row_bytes

Table = Ints

Kind = IntEnum("Kind", "LOAD STORE MULTIPLY IMMEDIATE VECTORS SET FINISH", start=0)
"""Kinds of instructions."""

Row = IntEnum("Row", "KIND UNIT POPS PUSHES CHANNEL BEATS CYCLES", start=0)
"""Columns of all instructions.

`POPS` and `PUSHES` are bits of token queues; `CHANNEL` is -1 where nothing goes off chip; `BEATS` are cycles of the
channel, `CYCLES` what the unit takes beside them.
"""

Copy = IntEnum("Copy", "CHIP OFF ROWS COLUMNS STRIDE ABOVE BELOW LEFT RIGHT MEMORY OFF_BYTES", start=len(Row))
"""More columns, of copies."""

Walk = IntEnum(
    "Walk", "FIRST END OUTER INNER DO DI SO SI WO WI FUNCTION VALUE UNSHADOWED TARGET SOURCE WEIGHT", start=len(Row)
)
"""More columns, of walks; from `SHIFTS` on the first bit and mask of three micro-op fields."""

SHIFTS = len(Row) + len(Walk)
WIDTH = SHIFTS + 6

ROLES = {
    **{"chip": Copy.CHIP, "offchip": Copy.OFF, "rows": Copy.ROWS, "columns": Copy.COLUMNS, "stride": Copy.STRIDE},
    **{"above": Copy.ABOVE, "below": Copy.BELOW, "left": Copy.LEFT, "right": Copy.RIGHT},
    **{"first": Walk.FIRST, "end": Walk.END, "unshadowed": Walk.UNSHADOWED},
}


@dataclass(frozen=True)
class StageCode:
    """`rows` of the program; `names` the mnemonic's number of each; `channels` by number."""

    machine: Machine
    rows: Table
    names: Ints
    fields: tuple[DecodedPart, ...] = field(repr=False)
    channels: tuple[str, ...] = ()

    def mnemonic(self, index: int) -> Mnemonic:
        """The mnemonic of an instruction."""
        return self.machine.mnemonics[int(self.names[index])]

    def values(self, index: int) -> dict[str, int]:
        """The fields of an instruction."""
        for part in self.fields:
            at = np.flatnonzero(part.positions == index)
            if len(at):
                return {name: int(column[at[0]]) for name, column in part.fields.items()}
        return {}


def channels_of(machine: Machine) -> tuple[str, ...]:
    """The channels of links, each once."""
    return tuple(dict.fromkeys(link.channel or link.name for link in machine.links))


def read_code(machine: Machine, code: bytes) -> StageCode:
    """The table of a program; `TilewrightError` (kind `program`) where the bytes are none."""
    decoded = decode_arrays(machine, code)
    count = len(decoded.offsets_bytes)
    rows, names = np.zeros((count, WIDTH), np.int64), np.zeros(count, np.int64)
    channels = channels_of(machine)
    for part in decoded.parts:
        block = np.zeros((len(part.positions), WIDTH), np.int64)
        _common(machine, part, block)
        action = part.mnemonic.action
        assert action is not None
        for role, word in action.roles:
            block[:, ROLES[role]] = _value(part, word)
        if action.kind == "copy":
            _copies(machine, part, block, channels)
        elif action.kind == "walk":
            _walks(machine, part, block)
        else:
            block[:, Row.KIND] = Kind.FINISH
        rows[part.positions] = block
        names[part.positions] = next(i for i, m in enumerate(machine.mnemonics) if m.name == part.mnemonic.name)
    return StageCode(machine, rows, names, decoded.parts, channels)


def _value(part: DecodedPart, word: str) -> Any:
    return int(word) if word.isdigit() else part.fields[word]


def _common(machine: Machine, part: DecodedPart, block: Table) -> None:
    stages, unit = machine.stages, part.mnemonic.unit
    assert stages is not None
    block[:, Row.UNIT] = next(i for i, item in enumerate(machine.units) if item.name == unit)
    block[:, Row.CHANNEL] = -1
    for number, queue in enumerate(stages.tokens):
        if queue.dst == unit and queue.pop:
            block[:, Row.POPS] |= part.fields[queue.pop] << number
        if queue.src == unit and queue.push:
            block[:, Row.PUSHES] |= part.fields[queue.push] << number


def _copies(machine: Machine, part: DecodedPart, block: Table, channels: tuple[str, ...]) -> None:
    link = next(link for link in machine.links if link.name == part.mnemonic.node)
    capability = _capability(machine, part.mnemonic)
    memories = {memory.name: (number, memory) for number, memory in enumerate(machine.memories)}
    inward = memories[link.src][1].offchip
    block[:, Row.KIND] = Kind.LOAD if inward else Kind.STORE
    block[:, Copy.MEMORY] = memories[link.dst if inward else link.src][0]
    target, source = capability.operands
    off_bytes = row_bytes(capability)[source if inward else target]
    block[:, Copy.OFF_BYTES] = off_bytes
    block[:, Row.CHANNEL] = channels.index(link.channel or link.name)
    row_beats = -(-block[:, Copy.COLUMNS] * off_bytes // _rate(link))
    block[:, Row.BEATS] = row_beats * block[:, Copy.ROWS]
    padded = (block[:, Copy.ABOVE] + block[:, Copy.ROWS] + block[:, Copy.BELOW]) * (
        block[:, Copy.LEFT] + block[:, Copy.COLUMNS] + block[:, Copy.RIGHT]
    )
    moves = (block[:, Copy.COLUMNS] > 0) & (block[:, Copy.ROWS] > 0)
    zeros = padded - block[:, Copy.ROWS] * block[:, Copy.COLUMNS]  # written an element a cycle
    block[:, Row.CYCLES] = np.where(moves, _latency(machine, part.mnemonic) + link.latency_cycles + zeros, 1)


def _rate(link: Link) -> int:
    return max(int(link.bandwidth_bytes_per_cycle), 1)


def _latency(machine: Machine, mnemonic: Mnemonic) -> int:
    engine = next(unit.engine for unit in machine.units if unit.name == mnemonic.unit)
    return engine.latency_cycles if engine is not None else 0


def _capability(machine: Machine, mnemonic: Mnemonic) -> Capability:
    found = machine.executed(mnemonic)
    assert found is not None
    return found


def _walks(machine: Machine, part: DecodedPart, block: Table) -> None:
    mnemonic, stages = part.mnemonic, machine.stages
    capability = _capability(machine, mnemonic)
    assert stages is not None
    extents, shifts = dict(mnemonic.extents), stages.field_shifts()
    block[:, Walk.OUTER], block[:, Walk.INNER] = _value(part, extents["outer"]), _value(part, extents["inner"])
    kind = kind_of(capability)
    vectors = len(capability.operands) > 1
    block[:, Row.KIND] = {PRODUCTS: Kind.MULTIPLY}.get(
        kind, Kind.SET if kind == "constant" else Kind.VECTORS if vectors else Kind.IMMEDIATE
    )
    numbers = {memory.name: number for number, memory in enumerate(machine.memories)}
    bindings = {operand.operand: operand for operand in reversed(mnemonic.operands)}
    columns = ((Walk.DO, Walk.DI, Walk.TARGET), (Walk.SO, Walk.SI, Walk.SOURCE), (Walk.WO, Walk.WI, Walk.WEIGHT))
    for place, (name, (outer, inner, memory)) in enumerate(zip(capability.operands, columns, strict=False)):
        strides = dict(bindings[name].strides)
        block[:, outer], block[:, inner] = (_value(part, strides.get(loop, "0")) for loop in ("outer", "inner"))
        block[:, memory] = numbers[bindings[name].memory]
        first, width = shifts[bindings[name].address]
        block[:, SHIFTS + 2 * place], block[:, SHIFTS + 2 * place + 1] = first, (1 << width) - 1
    if kind == "constant":
        block[:, Walk.VALUE] = getattr(capability.statement.value, "value", 0)
    for _, name in mnemonic.functions:
        codes = {
            code: FUNCTION_CODES[text] for item in mnemonic.fields if item.name == name for text, code in item.enum
        }
        block[:, Walk.FUNCTION] = [codes[int(value)] for value in part.fields[name]]
    for _, name in mnemonic.immediates:
        block[:, Walk.VALUE] = part.fields[name]
    cost = int(evaluate_formula(capability.cycles, _limits(capability)))
    points = np.maximum(block[:, Walk.END] - block[:, Walk.FIRST], 0) * block[:, Walk.OUTER] * block[:, Walk.INNER]
    block[:, Row.CYCLES] = points * cost + _latency(machine, mnemonic)


def _limits(capability: Capability) -> Mapping[str, int]:
    limits = {dim.name: dim.limit for dim in capability.dims}
    return {**limits, "ops": prod(limits.values())}


def element_type(machine: Machine, memory: Memory) -> np.dtype[Any]:
    """The type of the numbers in a memory: that of the operands that lie there, else unsigned ones of its width."""
    for mnemonic in machine.mnemonics:
        for operand in mnemonic.operands:
            if operand.memory == memory.name:
                return np.dtype(ELEMENT_TYPES[operand.type_name])
    return np.dtype(f"u{max(memory.data_width_bits // 8, 1)}")


def moved_types(machine: Machine) -> dict[int, np.dtype[Any]]:
    """For each mnemonic that copies, by number, the type of the numbers off chip."""
    found: dict[int, np.dtype[Any]] = {}
    for number, mnemonic in enumerate(machine.mnemonics):
        if mnemonic.action is not None and mnemonic.action.kind == "copy":
            link = next(link for link in machine.links if link.name == mnemonic.node)
            kinds = _capability(machine, mnemonic).types[0]
            found[number] = np.dtype(ELEMENT_TYPES[kinds[link.src in machine.offchip]])
    return found


def fetched_beats(machine: Machine) -> tuple[int, int]:
    """The channel over which instructions come, and the cycles of one; -1 where they come by a way of their own."""
    stages, channels = machine.stages, channels_of(machine)
    if stages is None or not stages.fetch:
        return -1, 0
    rate = max(_rate(link) for link in machine.links if (link.channel or link.name) == stages.fetch)
    return channels.index(stages.fetch), -(-max(word.bytes for word in machine.words.values()) // rate)
