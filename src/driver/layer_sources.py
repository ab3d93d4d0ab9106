"""What each layer of a program was compiled from, gathered between the passes of a compilation."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ..dialects import codelet, graph, nest
from ..dialects.layer_attributes import nodes_of
from ..dialects.types import size_bytes
from ..machine.layer_source import LayerSource, Read

Nodes = tuple[str, ...]


class SourceRecorder:
    """Collects the sources of a program's layers: groups of level `nest`, then codelets."""

    def __init__(self) -> None:
        self.found: dict[Nodes, LayerSource] = {}

    @property
    def sources(self) -> tuple[LayerSource, ...]:
        """What has been recorded, in the order of the groups."""
        return tuple(self.found.values())

    def record(self, module: ModuleOp, following: str) -> None:
        """Look at `module` before the pass `following`, if that leaves a level."""
        if following.startswith("convert-nest-to-"):
            self.found = {}
            for group in (op for op in module.walk() if isinstance(op, nest.GroupOp)):
                self._add_group(group)
        elif following.startswith("convert-codelet-to-"):
            for op in (op for op in module.walk() if isinstance(op, codelet.CodeletOp)):
                self._add_codelet(op)

    def _add_group(self, group: nest.GroupOp) -> None:
        nodes = nodes_of(group) or (group.sym_name.data,)
        names = [name.data for name in group.input_names]
        reads = [
            read for name, value in zip(names, group.inputs, strict=True) for read in _reads(name, value) if read.bytes
        ]
        notes = {name: known for name, value in group.attributes.items() if (known := _plain(value)) is not None}
        one = LayerSource(group.sym_name.data, nodes, tuple(reads), notes, {"nest": text_of(group)})
        old = self.found.get(nodes)
        self.found[nodes] = one if old is None else _joined(old, one)

    def _add_codelet(self, op: codelet.CodeletOp) -> None:
        """Its text; and where its tensors lie, which the group's inputs of the same names are."""
        one = self.found.get(nodes := nodes_of(op))
        if one is None:
            return
        reads = one.reads
        if op.sym_name.data == one.name:
            kinds = {arg.name_hint: arg.type for arg in op.body.block.args if arg.name_hint}
            places = {name: kind.memory for name, kind in kinds.items() if isinstance(kind, codelet.SurrogateType)}
            reads = tuple(replace(read, memory=places.get(read.tensor, read.memory)) for read in reads)
        text = "\n\n".join(filter(None, (one.ir.get("codelet"), text_of(op))))
        self.found[nodes] = replace(one, reads=reads, ir={**one.ir, "codelet": text})


def _joined(old: LayerSource, new: LayerSource) -> LayerSource:
    """A layer of several groups."""
    return replace(old, reads=old.reads + new.reads, ir={"nest": f"{old.ir['nest']}\n\n{new.ir['nest']}"})


def _reads(name: str, value: SSAValue) -> Iterator[Read]:
    """What is read as `name`: the results of groups, or an input of the network; weights are the layer's own."""
    owner = value.owner
    if isinstance(owner, nest.ViewOp):
        yield from _reads(name, owner.source)
    elif isinstance(owner, nest.RowsOp):
        yield from _reads(name, owner.index)
    elif isinstance(owner, nest.JoinOp):
        for piece in owner.pieces:
            yield from _reads(name, piece)
    elif not isinstance(owner, graph.WeightOp) and isinstance(kind := value.type, TensorType):
        group = owner if isinstance(owner, nest.GroupOp) else None
        source = (nodes_of(group) or (group.sym_name.data,))[0] if group is not None else ""
        shown = "x".join([*map(str, kind.get_shape()), str(kind.element_type)])
        yield Read(source, name, shown, size_bytes(kind))


def _plain(value: Attribute) -> str | float | bool | None:
    """A mark of a pass as plain data; None for what is none, such as the layers."""
    match value:
        case UnitAttr():
            return True
        case StringAttr():
            return value.data
        case IntegerAttr():
            return value.value.data
        case FloatAttr():
            return value.value.data
        case _:
            return None


def text_of(op: Operation) -> str:
    """An operation as text; values from outside have numbers."""
    stream = io.StringIO()
    Printer(stream).print_op(op)
    return stream.getvalue()
