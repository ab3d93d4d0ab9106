"""The pass `graph-verify`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.dag import mask_of
from ...costs.fusion.pricer import SubgraphPricer
from ...dialects import graph
from ...errors import TilewrightError
from ..functions import functions_of
from .fusion_layers import FusionLayers, fusion_layers, platform_in


@dataclass(frozen=True)
class GraphVerifyPass(ModulePass):
    """Check the groups of a partition that was written or changed by hand, against the target of the module.

    The groups of a function run one after another, so none may wait for one that waits for it; the layers of a fused
    group are connected; and they fit the buffers together (the error says what they need, what there is, and the
    smallest capacity that would do).  A layer on its own fits always.  The module is not changed.

    `global_bytes` and `weight_bytes` (0: as the target has it) are the capacities of the buffers.
    """

    name = "graph-verify"
    global_bytes: int = 0
    weight_bytes: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform = platform_in(op, self.global_bytes, self.weight_bytes)
        for function in functions_of(op):
            check_order(function)
            flat = Flat.of(function)
            flat.split()
            table = flat.layers.graph()
            pricer = SubgraphPricer(table, platform, batch=flat.layers.batch)
            for numbers, name in zip(flat.groups(), flat.names, strict=True):
                if len(numbers) < 2:
                    continue
                if not table.dag.connected(mask_of(numbers)):
                    found = f"{table.layers[numbers[0]].name} and {table.layers[numbers[-1]].name} apart"
                    raise TilewrightError("partition", name, "a group of connected layers", found, "split it")
                error = pricer.why(numbers)
                if error is not None:
                    raise error


def check_order(function: func.FuncOp) -> None:
    """Check that each operation stands after those that it reads, and tell circles apart from a mere wrong order."""
    place = {op: index for index, op in enumerate(function.body.block.ops)}
    for op, index in place.items():
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and place.get(owner, -1) >= index:
                circle = _path(owner, op)
                if circle:
                    names = " -> ".join(_name(member) for member in [*circle, circle[0]])
                    expected = "groups that do not wait for each other in a circle"
                    raise TilewrightError("partition", _name(op), expected, names, "split one of them")
                found = f"it before {_name(owner)}"
                raise TilewrightError("partition", _name(op), "a group after those that it reads", found, "swap them")


def _path(first: Operation, last: Operation) -> list[Operation]:
    """Operations from `last` on, each read by the next, up to `first`; none where no such path is."""
    came: dict[Operation, Operation] = {}
    waiting = [last]
    for op in waiting:
        if op is first:
            path = [first]
            while path[-1] is not last:
                path.append(came[path[-1]])
            return path[::-1]
        for use in (use for result in op.results for use in result.uses):
            if use.operation not in came and use.operation is not last:
                came[use.operation] = op
                waiting.append(use.operation)
    return []


def _name(op: Operation) -> str:
    hint = op.results[0].name_hint if op.results else None
    return f"{op.name} %{hint}" if hint else op.name


@dataclass
class Flat:
    """A copy of a function without groups; `owner` says for each layer which fused group it came from."""

    function: func.FuncOp
    layers: FusionLayers
    owner: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    names: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, function: func.FuncOp) -> Flat:
        """Inline all groups in a copy of `function`."""
        copy = function.clone()
        owner: dict[SSAValue, int] = {}
        names: list[str] = []
        _inline(copy.body.block.ops, owner, names, -1)
        return cls(copy, fusion_layers(copy, function), owner, names)

    def split(self) -> None:
        """Cut layers apart whose operations came from different groups."""
        parts: list[list[Operation]] = []
        for ops in self.layers.members:
            by_owner: dict[int, list[Operation]] = {}
            for op in ops:
                by_owner.setdefault(self.owner.get(op.results[0], -1), []).append(op)
            parts.extend(by_owner.values())
        self.layers.regroup(parts)

    def groups(self) -> list[list[int]]:
        """The layers of each fused group."""
        found: list[list[int]] = [[] for _ in self.names]
        for number, ops in enumerate(self.layers.members):
            place = self.owner.get(ops[0].results[0], -1)
            if place >= 0:
                found[place].append(number)
        return found


def _inline(ops: Iterable[Operation], owner: dict[SSAValue, int], names: list[str], place: int) -> None:
    """Replace groups by what they hold, noting the number of the fused group that each layer was in."""
    for op in list(ops):
        if not isinstance(op, graph.GroupOp):
            if place >= 0 and op.results:
                owner[op.results[0]] = place
            continue
        number = place
        if isinstance(op, graph.FusedGroupOp):
            number = len(names)
            names.append(_name(op))
        *members, last = op.body.block.ops
        Rewriter.inline_block(op.body.block, InsertPoint.before(op), op.inputs)
        Rewriter.replace_op(op, [], last.operands)
        Rewriter.erase_op(last)
        _inline(members, owner, names, number)
