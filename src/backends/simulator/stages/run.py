"""Runs a program of a machine of stages: function, cycles, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....costs.stages.code import Copy, Kind, Row, StageCode, Table, Walk, fetched_beats, read_code
from ....costs.stages.schedule import clocks, queue_ends, run_stages
from ....machine import Machine
from ....machine.stages import kind_of
from ...control_models import Inputs, SimulationOptions
from ..energy import Counts, counts_of, full_cycles_of_ops, price_memories, total_of
from ..layers import advances, layer_figures
from ..memory import Storage
from ..placing import offchip_storage
from ..result import SimulationResult, make_result
from ..schedule import Issue
from ..trace import Slice, TracedLayers, write_events
from ..traps import Trap
from .chip import Chip, text_of

if TYPE_CHECKING:
    from ...program import Program

MAX_DRAM_BYTES = 1 << 32


def simulate_stages(program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
    """As `simulate`, for control model `stages`; accesses are always checked in a functional run."""
    code = read_code(program.machine, program.code)
    program.layer_table.check(len(code.rows))
    start, end, order, taken = run_stages(code)
    if len(order) < len(code.rows):
        raise _deadlock(code, taken)
    storage = offchip_storage(program, _reach(code), MAX_DRAM_BYTES, inputs, options.functional)
    if options.functional:
        _execute(code, storage, order, options)
    numbers = program.layer_table.numbers()
    parts = [counts_of(program.machine) for _ in range(max(len(program.layer_table.layers), 1))]
    _count(code, parts, np.array(numbers or [0] * len(code.rows), np.int64))
    total = total_of(program.machine, parts)
    total.memories[storage.name].peak_bytes = storage.size_bytes
    ends = zip(numbers, end.tolist(), strict=True) if numbers else ()
    traced = TracedLayers(program.layer_table, numbers, advances(ends))
    if options.trace is not None:
        slices = _slices(code, start, end, order)
        write_events(options.trace, program.machine, sorted({one.row for one in slices}), traced, slices)
    cycles = int(end.max(initial=0)) if options.timing else 0
    issues = [Issue(int(i), int(start[i]), int(end[i])) for i in order]
    layers = layer_figures(program.machine, traced.table, traced.stretches, parts) if numbers else ()
    return make_result(program, total, cycles, len(code.rows), issues, [storage], layers, options.functional)


def _deadlock(code: StageCode, taken: Table) -> Trap:
    """Names the first instruction that can never start, and the queue that stays empty."""
    machine, stages = code.machine, code.machine.stages
    assert stages is not None
    units = code.rows[:, Row.UNIT]
    heads = [np.flatnonzero(units == number)[int(taken[number]) :] for number in range(len(machine.units))]
    ran = np.ones(len(units), bool)
    for rest in heads:
        ran[rest] = False
    for rest in heads:
        for number, queue in enumerate(stages.tokens) if len(rest) else ():
            index = int(rest[0])
            pushed, popped = (int((code.rows[ran, c] >> number & 1).sum()) for c in (Row.PUSHES, Row.POPS))
            if code.rows[index, Row.POPS] >> number & 1 and popped >= pushed:
                expected = f"a token of {queue.name}, which {queue.src} pushes"
                found = f"none: {pushed} pushed, {popped} popped, and the rest of {queue.src} waits, too"
                return Trap("deadlock", index, text_of(code, index), expected, found, "push it, or pop it elsewhere")
    index = int(np.flatnonzero(~ran)[0])
    return Trap("deadlock", index, text_of(code, index), "room in the queue of its unit", "a full one, which waits")


def _execute(code: StageCode, storage: Storage, order: Table, options: SimulationOptions) -> None:
    ends = queue_ends(code.machine)
    chip = Chip(code, storage, clocks(code.rows, len(code.machine.units), len(ends), order))
    step = max(1, len(order) // 100)
    for number, index in enumerate(order.tolist()):
        chip.run(index)
        if options.progress is not None and number % step == 0:
            options.progress("simulate", number, len(order))
    _check_left(code)


def _check_left(code: StageCode) -> None:
    """Traps tokens that are left over: the next program would find them."""
    stages = code.machine.stages
    assert stages is not None
    for number, queue in enumerate(stages.tokens):
        left = int((code.rows[:, Row.PUSHES] >> number & 1).sum() - (code.rows[:, Row.POPS] >> number & 1).sum())
        if left:
            index = int(np.flatnonzero(code.rows[:, Row.PUSHES] >> number & 1)[-1])
            expected = f"as many pops of {queue.name} as pushes"
            raise Trap("hazard", index, text_of(code, index), expected, f"{left} tokens left at the end")


def _reach(code: StageCode) -> int:
    """One past the highest byte off chip that copies touch."""
    rows = code.rows[
        (code.rows[:, Row.KIND] <= Kind.STORE) & (code.rows[:, Copy.COLUMNS] > 0) & (code.rows[:, Copy.ROWS] > 0)
    ]
    last = rows[:, Copy.OFF] + (rows[:, Copy.ROWS] - 1) * rows[:, Copy.STRIDE] + rows[:, Copy.COLUMNS]
    return int((last * rows[:, Copy.OFF_BYTES]).max(initial=0))


def _count(code: StageCode, parts: list[Counts], layers: Table) -> None:
    """What memories, links, nodes and units do, for each layer."""
    machine, channel = code.machine, fetched_beats(code.machine)[0]
    word = max(word.bytes for word in machine.words.values())
    for layer, count in enumerate(parts):
        mine = layers == layer
        if channel >= 0:
            count.memories[machine.offchip[0]].read_bytes += word * int(mine.sum())
        for number, unit in enumerate(machine.units):
            rows = code.rows[mine & (code.rows[:, Row.UNIT] == number)]
            count.units[unit.name].instructions += len(rows)
            count.units[unit.name].busy_cycles += int((rows[:, Row.CYCLES] + rows[:, Row.BEATS]).sum())
        for number, mnemonic in enumerate(machine.mnemonics):
            rows = code.rows[mine & (code.names == number)]
            count.mnemonics[mnemonic.name] += len(rows)
            if len(rows) and rows[0, Row.KIND] <= Kind.STORE:
                _count_copies(machine, mnemonic.node, rows, count)
            elif len(rows) and mnemonic.capability:
                _count_walks(machine, number, rows, count)
        price_memories(machine, count)


def _count_copies(machine: Machine, name: str, rows: Table, count: Counts) -> None:
    link = next(link for link in machine.links if link.name == name)
    moved = int((rows[:, Copy.ROWS] * rows[:, Copy.COLUMNS] * rows[:, Copy.OFF_BYTES]).sum())
    used = count.links[name]
    used.issues += len(rows)
    used.bytes += moved
    used.busy_cycles += int(rows[:, Row.BEATS].sum())
    used.full_cycles += moved / link.bandwidth_bytes_per_cycle
    count.memories[link.src].read_bytes += moved
    count.memories[link.dst].write_bytes += moved


def _count_walks(machine: Machine, number: int, rows: Table, count: Counts) -> None:
    """Issues of a node are micro-ops; those that set a constant are not counted, as VTA does."""
    mnemonic = machine.mnemonics[number]
    node = machine.compute_by_name[mnemonic.node]
    capability = next(c for c in node.capabilities if c.name == mnemonic.capability)
    points = int(
        (np.maximum(rows[:, Walk.END] - rows[:, Walk.FIRST], 0) * rows[:, Walk.OUTER] * rows[:, Walk.INNER]).sum()
    )
    used = count.computes[node.name]
    used.busy_cycles += int(rows[:, Row.CYCLES].sum())
    if kind_of(capability) != "constant":
        used.issues += points
        ops, cycles = full_cycles_of_ops(node, capability, points)
        used.ops += ops
        used.full_cycles += cycles


def _slices(code: StageCode, start: Table, end: Table, order: Table) -> list[Slice]:
    names = [machine_unit.name for machine_unit in code.machine.units]
    return [
        Slice(names[int(code.rows[i, Row.UNIT])], code.mnemonic(int(i)).name, int(i), int(start[i]), int(end[i]))
        for i in order
    ]
