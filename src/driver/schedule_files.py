"""Schedules of DRAM as files, and their prices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..costs.dram import Timetable
from ..costs.notation import check_capacity, check_schedule, times_of, transfer_cycles
from ..files import replacing
from ..machine import Machine
from ..passes.dram.dram_schedule import add_schedule
from ..passes.dram.schedules import Schedule, model_of_numbers, numbers_of, schedule_of, schedule_value
from .models import load_model

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def schedule_module(table: Timetable, batch: int, machine: Machine, *, exact: bool) -> ModuleOp:
    """A module with the network and the schedule `table`."""
    from xdsl.dialects.builtin import ModuleOp

    module = ModuleOp([])
    add_schedule(module, table, batch, numbers_of(machine, exact=exact))
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
    cycles = transfer_cycles(value.parsed, model.bandwidth, model.latency)
    times = times_of(value.parsed, value.moves, cycles)
    usage = check_capacity(value.parsed, value.moves, 1 << 62)
    tensors = value.parsed.tensors
    return {
        "valid": max(usage) <= value.machine.buffer,
        "latency_cycles": times.latency_cycles,
        "energy_pj": value.parsed.energy_pj,
        "max_buffer_bytes": max(usage),
        "dram_tensors": len(value.moves),
        "dram_bytes": sum(tensors[move.tensor].size_bytes for move in value.moves),
        "tiles": len(value.parsed.tiles),
    }
