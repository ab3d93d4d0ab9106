"""Puts an accelerator's description into the module."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects.acg import GraphOp
from ..frontends.acg import load_target
from ..machine import Machine


def place_machine(module: ModuleOp, machine: Machine) -> None:
    """Put the `acg.graph` of `machine` at the head of `module`, instead of one that is there."""
    graph = GraphOp.get(machine)
    for old in [old for old in module.body.ops if isinstance(old, GraphOp)]:
        Rewriter.erase_op(old)
    Rewriter.insert_op(graph, InsertPoint.at_start(module.body.block))


@dataclass(frozen=True)
class LoadTargetPass(ModulePass):
    """Place the `acg.graph` of an accelerator at the head of the module, instead of one that is there.

        builtin.module { ... }  ->  builtin.module { acg.graph @toy ... { ... } ... }

    `target` is a shipped target's name or the path of an `.acg` file.  This is the one pass that reads a file: what
    comes after it finds the accelerator in the IR.
    """

    name = "load-target"
    target: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        place_machine(op, load_target(self.target))
