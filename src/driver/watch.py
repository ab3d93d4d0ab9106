"""What happens between the passes of a compilation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from ..dialects import codelet, graph, nest
from ..dialects.acg import machine_of
from ..dialects.layer_attributes import nodes_of
from ..dialects.types import bytes_of
from ..errors import TilewrightError
from ..files import make_folder, replacing
from ..interruption import Interrupted, requested
from ..machine.layer_table import LayerSource, Read
from ..resources import ATTRIBUTE, Resources, attach, identical, resources_of

if TYPE_CHECKING:
    from ..costs.bounds.program import ProgramBound
    from .models import Progress
    from .pipelines import CompileOptions

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
        one = LayerSource(group.sym_name.data, nodes, tuple(reads), notes, {"nest": str(group)})
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
        text = "\n\n".join(filter(None, (one.ir.get("codelet"), str(op))))
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
        yield Read(source, name, shown, bytes_of(value))


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


OPS_BASE, OPS_PER_OP = 10_000, 50
"""Operations that a module may hold at any point of the pipeline: so many, and so many more for each of its input.

Loops stay rolled, so a layer becomes a few dozen operations at most, whatever its extents.
"""


class Watch:
    """Between passes: verify, count ops, write the IR, tell the progress, and record what layers were compiled from;
    `bound` is known when kernels are, or before.  Nothing is bounded where it is not `is_bounded`, and no codelets are
    recorded where it is not `is_recorded`.

    Raises `TilewrightError` (kind `limit`) for `subject` after a pass that makes more operations than `OPS_BASE` and
    `OPS_PER_OP` allow.
    """

    def __init__(self, subject: str, options: CompileOptions, total: int, progress: Progress | None) -> None:
        self.subject = subject
        self.options = options
        self.total = total
        self.progress = progress
        self.done = 0
        self.ops_max = 0
        self.ops_limit = 0
        self.bound: ProgramBound | None = None
        self.is_bounded = self.is_recorded = True
        self.recorder = SourceRecorder()
        self.weights = DumpedWeights()

    def resumed(self, dump: Path | None) -> Watch:
        """Another that goes on from here, and writes the IR to `dump`."""
        watch = copy(self)
        watch.options, watch.recorder = replace(self.options, dump=dump), copy(self.recorder)
        return watch

    def __call__(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if requested():  # a search in a pass ended early
            raise Interrupted
        self._count(module, previous)
        if previous is not None and previous.name == "convert-graph-to-nest":
            self._bound(module)
        if following is not None and following.name == "convert-graph-to-codelet":
            self._bound_of_layers(module)
        if following is not None and (self.is_recorded or not following.name.startswith("convert-codelet-to-")):
            self.recorder.record(module, following.name)
        if self.options.verify_each:
            module.verify()
        if self.options.dump is not None:
            name = previous.name if previous is not None else "import"
            path = self.options.dump / f"{self.done:02}-{name}.mlir"
            self.weights.dump(module, path)
        if self.progress is not None:
            self.progress(following.name if following is not None else "done", self.done, self.total)
        self.done += 1

    def _bound(self, module: ModuleOp) -> None:
        """What no program of these kernels goes below, on machines whose instructions say what they cost."""
        machine = machine_of(module)
        if machine.control in ("queues", "loops", "packets") and self.is_bounded and self.bound is None:
            from ..passes.nest.program_bound import bound_of

            self.bound = bound_of(module, machine)

    def _bound_of_layers(self, module: ModuleOp) -> None:
        """The same where layers do not become kernels: of the kernels that they are; none where one is no kernel."""
        from ..passes.graph_to_nest.convert_graph_to_nest import ConvertGraphToNestPass
        from ..passes.nest.program_bound import bound_of

        attach(copied := module.clone(), Resources(resources_of(module)))
        with suppress(TilewrightError):
            ConvertGraphToNestPass().apply(Context(), copied)
            self.bound = bound_of(copied, machine_of(copied))

    def _count(self, module: ModuleOp, previous: ModulePass | None) -> None:
        count = sum(1 for _ in module.walk())
        if previous is None:
            self.ops_limit = OPS_BASE + OPS_PER_OP * count
        elif count > self.ops_limit:
            expected, found = f"at most {self.ops_limit} operations", f"{count} after {previous.name}"
            raise TilewrightError("limit", self.subject, expected, found, "split the model")
        self.ops_max = max(self.ops_max, count)


class DumpedWeights:
    """Weights beside the text after each pass, all in one file as long as none has other bytes than before."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.saved = Resources()

    def dump(self, module: ModuleOp, text: Path) -> None:
        """Write the IR to `text`, which names the file beside it that has the weights."""
        arrays = resources_of(module)
        known = [name for name in arrays if name in self.saved]
        new = len(known) < len(arrays)
        is_other = any(not identical(arrays.as_stored(name), self.saved.as_stored(name)) for name in known)
        if is_other or self.file is None or self.file.parent != text.parent:
            self.file, self.saved, new = text.with_suffix(".npz"), Resources(), bool(arrays)
        if new:
            self.saved.update(arrays)
            make_folder(text.parent)
            self.saved.save(self.file)
        given = module.attributes.pop(ATTRIBUTE, None)
        if arrays:
            module.attributes[ATTRIBUTE] = StringAttr(self.file.name)
        dump_module(module, text)
        module.attributes.pop(ATTRIBUTE, None)
        if given is not None:
            module.attributes[ATTRIBUTE] = given


def dump_module(module: ModuleOp, path: Path) -> None:
    """Write the IR as text to `path`, making its folder."""
    make_folder(path.parent)
    with replacing(path) as place, place.open("w", encoding="utf-8") as stream:
        Printer(stream).print_op(module)
        stream.write("\n")
