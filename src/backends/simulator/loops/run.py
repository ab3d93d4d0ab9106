"""Runs a program of a machine of loops: function, cycles, counts.

An array group is followed by the vector group that reads its sums, or stands alone; so may a vector group.  The vector
group runs once for each tile whose sums are complete.  Blocks of a program must fit the memory of instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....errors import InfeasibleError, TilewrightError
from ....machine import Machine
from ....machine.loop_rules import instruction_memory
from ..energy import Counts, counts_of, utilization
from ..layers import LayerFigures, advances, layer_figures
from ..memory import Storage
from ..result import SimulationResult, read_placement
from ..schedule import Issue
from ..trace import TracedLayers
from .actions import Step, steps
from .chip import Chip
from .groups import Group, read_groups
from .pair import Pair, pairs
from .reach import reach as reached
from .state import RunState
from .timeline import Timeline, write_trace

if TYPE_CHECKING:
    from ...program import Program

Progress = Callable[[str, int, int], None]
MAX_DRAM_BYTES = 1 << 34


def simulate_loops(
    program: Program,
    inputs: Mapping[str, NDArray[Any]],
    functional: bool = True,
    trace: Path | None = None,
    progress: Progress | None = None,
) -> SimulationResult:
    """As `simulate`, for control model `loops`."""
    machine = program.machine
    every = list(steps(machine, program.code))
    _check_blocks(machine, every)
    levels = {unit.name: _levels(unit.engine.levels if unit.engine else ()) for unit in machine.units}
    groups = read_groups(every, levels)
    storage = _dram(program, groups, inputs, functional)
    chip = Chip(machine, storage.data)
    for tensor in program.tensors:
        if tensor.role in ("input", "weight"):
            chip.dram_written[tensor.address : tensor.address + tensor.size_bytes] = True
    copies = {memory.name: int(memory.buffering) for memory in machine.memories}
    state = RunState(machine, chip, Timeline(copies, storage.name), counts_of(machine), functional)
    program.layer_table.check(len(every))
    numbers = program.layer_table.numbers()
    parts = [counts_of(machine) for _ in range(max(len(program.layer_table.layers), 1))]
    ends: list[tuple[int, int]] = []
    for number, (array, vector) in enumerate(pairs(machine, groups)):
        if progress is not None:
            progress("simulate", number, len(groups))
        first = next(group.step.index for group in (array, vector) if group is not None)
        layer = numbers[first] if numbers else 0
        state.counts = parts[layer]
        with np.errstate(all="ignore"):
            Pair(state, array, vector).run()
        ends.append((layer, state.time.end))
    for part in parts:
        _price_memories(machine, part)
    state.counts = _total(machine, parts, every)
    traced = TracedLayers(program.layer_table, numbers, advances(ends) if numbers else ())
    layers = layer_figures(machine, traced.table, traced.stretches, parts) if numbers else ()
    if trace is not None:
        write_trace(trace, machine, state.time.slices, traced)
    return _result(program, state, storage, layers, len(every))


def _total(machine: Machine, parts: Sequence[Counts], every: Sequence[Step]) -> Counts:
    """The counts of all parts of a run of these instructions."""
    total = counts_of(machine)
    for part in parts:
        total.add(part)
    for step in every:
        total.mnemonics[step.mnemonic.name] += 1
    return total


def _check_blocks(machine: Machine, every: Sequence[Step]) -> None:
    """Traps blocks that are longer than the memory of instructions, where the machine has one."""
    memory = instruction_memory(machine)
    if memory is None or not machine.instruction_bits:
        return
    length, most = 0, 8 * memory.capacity_bytes // machine.instruction_bits
    for step in every:
        length += 1
        if length > most:
            raise step.trap("range", f"blocks of at most {most} instructions, as {memory.name} holds", "more")
        if step.kind == "block":
            length = 0


def _levels(pairs_: Sequence[tuple[str, str]]) -> dict[str, int]:
    return {name: int(word) for name, word in pairs_}


def _result(
    program: Program, state: RunState, storage: Storage, layers: tuple[LayerFigures, ...], count: int
) -> SimulationResult:
    by_name, cycles = {storage.name: storage}, state.time.end
    for memory in state.machine.memories:
        peak = storage.size_bytes if memory.offchip else state.chip.peaks[memory.name]
        state.counts.memories[memory.name].peak_bytes = peak
    outputs = [t for t in program.tensors if t.role == "output"] if state.functional else []
    return SimulationResult(
        outputs={t.name: read_placement(by_name, t) for t in outputs},
        cycles=cycles,
        energy_pj=state.counts.energy_pj,
        dram_bytes=state.counts.dram_bytes(state.machine),
        peak_bytes={name: c.peak_bytes for name, c in state.counts.memories.items()},
        utilization=utilization(state.counts, cycles),
        counts=state.counts,
        instructions=count,
        issues=[Issue(item.index, item.start_cycle, item.end_cycle) for item in state.time.slices],
        placements={t.name: t for t in program.tensors},
        storages=by_name,
        layers=layers,
    )


def _price_memories(machine: Machine, counts: Counts) -> None:
    """Energy of what was read and written."""
    for memory in machine.memories:
        used = counts.memories[memory.name]
        reads, writes = used.read_bytes, used.write_bytes
        used.energy_pj = reads * memory.read_energy_pj_per_byte + writes * memory.write_energy_pj_per_byte


def _dram(program: Program, groups: Sequence[Group], inputs: Mapping[str, NDArray[Any]], functional: bool) -> Storage:
    """The one memory off chip, as far as tensors and transfers reach, with the tensors that are given."""
    from ..simulate import place_tensors

    offchip = [memory for memory in program.machine.memories if memory.offchip]
    if len(offchip) != 1:
        raise TilewrightError("target", program.machine.name, "one memory off chip", f"{len(offchip)}")
    reach = max([t.address + t.size_bytes for t in program.tensors], default=0)
    reach = max([reach, *(reached(program.machine, group) for group in groups)])
    if reach > MAX_DRAM_BYTES:
        raise InfeasibleError("host memory", reach, MAX_DRAM_BYTES, "bytes", "use lower addresses", offchip[0].name)
    storage = Storage(offchip[0], reach, functional)
    place_tensors(program, inputs, [storage], functional)
    return storage
