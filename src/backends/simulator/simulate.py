"""The simulator: decodes a program, runs it instruction by instruction, and adds up time and energy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra.byte_regions import regions_meet
from ...algebra.element import Array
from ...errors import TilewrightError, check_type
from ...machine.dram import DramTiming
from ..control_models import Inputs, Progress, SimulationOptions, control_model
from .binding import IllegalFieldsError
from .dram_links import DramLinks, add_waits, device_of
from .energy import count_all, count_layers
from .layers import Advance, LayerFigures, advances, layer_figures
from .memory import Storage
from .placing import place_tensors
from .plan import Touch
from .result import SimulationResult, make_result, region_uses
from .schedule import Issue, run_queues
from .stream import Stream, make_stream
from .trace import TracedLayers, write_trace
from .traps import Trap

if TYPE_CHECKING:
    from ...machine.layer_table import LayerTable
    from ..program import Program


@dataclass(frozen=True)
class _Log:
    """The accesses of one unit to one memory, in the order of its queue: reads and writes, or writes only."""

    positions: list[int]
    low: Array
    high: Array
    uses: list[tuple[int, int]]  # instruction, operand


class HazardCheck:
    """Checks instructions in the order in which they start, against those that started before.

    Each unit's clock counts, per unit, the instructions that must have completed (Fidge and Mattern's vector clocks);
    an access conflicts with an earlier one that is outside the clock if their bytes meet and one of them writes.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        units = len(stream.machine.units)
        self.started = [0] * units
        self.clocks: list[list[tuple[int, ...]]] = [[(0,) * units] for _ in range(units)]  # [unit][completed]
        self.logs = _make_logs(stream)
        self.guaranteed = _Guarantees(stream)

    def check(self, index: int) -> None:
        """Raises `Trap` (`hazard`) if the instruction conflicts with an earlier one; otherwise notes that it ran."""
        stream = self.stream
        unit = stream.units[index]
        clock = self._clock(index, unit)
        plan, addresses = stream.plans[index], stream.addresses[index]
        for other in range(len(self.started)):
            if other != unit and clock[other] < self.started[other]:
                for touch, address in zip(plan.touches, addresses, strict=False):
                    self._check_touch(index, touch, address, other, clock[other])
        self.started[unit] += 1
        self.clocks[unit].append((*clock[:unit], self.started[unit], *clock[unit + 1 :]))

    def _clock(self, index: int, unit: int) -> tuple[int, ...]:
        """What has completed when the instruction starts."""
        clock = self.clocks[unit][self.started[unit]]
        for tag, count in self.stream.waits[index]:
            for other, completed in self.guaranteed.of(tag, count):
                clock = tuple(map(max, clock, self.clocks[other][completed]))
        return clock

    def _check_touch(self, index: int, touch: Touch, address: int, other: int, completed: int) -> None:
        log = self.logs.get((other, touch.memory, touch.writes))
        if log is None:
            return
        first = bisect_left(log.positions, completed)
        last = bisect_left(log.positions, self.started[other])
        if first == last:
            return
        low, high = address + touch.low, address + touch.high
        near = np.flatnonzero((log.low[first:last] < high) & (log.high[first:last] > low))
        for candidate in near.tolist():
            self._compare(index, touch, address, log.uses[first + candidate])

    def _compare(self, index: int, touch: Touch, address: int, use: tuple[int, int]) -> None:
        earlier, operand = use
        other = self.stream.plans[earlier].touches[operand]
        byte = regions_meet(touch.region, address, other.region, self.stream.addresses[earlier][operand])
        if byte is None:
            return
        memory = self.stream.machine.memories[touch.memory].name
        access = "writes" if touch.writes else "reads"
        past = "writes" if other.writes else "reads"
        raise Trap(
            "hazard",
            index,
            self.stream.text(index),
            f"a wait for instruction {earlier} ({self.stream.text(earlier)}), which {past} {memory}[{byte:#x}]",
            f"none, though it {access} that byte",
        )


