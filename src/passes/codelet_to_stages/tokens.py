"""Tokens from dependences: who waits for whom follows from what instructions touch, in program order.

Units work in order and the n-th pop of a queue takes its n-th push, so what an instruction waits for of a unit is a
number of its instructions, and those numbers grow.  Where two units have no queue between them, an instruction that
does nothing, of a unit between, hands the token on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import TilewrightError
from ...machine.stage_isa import Instruction, StageWriter
from ..codelet_to_queues.timed import Arrows, needed_counts


@dataclass(frozen=True)
class Ordered:
    """Instructions in program order, the layer of each, and those before that each depends on."""

    code: Sequence[Instruction]
    layers: Sequence[int]
    before: Sequence[Sequence[int]]


def with_tokens(writer: StageWriter, given: Ordered) -> Ordered:
    """The program with tokens; `TilewrightError` (kind `target`) where units have no way to wait for each other."""
    units = [unit.name for unit in writer.isa.machine.units]
    needs = _needs(units, given)
    handed = _handed(writer, units, given, needs)
    if handed is not None:
        given, needs = handed, _needs(units, handed)
    of_unit: dict[str, list[Instruction]] = {unit: [] for unit in units}
    for one, counts in zip(given.code, needs.tolist(), strict=True):
        for unit, count in zip(units, counts, strict=True):
            if count:
                queue = writer.isa.token(unit, one.mnemonic.unit)
                assert queue is not None
                of_unit[unit][count - 1].fields[queue.push] = 1
                one.fields[queue.pop] = 1
        of_unit[one.mnemonic.unit].append(one)
    return given


def _needs(units: Sequence[str], given: Ordered) -> NDArray[np.int32]:
    """How many instructions of each unit must be done before each instruction; 0 for what is implied."""
    work = np.zeros((len(given.code), 3), np.int64)
    work[:, 0] = [units.index(one.mnemonic.unit) for one in given.code]
    first = np.cumsum([0, *(len(others) for others in given.before)])
    others = np.array([other for row in given.before for other in row], np.int32)
    return needed_counts(len(units), np.arange(len(work)), work, Arrows(first, others))


def _handed(writer: StageWriter, units: Sequence[str], given: Ordered, needs: NDArray[np.int32]) -> Ordered | None:
    """The program with instructions that hand tokens on; None where none are needed.

    They wait for all that the unit has done so far, so that what follows need not.
    """
    found, last, places = Ordered([], [], []), dict[str, int](), list[int]()
    code, layers, before = list[Instruction](), list[int](), list[Sequence[int]]()
    waited, done = dict[tuple[str, str], int](), Counter[str]()
    for number, one in enumerate(given.code):
        own, more = one.mnemonic.unit, list[int]()
        for unit, count in zip(units, needs[number].tolist(), strict=True):
            if not count or writer.isa.token(unit, own) is not None or waited.get((unit, own), 0) >= count:
                continue
            code.append(writer.nothing(_between(writer, units, unit, own)))
            layers.append(given.layers[number])
            before.append((last[unit],))
            more.append(len(code) - 1)
            done[code[-1].mnemonic.unit] += 1
            waited[unit, own] = done[unit]
            last[code[-1].mnemonic.unit] = len(code) - 1
        places.append(len(code))
        last[own] = len(code)
        code.append(one)
        done[own] += 1
        layers.append(given.layers[number])
        before.append((*(places[other] for other in given.before[number]), *more))
    return replace(found, code=code, layers=layers, before=before) if len(code) > len(given.code) else None


def _between(writer: StageWriter, units: Sequence[str], src: str, dst: str) -> str:
    """A unit that takes tokens of one and gives tokens to the other."""
    token = writer.isa.token
    for unit in units:
        if token(src, unit) is not None and token(unit, dst) is not None:
            return unit
    raise TilewrightError("target", writer.isa.machine.name, f"tokens from {src} to {dst}, or over a unit", "none")
