"""`convert-nest-to-packets`: functions become programs of a machine of control model `packets`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ...arrays import Array
from ...dialects.acg import machine_of
from ...dialects.mnemonic import ProgramOp, TensorOp
from ...dialects.roles import Role
from ...dialects.types import Tensor, tensor, ui8
from ...interpreters.graph import argument_names, result_names
from ...machine.packet_code import encode_packets
from ...machine.packet_figures import figures
from ...machine.packet_isa import Isa
from ...machine.packet_program import PacketProgram
from ...resources import resources_of
from .lower import packet_program

CONSTANTS = "constants"
"""The weight that holds all constants: the memory's bytes up to the last of them."""


@dataclass(frozen=True)
class ConvertNestToPacketsPass(ModulePass):
    """Turn each function of groups into packets of instructions (VLIW).

    A function of one kernel on its inputs gets a program in the forms that suit the kernel best; in others the kernels
    run one after another, in forms that suit them all.  Where tensors lie is in the code; those of the program have the
    function's shapes, and one more holds the constants.

        nest.group @fc dims {...} ...   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... }

    Precondition: integers only, and a target whose control model is `packets` (`load-target`); mappings are not used.
    Raises `TilewrightError` (kind `unsupported`) for what the machine has no instructions for.
    """

    name = "convert-nest-to-packets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.body.block.ops if isinstance(inner, FuncOp)]
        for function in functions:
            program = _convert(op, function)
            block = function.parent_block()
            assert block is not None
            block.insert_op_before(program, function)
            function.detach()
            function.erase()


def _convert(module: ModuleOp, function: FuncOp) -> ProgramOp:
    isa = Isa(machine_of(module))
    program = packet_program(isa.machine, module, function)
    tensors = list(_tensors(isa, program, function))
    if len(constants := constants_of(program)):
        name = resources_of(module).add(CONSTANTS, constants)
        tensors.append(TensorOp(name, Role.WEIGHT, tensor([len(constants)], ui8), isa.memory, 0))
    return ProgramOp(function.sym_name.data, tensors, encode_packets(program), figures(isa, program.code))


def _tensors(isa: Isa, program: PacketProgram, function: FuncOp) -> Iterator[TensorOp]:
    """The function's inputs and outputs; one that nothing reads is at 0."""
    addresses = {item.name: item.address for item in reversed(program.stored)}
    types = function.function_type
    for role, names, given in (
        (Role.INPUT, argument_names(function), types.inputs),
        (Role.OUTPUT, result_names(function), types.outputs),
    ):
        for name, type_ in zip(names, given, strict=True):
            yield TensorOp(name, role, cast(Tensor, type_), isa.memory, addresses.get(name, 0))


def constants_of(program: PacketProgram) -> Array:
    """The memory's bytes up to the last constant, 0 between them."""
    memory = np.zeros(max((address + len(data) for address, data in program.images), default=0), np.uint8)
    for address, data in program.images:
        memory[address : address + len(data)] = np.frombuffer(data, np.uint8)
    return memory