def _make_logs(stream: Stream) -> dict[tuple[int, int, bool], _Log]:
    """Per unit and memory, what a write must be checked against (True: all accesses) and a read (False: writes)."""
    rows: dict[tuple[int, int, bool], list[tuple[int, int, int, tuple[int, int]]]] = {}
    for index, plan in enumerate(stream.plans):
        for operand, (touch, address) in enumerate(zip(plan.touches, stream.addresses[index], strict=False)):
            low, high = address + touch.low, address + touch.high
            row = (stream.positions[index], low, high, (index, operand))
            for write in (True, False) if touch.writes else (True,):
                rows.setdefault((stream.units[index], touch.memory, write), []).append(row)
    return {key: _make_log(found) for key, found in rows.items()}


def _make_log(rows: Sequence[tuple[int, int, int, tuple[int, int]]]) -> _Log:
    positions, low, high, uses = zip(*rows, strict=True)
    return _Log(list(positions), np.array(low, np.int64), np.array(high, np.int64), list(uses))


class _Guarantees:
    """What a counter's value says about the units that signal it.

    A counter that one unit alone signals at `count` tells that unit's `count`-th signaller has completed; with several
    units, each is certain of what the others together cannot have signalled.
    """

    def __init__(self, stream: Stream) -> None:
        self.signallers: dict[int, dict[int, list[int]]] = {}  # tag -> unit -> positions
        for index, tag in enumerate(stream.signals):
            if tag:
                units = self.signallers.setdefault(tag, {})
                units.setdefault(stream.units[index], []).append(stream.positions[index])

    def of(self, tag: int, count: int) -> list[tuple[int, int]]:
        """(unit, instructions of it that have certainly completed)."""
        units = self.signallers.get(tag, {})
        total = sum(len(positions) for positions in units.values())
        result: list[tuple[int, int]] = []
        for unit, positions in units.items():
            certain = count - (total - len(positions))
            if certain > 0:
                result.append((unit, positions[certain - 1] + 1))
        return result


def simulate(
    program: Program,
    inputs: Inputs | None = None,
    *,
    functional: bool = True,
    timing: bool = True,
    checks: bool = True,
    trace: str | Path | None = None,
    progress: Progress | None = None,
    dram: str | DramTiming | None = None,
) -> SimulationResult:
    """Runs a program's binary by the meaning that its machine gives to instructions, and nothing else.

    `functional` computes values (without it there are no outputs); `timing` computes cycles (without it they are 0);
    `checks` watches for uninitialised reads and hazards.  `trace` is a file to write for Perfetto.  `dram` is the
    device off chip, such as `ddr4-2400` (`machine.dram`), or `flat`, on machines of control model `queues`; without it,
    what the machine says.  Raises `Trap` (a `TilewrightError` of kind `trap`) when the program does what the machine
    forbids.
    """
    from ..program import Program

    check_type("program", program, Program, "a Program, as `compile` makes")
    check_type("inputs", inputs, (Mapping, type(None)), "arrays by name")
    check_type("trace", trace, (str, Path, type(None)), "the path of a file")
    check_type("dram", dram, (str, DramTiming, type(None)), "the name of a device")
    device = device_of(dram, program.machine)
    options = SimulationOptions(
        functional, timing, checks, Path(trace) if trace is not None else None, progress, device
    )
    return control_model(program.machine).simulate(program, inputs or {}, options)


