"""Text that other tools and people read: assembly of programs, `.acg` of machines; targets of `tilewright-opt -t`."""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ..dialects.acg import machine_of
from ..dialects.mnemonic import ProgramOp
from ..errors import TilewrightError
from ..frontends.acg import print_target
from .assembler import disassemble
from .link import code_of


@dataclass(frozen=True)
class AcgTarget(Target):
    """The module's machine as canonical `.acg` text."""

    name = "acg"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(print_target(machine_of(module)))


@dataclass(frozen=True)
class AssemblyTarget(Target):
    """The instructions of the module's programs, one a line, as `assembler.assemble` reads them back."""

    name = "assembly"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        machine = machine_of(module)
        programs = [op for op in module.body.ops if isinstance(op, ProgramOp)]
        if not programs:
            lever = "lower it with convert-codelet-to-mnemonic"
            raise TilewrightError("program", "module", "a mnemonic.program", "none", lever)
        for program in programs:
            output.write(disassemble(machine, code_of(program, machine)))
