"""`dram-schedule`: when every byte moves, decided by a search."""

from dataclasses import dataclass
from math import prod
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
from ...dialects.dram_syntax import MachineNumbers
from ...dialects.graph import WeightOp
from ...dialects.types import bytes_of, shape_of
from ...errors import TilewrightError
from ...search.dram import METHODS, POWERS, Effort, Objective
from ...zoo.schedule_networks import Network
from ..graph.graph_fuse import EPILOGUE, find_clusters
from ..graph.schedule_layers import schedule_layers
from .schedules import function_in, network_in, network_op, network_value, numbers_of, parsed_for, schedule_op


@dataclass(frozen=True)
class DramSchedulePass(ModulePass):
    """Decide order, groups, tiles and DRAM transfers of a network for the module's target.

        dram.network @n { ... }   ->   dram.network @n { ... }
                                       dram.schedule @schedule of @n batch 1 on <...> { ... dram.transfers { ... } }

    A schedule that is there is replaced, groups and all.  A module with a function in the graph dialect gets the table
    of its layers, too; their elements are taken for as many bytes as they have in the mean (`dram-apply` puts the
    schedule on the layers).  `method` is `ours`, `soma` or `cocco` and `model` what prices: `exact`, or `soma` for that
    tool's arithmetic.  `objective` is `edp`, `energy` or `latency`.  `reserve_bytes` of the buffer stay free, for
    partial sums.  `rounds` of search (0: by batch) from `seed`, ended after `time_limit_s` CPU seconds (0: never), or
    where the objective is at most `gap` (0.01 for 1 %) above its bound.
    Raises InfeasibleError where the buffer cannot hold the smallest tiles of some layer.  Source: J. Cai et al.,
    "SoMa", HPCA 2025; see docs/schedules.md.
    """

    name = "dram-schedule"
    batch: int = 0
    method: Literal["ours", "soma", "cocco"] = "ours"
    model: Literal["exact", "soma"] = "exact"
    reserve_bytes: int = 0
    rounds: int = 0
    seed: int = 0
    objective: Literal["edp", "energy", "latency"] = "edp"
    time_limit_s: float | int = 0
    gap: float | int = 0.0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        network, batch, element_bytes = self._network(op)
        machine, exact = machine_of(op), self.model == "exact"
        numbers = numbers_of(machine, self.reserve_bytes, exact=exact, element_bytes=element_bytes)
        limits = {"buffer_bytes": numbers.buffer, "bandwidth": numbers.bandwidth}
        limited = model_of(machine, exact=exact)._replace(**limits)
        limit = self.time_limit_s or None
        effort = Effort(seed=self.seed, rounds=self.rounds or None, time_limit_s=limit, gap=self.gap)
        found = METHODS[self.method](network, limited, batch, Objective(*POWERS[self.objective]), effort)
        add_schedule(op, found.timetable, batch, numbers)

    def _network(self, module: ModuleOp) -> tuple[Network, int, int]:
        """The network, its samples, and the bytes of an element."""
        given = network_in(module)
        if given is not None:
            return network_value(given), self.batch or 1, 1
        function = function_in(module)
        network, batch = schedule_layers(function)
        if self.batch not in (0, batch):
            raise TilewrightError("batch", "module", f"the function's batch of {batch}", str(self.batch))
        return network, batch, _element_bytes(function)


def _element_bytes(function: FuncOp) -> int:
    """Bytes of an element of maps and weights, in the mean."""
    block = function.body.block
    moved = [cluster.tail.result for cluster in find_clusters(block, EPILOGUE)]
    moved = [*moved, *(op.result for op in block.ops if isinstance(op, WeightOp))]
    return max(1, round(sum(map(bytes_of, moved)) / max(1, sum(prod(shape_of(value)) for value in moved))))


def add_schedule(module: ModuleOp, table: Timetable, batch: int, numbers: MachineNumbers) -> dram.ScheduleOp:
    """Put the schedule `table` and its network into `module`, instead of those that are there."""
    for old in [old for old in module.body.ops if isinstance(old, dram.ScheduleOp | dram.NetworkOp)]:
        Rewriter.erase_op(old)
    taken = {op.sym_name.data for op in module.body.ops if isinstance(op, FuncOp)}
    name = table.network.name
    network = network_op(table.network, f"{name}_layers" if name in taken else name)
    choices = Choices(table.fusion, batch, table.streamed, table.reused)
    parsed = parsed_for(table.network, choices, numbers)
    moves = [Move(parsed.number[t.kind, t.layer, t.tile, t.source], t.start, t.end) for t in table.transfers]
    op = schedule_op("schedule", network, numbers, parsed, moves)
    module.body.block.add_ops([network, op])
    return op
