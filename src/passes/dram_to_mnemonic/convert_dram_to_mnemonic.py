"""`convert-dram-to-mnemonic`: schedules become instruction words."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.dram.platform import buffer_of, offchip_of
from ...costs.notation import check_addresses, check_capacity, check_schedule
from ...dialects import dram, mnemonic
from ...dialects.acg import machine_of
from ...dialects.layer_attributes import set_layers
from ...dialects.roles import Role
from ...dialects.types import si8
from ...errors import TilewrightError
from ...machine import Machine
from ..dram.schedules import Schedule, schedule_value
from . import Lowered, lower


@dataclass(frozen=True)
class ConvertDramToMnemonicPass(ModulePass):
    """Emit the instructions of schedules with addresses.

        dram.schedule @s of @n ... { ... }   ->   mnemonic.program @s code dense<"0x..."> { mnemonic.tensor ... }

    Loads and stores go in the channel's order, each after the one before, after the tile before its life (a load), and
    after the tile that makes it (a store).  A tile begins after the tile before, after its loads, and after the stores
    whose lives end with it.  Within a tile the array makes 32-bit sums in chunks, in what the schedule leaves of the
    buffer, and the vector unit brings them to 8 bits while the next chunk is made.  Everything is bytes; what layers
    mean is told in `zoo/schedule_networks/meaning.py`.  `predicted` are cycles by the instructions' own formulas.

    Preconditions: the module's target has the instructions, and addresses (`dram-allocate`) within its buffer.  Raises
    InfeasibleError where there is no room for sums (`reserve_bytes` of dram-schedule), TilewrightError (kind `target`)
    where an instruction is missing.
    """

    name = "convert-dram-to-mnemonic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for schedule in [inner for inner in op.body.ops if isinstance(inner, dram.ScheduleOp)]:
            value = schedule_value(schedule)
            lowered = lower_schedule(machine, value)
            Rewriter.replace_op(schedule, program_op(value.name, lowered))
        for network in [inner for inner in op.body.ops if isinstance(inner, dram.NetworkOp)]:
            Rewriter.erase_op(network)


def lower_schedule(machine: Machine, value: Schedule) -> Lowered:
    """The instructions of a schedule, which is checked first."""
    parsed, moves, numbers = value.parsed, value.moves, value.machine
    buffer = buffer_of(machine)
    if not numbers.exact:
        expected = "a schedule in the exact model, whose tiles have a place"
        raise TilewrightError("schedule", value.name, expected, "one in SoMa's model")
    check_schedule(parsed, moves)
    check_capacity(parsed, moves, min(numbers.buffer, buffer.capacity_bytes))
    check_addresses(parsed, moves, value.parts, min(numbers.buffer, buffer.capacity_bytes), buffer.align_bytes)
    return lower(machine, (offchip_of(machine), buffer), parsed, moves, value.parts)


def program_op(name: str, lowered: Lowered) -> mnemonic.ProgramOp:
    """The program as IR."""
    tensors = [
        mnemonic.TensorOp(tensor.name, Role(tensor.role), TensorType(si8, tensor.shape), tensor.memory, tensor.address)
        for tensor in lowered.tensors
    ]
    made = mnemonic.ProgramOp(name, tensors, lowered.code, predicted_of(lowered))
    set_layers(made, lowered.layers)
    return made


def predicted_of(lowered: Lowered) -> dict[str, float]:
    """Cycles, energy and DRAM bytes of a schedule's instructions."""
    cycles, moved = float(lowered.times.latency_cycles), float(lowered.dram_bytes)
    return {"cycles": cycles, "energy_pj": lowered.energy_pj, "dram_bytes": moved}
