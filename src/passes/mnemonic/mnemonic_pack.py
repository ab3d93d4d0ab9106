"""The pass `mnemonic-pack`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.passes import ModulePass

from ...dialects.acg import machine_of
from ...dialects.mnemonic import InstrOp, ProgramOp
from ...machine.packet_program import Instruction, Isa
from ..nest_to_packets.scheduling import schedule_straight

ANYWHERE = "memory"
"""The part of memory of an instruction that does not say which one it touches."""


@dataclass(frozen=True)
class MnemonicPackPass(ModulePass):
    """Put instructions that do not depend on each other into packets (Covenant, section 4, "Mnemonic Packing").

    Before: instructions one by one, in an order that is right, of a target whose control model is `packets`.  After:
    each has the number of its `packet`, and they stand in that order.  A packet has at most the target's words, and
    resources for each of its instructions, of the choices that each has; what an instruction reads was written as many
    packets before as the writer's latency says, and the longest chain goes first.  Instructions that load or store keep
    their order where they touch the same part of memory, which their attributes `reads` and `writes` may name.

        @VADDW <O = 2, A = 0, B = 1>         @VADDW <O = 2, A = 0, B = 1> {packet = 0 : i64}
        @VADDW <O = 4, A = 2, B = 1>    ->   @VADDW <O = 5, A = 0, B = 0> {packet = 0 : i64}
        @VADDW <O = 5, A = 0, B = 0>         @VADDW <O = 4, A = 2, B = 1> {packet = 1 : i64}

    The scheduler is that of kernels (`backends.packets`).
    """

    name = "mnemonic-pack"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        isa = Isa(machine_of(op))
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            _pack(isa, program)


def _pack(isa: Isa, program: ProgramOp) -> None:
    ops = [op for op in program.body.block.ops if isinstance(op, InstrOp)]
    written = [_instruction(isa, op, number) for number, op in enumerate(ops)]
    for op in ops:
        op.detach()
    for number, packet in enumerate(schedule_straight(isa, written)):
        for instruction in packet:
            op = ops[instruction.label]
            op.attributes["packet"] = IntegerAttr(number, i64)
            program.body.block.add_op(op)


def _instruction(isa: Isa, op: InstrOp, number: int) -> Instruction:
    """The instruction of an op; its label is its place in the program."""
    mnemonic = isa.mnemonics[op.mnemonic.root_reference.data]
    source, _, target = mnemonic.node.partition("->")
    reads = _parts(op, "reads", target != "" and source == isa.memory)
    writes = _parts(op, "writes", target == isa.memory)
    values = {name: int(value) for name, value in op.fields.data}
    every = [*(name for name, _ in mnemonic.registers), *(field.name for field in mnemonic.fields)]
    return Instruction(mnemonic.name, tuple((name, values.get(name, 0)) for name in every), reads, writes, number)


def _parts(op: InstrOp, name: str, touches: bool) -> tuple[str, ...]:
    given = op.attributes.get(name)
    if isinstance(given, ArrayAttr):
        return tuple(part.data for part in given if isinstance(part, StringAttr))
    return (ANYWHERE,) if touches else ()
