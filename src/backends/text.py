"""Text that other tools and people read: assembly of programs, `.acg` and pictures of machines; targets of
`tilewright-opt -t`."""

from dataclasses import dataclass
from math import isinf
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ..dialects.acg import machine_of
from ..dialects.mnemonic import ProgramOp
from ..errors import TilewrightError
from ..frontends.acg import print_target
from ..machine import Compute, Memory
from .assembler import disassemble
from .link import code_of


@dataclass(frozen=True)
class AcgTarget(Target):
    """The module's machine as canonical `.acg` text."""

    name = "acg"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(print_target(machine_of(module)))


@dataclass(frozen=True)
class DotTarget(Target):
    """The module's machine as a picture for Graphviz: memories blue, computes green (Covenant, figure 10)."""

    name = "dot"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        machine = machine_of(module)
        lines = [f'digraph "{machine.name}" {{', "  node [shape=box, style=filled];"]
        for memory in machine.memories:
            size = "" if memory.depth is None else f"\\n{memory.capacity_bytes} B"
            lines.append(f'  "{memory.name}" [fillcolor=lightblue, label="{_node(memory)}{size}"];')
        for compute in machine.computes:
            known = "\\n".join([_node(compute), *(capability.name for capability in compute.capabilities)])
            lines.append(f'  "{compute.name}" [fillcolor=lightgreen, label="{known}"];')
        pairs = {(link.src, link.dst) for link in machine.links if link.back}
        for link in (link for link in machine.links if not link.back):
            rate = (
                "" if isinf(link.bandwidth_bytes_per_cycle) else f'label="{link.bandwidth_bytes_per_cycle:g} B/cycle"'
            )
            both = "dir=both" if (link.dst, link.src) in pairs else ""
            lines.append(f'  "{link.src}" -> "{link.dst}" [{", ".join(filter(None, (rate, both)))}];')
        output.write("\n".join([*lines, "}", ""]))


def _node(node: Memory | Compute) -> str:
    is_array = node.instances_x * node.instances_y > 1
    return f"{node.name}[{node.instances_x}][{node.instances_y}]" if is_array else node.name


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
