"""Schedules of DRAM as files, priced, and executed on the simulator."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arrays import Array, compare, write_arrays
from ..costs.dram import Model, Timetable, net_tables, score, state_of, workspace
from ..costs.dram.emit import FITS, OVERFLOW
from ..costs.dram.platform import model_of
from ..costs.dram.workspace import CYCLES
from ..costs.notation import Timed, check_capacity, check_schedule, times_of, transfer_cycles
from ..costs.soma import Hardware, plan
from ..costs.soma.blocks import splits
from ..errors import InfeasibleError, TilewrightError
from ..files import make_folder, replacing
from ..frontends.acg import load_target
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..passes.dram.dram_allocate import allocate
from ..passes.dram.dram_schedule import add_schedule
from ..passes.dram.schedules import Schedule, model_of_numbers, schedule_of, schedule_op, schedule_value
from ..search.dram import Effort, Objective, schedule
from ..zoo.schedule_networks import Network
from .models import RunOptions, RunResult, choose_inputs, load_model
from .schedules import find_network

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..backends.program import Program

RESERVES = 1 / 32, 1 / 24, 1 / 16, 1 / 8, 1 / 4, 1 / 2
"""Parts of the buffer that a schedule leaves free for 32-bit sums and for what does not fit gaps, tried in order."""

HALF = 2
"""Of the reserve, one part in so many may be taken by tensors that fit no gap."""


def schedule_module(table: Timetable, batch: int, machine: Machine, *, exact: bool, reserve_bytes: int = 0) -> ModuleOp:
    """A module with the network and the schedule `table`, with addresses where there are some."""
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.rewriter import Rewriter

    module = ModuleOp([])
    op = add_schedule(module, table, batch, machine, reserve_bytes, exact=exact)
    try:
        value = allocate(schedule_value(op))
    except InfeasibleError:
        return module
    given = value.machine, value.parsed, value.moves, value.parts
    Rewriter.replace_op(op, schedule_op(value.name, op.scheduled, *given))
    return module


def write_schedule(path: Path, table: Timetable, batch: int, machine: Machine, *, exact: bool) -> None:
    """Write a schedule to a `.mlir` file."""
    from xdsl.printer import Printer

    with replacing(path) as place, place.open("w", encoding="utf-8") as file:
        Printer(file).print_op(schedule_module(table, batch, machine, exact=exact))
        file.write("\n")


def price_schedule_ir(path: Path) -> dict[str, Any]:
    """The answer of `tilewright price-schedule FILE.mlir`: the schedule in it, by the model that it names."""
    value = schedule_value(schedule_of(load_model(path)))
    check_schedule(value.parsed, value.moves)
    return {"results": [{"schedule": price(value)}]}


def price(value: Schedule) -> dict[str, Any]:
    """Cycles, energy and use of the buffer of a schedule; it is not valid where the buffer is too small."""
    model = model_of_numbers(value.machine)
    cycles, energy = (_exact_tiles if value.machine.exact else _soma_tiles)(value, model)
    timed = Timed(cycles, transfer_cycles(value.parsed, model.bandwidth, model.latency))
    times = times_of(value.parsed, value.moves, timed)
    usage = check_capacity(value.parsed, value.moves, 1 << 62)
    tensors = value.parsed.tensors
    return {
        "valid": max(usage) <= value.machine.buffer,
        "latency_cycles": times.latency_cycles,
        "energy_pj": energy,
        "max_buffer_bytes": max(usage),
        "dram_tensors": len(value.moves),
        "dram_bytes": sum(tensors[move.tensor].size_bytes for move in value.moves),
        "tiles": len(value.parsed.tiles),
    }


def _exact_tiles(value: Schedule, model: Model) -> tuple[tuple[int, ...], float]:
    """Cycles of each tile, and energy of all and of DRAM."""
    parsed, choices = value.parsed, value.parsed.choices
    flags = [choices.flags(number) for number in range(len(choices.fusion.tiles))]
    state = state_of(choices.fusion, tuple(streamed for streamed, _ in flags), tuple(reused for _, reused in flags))
    net = net_tables(parsed.network)
    work = workspace(net, len(parsed.tiles) + 2, classes=1 << 10)
    free = model._replace(buffer_bytes=1 << 60)
    outcome = score(net, free, splits(model.array.side), choices.batch, state, work, 1 << 60, 0)
    if outcome not in (FITS, OVERFLOW):
        raise TilewrightError("schedule", value.name, "tiles that the cores can compute", "none")
    return tuple(work.positions[CYCLES, : len(parsed.tiles)].tolist()), float(work.energy[-1])


def _soma_tiles(value: Schedule, model: Model) -> tuple[tuple[int, ...], float]:
    choices = value.parsed.choices
    machine = Hardware(model.array, model.buffer_bytes, model.bandwidth)
    found = plan(value.parsed.network, machine, choices.fusion, choices.batch)
    return tuple(found.tile_cycles.tolist()), found.energy_pj


@dataclass(frozen=True)
class ScheduledOptions:
    """How a network is scheduled to be run: `schedule` is `ours` or a file of `tilewright schedule -o`."""

    schedule: str = "ours"
    shapes: InputShapes = field(default_factory=InputShapes)
    tokens: int | None = None
    effort: Effort = field(default_factory=Effort)


def find_schedule(name: str, machine: Machine, options: ScheduledOptions) -> Schedule:
    """The schedule to be run, with addresses and room for sums; InfeasibleError where no reserve leaves enough."""
    if options.schedule != "ours":
        value = schedule_value(schedule_of(load_model(Path(options.schedule))))
        check_schedule(value.parsed, value.moves)
        return value if value.parts else allocate(value)
    network, batch = find_network(name, options.tokens, options.shapes)
    model = model_of(machine)
    short: InfeasibleError | None = None
    for share in RESERVES:
        reserve = int(model.buffer_bytes * share)
        try:
            found = schedule(
                network, model._replace(buffer_bytes=model.buffer_bytes - reserve), batch, Objective(), options.effort
            )
            module = schedule_module(found.timetable, batch, machine, exact=True, reserve_bytes=reserve // HALF)
            value = schedule_value(schedule_of(module))
            return value if value.parts else allocate(value)
        except InfeasibleError as error:
            short = short or error
    assert short is not None
    raise short


def lower_to_program(machine: Machine, value: Schedule, weights: dict[str, Array]) -> Program:
    """A program of a schedule, with its weights."""
    from ..backends.program import Program
    from ..passes.dram_to_mnemonic.convert_dram_to_mnemonic import lower_schedule, predicted_of
    from ..resources import Resources

    lowered = lower_schedule(machine, value)
    priced = price(value)
    predicted = {
        **predicted_of(lowered),
        "model_cycles": float(priced["latency_cycles"]),
        "model_energy_pj": float(priced["energy_pj"]),
        "tile_cycles": float(sum(lowered.timed.tiles)),
        "model_tile_cycles": float(sum(_exact_tiles(value, model_of_numbers(value.machine))[0])),
    }
    return Program(machine, lowered.code, lowered.tensors, Resources(weights), predicted, layer_table=lowered.layers)


def run_scheduled(
    name: str, target: str | Path, *, folder: Path, options: ScheduledOptions, run_options: RunOptions
) -> RunResult:
    """Schedule a network (or take a schedule), lower it, simulate it, and compare with its layers in NumPy.

    Everything is bytes, and weights are made from the seed; every result that reaches DRAM is compared.
    """
    from ..backends.simulator import simulate
    from ..interpreters.dram import random_tensors, run_network

    start = time.process_time()
    machine = load_target(target)
    value = find_schedule(name, machine, options)
    network: Network = value.parsed.network
    made, weights = random_tensors(network, value.parsed.choices.batch, run_options.seed)
    program = lower_to_program(machine, value, weights)
    signature = {key: (array.shape, array.dtype) for key, array in made.items()}
    inputs = made if run_options.inputs is None else choose_inputs(signature, run_options)
    make_folder(folder)
    trace = folder / "trace.json" if run_options.trace else None
    result = simulate(program, inputs, trace=trace)
    outputs = folder / "outputs.npz"
    write_arrays(outputs, result.outputs)
    comparison = None
    if run_options.check:
        expected = run_network(network, inputs, weights)
        stored = [tensor.name for tensor in program.tensors if tensor.role in ("temp", "output")]
        found = {key: result.tensor(key) for key in stored}
        comparison = compare(found, {key: expected[key] for key in stored}, run_options.tolerance)
    compared = "NumPy, layer by layer" if comparison is not None else ""
    return RunResult(result, program.predicted, outputs, trace, compared, comparison, time.process_time() - start)
