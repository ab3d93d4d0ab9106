"""A decoded program: per instruction its plan, addresses, unit, signal and waits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...machine import Machine, Mnemonic
from ...machine.encoding import Decoded, DecodedPart, decode, decode_arrays
from ..assembler import format_instruction
from .plan import Plan, Planner

Wait = tuple[int, int]  # tag, count


@dataclass(frozen=True)
class Stream:
    """Instructions in program order.

    `addresses` are those of the operands of the plan's capability; `positions` are places within the instruction's
    unit; `signals` are tags (0 for none).
    """

    machine: Machine
    code: bytes
    offsets_bytes: list[int]
    plans: list[Plan]
    addresses: list[tuple[int, ...]]
    units: list[int]
    positions: list[int]
    signals: list[int]
    waits: list[tuple[Wait, ...]]

    def __len__(self) -> int:
        return len(self.plans)

    def queues(self) -> list[list[int]]:
        """Instruction indices of each unit, in order."""
        queues: list[list[int]] = [[] for _ in self.machine.units]
        for index, unit in enumerate(self.units):
            queues[unit].append(index)
        return queues

    def text(self, index: int) -> str:
        """The instruction in assembly."""
        ends = [*self.offsets_bytes[1:], len(self.code)]
        word = self.code[self.offsets_bytes[index] : ends[index]]
        return format_instruction(self.machine, *decode(self.machine, word)[0])


def make_stream(machine: Machine, code: bytes) -> Stream:
    """Decodes a program and plans its instructions."""
    decoded = decode_arrays(machine, code)
    count = len(decoded.offsets_bytes)
    planner = Planner(machine)
    nothing = planner.nothing()
    plans, addresses = [nothing] * count, [()] * count
    signals, waits = [0] * count, [()] * count
    for part in decoded.parts:
        places = part.positions.tolist()
        _put(plans, places, _plans(machine, planner, part))
        _put(addresses, places, _addresses(part))
        _put(signals, places, part.fields[machine.signal].tolist() if machine.signal else [0] * len(places))
        _put(waits, places, _waits(machine, part))
    units = _units(machine, decoded, count)
    return Stream(
        machine, code, decoded.offsets_bytes.tolist(), plans, addresses, units, _positions(units), signals, waits
    )


def _put(target: list[Any], places: list[int], values: list[Any]) -> None:
    for place, value in zip(places, values, strict=True):
        target[place] = value


def _plans(machine: Machine, planner: Planner, part: DecodedPart) -> list[Plan]:
    """A plan per instruction; instructions that differ in addresses, signals and waits only share theirs."""
    names = _plan_fields(machine, part.mnemonic)
    made: dict[tuple[int, ...], Plan] = {}
    plans: list[Plan] = []
    columns = [part.fields[name].tolist() for name in names]
    for key in zip(*columns, strict=True) if columns else [()] * len(part.positions):
        plan = made.get(key)
        if plan is None:
            plan = made[key] = planner.plan(part.mnemonic, dict(zip(names, key, strict=True)))
        plans.append(plan)
    return plans


def _plan_fields(machine: Machine, mnemonic: Mnemonic) -> list[str]:
    """The fields, the header's too, that a binding uses for anything but addresses."""
    used = {text for _, text in (*mnemonic.extents, *mnemonic.functions, *mnemonic.immediates)}
    used |= {text for binding in mnemonic.operands for _, text in binding.strides}
    used |= {binding.type_name for binding in mnemonic.operands}
    used |= {mnemonic.accumulate, mnemonic.spread_x, mnemonic.spread_y}
    return [field.name for field in (*machine.header, *mnemonic.fields) if field.name in used]


def _addresses(part: DecodedPart) -> list[tuple[int, ...]]:
    """Operand addresses in the order of the mnemonic's operand bindings."""
    count = len(part.positions)
    texts = [binding.address for binding in part.mnemonic.operands]
    columns = [part.fields[text].tolist() if text in part.fields else [int(text)] * count for text in texts]
    return list(zip(*columns, strict=True)) if columns else [()] * count


def _waits(machine: Machine, part: DecodedPart) -> list[tuple[Wait, ...]]:
    columns = [part.fields[name].tolist() for pair in machine.waits for name in pair]
    if not columns:
        return [()] * len(part.positions)
    rows: list[tuple[Wait, ...]] = []
    for row in zip(*columns, strict=True):
        pairs = zip(row[::2], row[1::2], strict=True)
        rows.append(tuple([(tag, count) for tag, count in pairs if tag and count]))
    return rows


def _units(machine: Machine, decoded: Decoded, count: int) -> list[int]:
    numbers = {unit.name: index for index, unit in enumerate(machine.units)}
    units = np.zeros(count, np.int64)
    for part in decoded.parts:
        units[part.positions] = numbers[part.mnemonic.unit]
    return units.tolist()


def _positions(units: list[int]) -> list[int]:
    counts: dict[int, int] = {}
    positions: list[int] = []
    for unit in units:
        positions.append(counts.get(unit, 0))
        counts[unit] = positions[-1] + 1
    return positions