def simulate_queues(program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
    """As `simulate`, for control model `queues`."""
    functional = options.functional
    stream = make_stream(program.machine, program.code)
    program.layer_table.check(len(stream))
    _check_static(stream)
    counts = count_all(stream)
    storages = _make_storages(program, counts.memories, functional)
    place_tensors(program, inputs, storages, functional)
    links = DramLinks(program.machine, options.dram)
    links.check({name: count.peak_bytes for name, count in counts.memories.items()})
    issues = _run(stream, storages, options, links)
    if links.devices and options.timing:
        add_waits(counts, stream, issues)
    numbers = program.layer_table.numbers()
    stretches = _stretches(numbers, issues)
    if options.trace is not None:
        write_trace(options.trace, stream, issues, TracedLayers(program.layer_table, numbers, stretches))
    cycles = max((issue.end_cycle for issue in issues), default=0)
    layers = _layers(stream, program.layer_table, stretches, issues)
    made = make_result(program, counts, cycles, len(stream), issues, storages, layers, functional)
    return replace(made, regions=region_uses(stream, program.regions), stream=stream, dram=links.figures())


def _stretches(numbers: Sequence[int], issues: Sequence[Issue]) -> list[Advance]:
    """When each layer advances the end, instruction after instruction in program order."""
    ends = [0] * len(issues)
    for issue in issues:
        ends[issue.index] = issue.end_cycle
    return advances(zip(numbers, ends, strict=True)) if numbers else []


def _layers(
    stream: Stream, table: LayerTable, stretches: Sequence[Advance], issues: Sequence[Issue]
) -> tuple[LayerFigures, ...]:
    """The figures of the program's layers."""
    numbers = table.numbers()
    counts = count_layers(stream, numbers, len(table.layers)) if table.known else ()
    for issue in issues if counts else ():
        add_waits(counts[numbers[issue.index]], stream, [issue])
    return layer_figures(stream.machine, table, stretches, counts)


def _check_static(stream: Stream) -> None:
    """Traps that need no run: fields without a meaning, addresses outside memories."""
    memories = stream.machine.memories
    for index, plan in enumerate(stream.plans):
        if plan.fault is not None:
            raise Trap(plan.fault.reason, index, stream.text(index), plan.fault.expected, plan.fault.found)
        for touch, address in zip(plan.touches, stream.addresses[index], strict=False):
            memory = memories[touch.memory]
            low, high = address + touch.low, address + touch.high
            if low < 0 or high > memory.capacity_bytes:
                expected = f"{touch.operand} within the {memory.capacity_bytes} bytes of {memory.name}"
                raise Trap("range", index, stream.text(index), expected, f"bytes {low} to {high - 1}")


def _make_storages(program: Program, used: Mapping[str, Any], functional: bool) -> list[Storage]:
    """Memories on chip whole, those off chip as far as tensors and instructions reach."""
    storages: list[Storage] = []
    for memory in program.machine.memories:
        ends = [t.address + t.size_bytes for t in program.tensors if t.memory == memory.name]
        reach = max([used[memory.name].peak_bytes, *ends])
        if reach > memory.capacity_bytes:
            raise TilewrightError(
                "program", memory.name, f"tensors within {memory.capacity_bytes} bytes", f"up to {reach}"
            )
        storages.append(Storage(memory, reach if memory.offchip else memory.capacity_bytes, functional))
    return storages


def _run(stream: Stream, storages: list[Storage], options: SimulationOptions, links: DramLinks) -> list[Issue]:
    buffers = [storage.data for storage in storages]
    hazards = HazardCheck(stream) if options.checks else None
    step = max(1, len(stream) // 100)
    issues: list[Issue] = []
    with np.errstate(all="ignore"):
        for issue in run_queues(stream, options.timing, links.end_cycle if links.devices else None):
            if hazards is not None:
                hazards.check(issue.index)
                _check_reads(stream, storages, issue.index)
            if options.functional:
                _execute(stream, buffers, issue.index)
            issues.append(issue)
            if options.progress is not None and len(issues) % step == 0:
                options.progress("simulate", len(issues), len(stream))
    return issues


def _execute(stream: Stream, buffers: list[Array], index: int) -> None:
    """Runs an instruction; what data make it do wrong is a trap."""
    try:
        stream.plans[index].run(buffers, stream.addresses[index])
    except IllegalFieldsError as fault:
        raise Trap(fault.reason, index, stream.text(index), fault.expected, fault.found) from None


def _check_reads(stream: Stream, storages: list[Storage], index: int) -> None:
    """Traps reads of bytes that were never written, and marks what the instruction writes."""
    touches, addresses = stream.plans[index].touches, stream.addresses[index]
    for touch, address in zip(touches, addresses, strict=False):
        if touch.reads:
            byte = storages[touch.memory].first_unwritten(address, touch.region)
            if byte is not None:
                place = f"{storages[touch.memory].name}[{byte:#x}]"
                expected = f"{touch.operand} to be written before it is read"
                raise Trap("uninitialised", index, stream.text(index), expected, f"{place}, never written")
    for touch, address in zip(touches, addresses, strict=False):
        if touch.writes:
            storages[touch.memory].mark(address, touch.region)
