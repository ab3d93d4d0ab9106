"""`dram-schedule`: when every byte moves, decided by a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.dram import Timetable
from ...costs.dram.platform import model_of
from ...costs.notation import Choices, Move
from ...dialects import dram
from ...dialects.acg import machine_of
from ...errors import TilewrightError
from ...machine import Machine
from ...search.dram import Effort, Objective, framework, schedule
from ...zoo.schedule_networks import Network
from ..graph.schedule_layers import schedule_layers
from .schedules import network_in, network_op, network_value, numbers_of, parsed_for, schedule_op


@dataclass(frozen=True)
class DramSchedulePass(ModulePass):
    """Decide order, groups, tiles and DRAM transfers of a network for the module's target.

        dram.network @n { ... }   ->   dram.network @n { ... }
                                       dram.schedule @schedule of @n batch 1 on <...> { ... dram.transfers { ... } }

    A schedule that is there is replaced, groups and all.  A module with a function in the graph dialect gets the table
    of its layers, too.  `method` is `ours`, `soma` or
    `cocco` and `model` what prices: `exact`, or `soma` for that tool's arithmetic.  `reserve_bytes` of the buffer stay
    free, for partial sums.  `rounds` of search (0: by batch), from `seed`; the answer depends on nothing else.
    Raises InfeasibleError where the buffer cannot hold the smallest tiles of some layer.  Addresses come with
    `dram-allocate`.  Source: J. Cai et al., "SoMa", HPCA 2025; see docs/schedules.md.
    """

    name = "dram-schedule"
    batch: int = 0
    method: Literal["ours", "soma", "cocco"] = "ours"
    model: Literal["exact", "soma"] = "exact"
    reserve_bytes: int = 0
    rounds: int = 0
    seed: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        network, batch = self._network(op)
        machine = machine_of(op)
        model = model_of(machine, exact=self.model == "exact")
        numbers = numbers_of(machine, self.reserve_bytes, exact=self.model == "exact")
        effort = Effort(seed=self.seed, rounds=self.rounds or None)
        limited = model._replace(buffer_bytes=numbers.buffer)
        if self.method == "ours":
            found = schedule(network, limited, batch, Objective(), effort)
        else:
            found = framework(network, limited, batch, Objective(), effort, cocco=self.method == "cocco")
        add_schedule(op, found.timetable, batch, machine, self.reserve_bytes, exact=self.model == "exact")

    def _network(self, module: ModuleOp) -> tuple[Network, int]:
        given = network_in(module)
        if given is not None:
            return network_value(given), self.batch or 1
        functions = [op for op in module.body.ops if isinstance(op, FuncOp) and not op.is_declaration]
        if len(functions) != 1:
            raise TilewrightError("schedule", "module", "one dram.network, or one function", str(len(functions)))
        network, batch = schedule_layers(functions[0])
        if self.batch not in (0, batch):
            raise TilewrightError("batch", "module", f"the function's batch of {batch}", str(self.batch))
        return network, batch


def add_schedule(
    module: ModuleOp, table: Timetable, batch: int, machine: Machine, reserve_bytes: int = 0, *, exact: bool = True
) -> dram.ScheduleOp:
    """Put the schedule `table` and its network into `module`, instead of those that are there."""
    for old in [old for old in module.body.ops if isinstance(old, dram.ScheduleOp | dram.NetworkOp)]:
        Rewriter.erase_op(old)
    taken = {op.sym_name.data for op in module.body.ops if isinstance(op, FuncOp)}
    name = table.network.name
    network = network_op(table.network, f"{name}_layers" if name in taken else name)
    numbers = numbers_of(machine, reserve_bytes, exact=exact)
    choices = Choices(table.fusion, batch, table.streamed, table.reused)
    parsed = parsed_for(table.network, choices, numbers)
    moves = [Move(parsed.number[t.kind, t.layer, t.tile, t.source], t.start, t.end) for t in table.transfers]
    op = schedule_op("schedule", network, numbers, parsed, moves)
    module.body.block.add_ops([network, op])
    return op
