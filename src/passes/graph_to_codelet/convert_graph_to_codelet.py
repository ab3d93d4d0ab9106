"""`convert-graph-to-codelet`: layers of 8-bit integers become codelets of a machine of control model `stages`."""

from dataclasses import dataclass, replace

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.clock import Limit
from ...dialects import graph
from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ProgramOp
from ...dialects.types import Role, element_of, shape_of, si8, ui8
from ...errors import TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...machine import Machine
from ...machine.stage_isa import StageIsa
from ...resources import Resources, resources_of
from ...search.tiles.choice import Effort
from ..functions import functions_of
from .choose import choose_tiles
from .layer import LayerBuilder
from .places import Places, digits_of, packing_of
from .read import UNSIGNED, Found, Reader, offset_of
from .scales import Step
from .works import Applied, Plane, Tiles, Window, Work

LARGEST_NUMBER = 32767
"""What an immediate holds; other numbers become vectors."""


@dataclass(frozen=True)
class ConvertGraphToCodeletPass(ModulePass):
    """Turn each function's layers into codelets for a machine of control model `stages` (VTA).

    Convolutions, products, sums, averages and additions become sums of products with blocks of weights (diagonal ones,
    where channels do not mix), maxima a maximum over taps; requantisation is a rounding constant, a shift and bounds.
    Tiles are those of fewest cycles; a layer's are searched for until these are at most `gap` above what its products,
    steps and bytes take (below 0: `search.tiles.choice.WITHIN`, and among fewer), or for `time_limit_s` CPU seconds of
    all layers (0: no limit).  Maps lie by blocks of channels; `tensor` and `layout` of a `codelet.tensor` are the
    network's tensor and how it lies.

        graph.conv ... graph.requantize ...   ->   codelet.program @main { codelet.codelet @conv ... }

    Precondition: `graph-integers`, and a target whose control model is `stages` (`load-target`).  Raises
    `TilewrightError` (kind `unsupported`) that names the layer that the machine cannot run, `InfeasibleError` where not
    even the smallest tile fits.
    """

    name = "convert-graph-to-codelet"
    gap: float = -1.0
    time_limit_s: float = 0.0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        effort = Effort(self.gap if self.gap >= 0 else None, Limit(self.time_limit_s or None))
        for function in functions_of(op):
            program = StagesProgram(machine_of(op), function, resources_of(op), effort).convert()
            Rewriter.replace_op(function, program)


class StagesProgram:
    """Places tensors, then writes layer after layer."""

    def __init__(self, machine: Machine, function: FuncOp, resources: Resources, effort: Effort) -> None:
        self.isa, self.function, self.effort = StageIsa(machine), function, effort
        self.places, self.reader = Places(self.isa, resources), Reader(resources, self.isa.depth)
        self.codelets: list[CodeletOp] = []
        self.known: dict[object, Tiles] = {}
        self.moving: set[Operation] = set()

    def convert(self) -> ProgramOp:
        """The program of the function."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        inputs = list(zip(self.function.body.block.args, argument_names(self.function), strict=True))
        outputs = list(zip(last.arguments, result_names(self.function), strict=True))
        self.places.names.update(name for _, name in (*inputs, *outputs))
        needed = self._needed(last)
        for value, name in inputs:
            self._pack(value, needed)
            if value.uses:
                self._given(value, name)
        self._join(needed)
        for op in needed:
            found = self.reader.moved(op) if op in self.moving else self.reader.layer(op.results[0])
            if found is not None:
                self._write(self._work(found))
        for value, name in outputs:
            self._returned(value, name)
        return ProgramOp(self.function.sym_name.data, Region(Block([*self.places.ops, *self.codelets])))

    def _pack(self, value: SSAValue, needed: list[graph.LayerOp]) -> None:
        """An input of few channels that one layer alone reads lies packed, where that layer then has fewer taps."""
        if not value.has_one_use():
            return
        layers = (self.reader.layer(op.results[0]) for op in needed)
        found = next((layer for layer in layers if layer is not None and value in layer.sources), None)
        if found is not None and (packing := packing_of(found, shape_of(value), self.isa.lanes)) is not None:
            self.places.packings[value] = replace(packing, fill=found.pad + offset_of(value))

    def _given(self, value: SSAValue, name: str) -> None:
        """An input; bytes without a sign become signed ones first."""
        places, plane = self.places, self.places.plane(value)
        if not offset_of(value):
            places.note(value, name, Role.INPUT, plane)
            return
        given = places.another(value)
        places.note(value, name, Role.INPUT, given)
        self._write(self._turned(name, given, plane))

    def _returned(self, value: SSAValue, name: str) -> None:
        """An output; bytes without a sign, parts of other maps, and what is seen already are copied to its place."""
        places, plane = self.places, self.places.planes.get(value)
        where, lever = f"output {name!r}", "run it on the host (--host)"
        if plane is None:
            raise TilewrightError("unsupported", where, "what a layer makes, or an input", "a constant", lever)
        if offset_of(value) or places.is_seen(plane):
            if (element := element_of(value)) not in (si8, ui8):
                expected = "8 bits where an output is an input, or another output, too"
                raise TilewrightError("unsupported", where, expected, f"{element}", lever)
            asked = places.another(value)
            self._write(self._turned(name, plane, asked, offset_of(value)))
            plane = asked
        places.note(value, name, Role.OUTPUT, plane)

    def _turned(self, name: str, source: Plane, result: Plane, added: int = UNSIGNED) -> Work:
        """Bytes with 128 more or less, which is the same for the 8 bits that are stored, or as they are."""
        weights, shared = self.places.diagonals(f"{name}.signed", np.ones((1, 1, 1), np.int64))
        steps = (Applied("add", number=added),)
        work = Work(
            name=name,
            nodes=(name,),
            window=Window(),
            diagonal=True,
            sources=(source,),
            result=result,
            weights=weights,
            shared=shared,
            steps=steps,
        )
        return work.of_one_image()

    def _needed(self, last: ReturnOp) -> list[graph.LayerOp]:
        """The layers that make stored values, in order; what lies between them is part of a layer."""
        wanted: set[SSAValue] = set(last.arguments)
        found: list[graph.LayerOp] = []
        for op in reversed(list(self.function.body.block.ops)):
            if not isinstance(op, graph.LayerOp) or isinstance(op, graph.WeightOp) or op.results[0] not in wanted:
                continue
            found.append(op)
            layer = self.reader.layer(op.results[0])
            wanted.update(layer.sources if layer is not None else op.operands)
        for value in wanted:
            if not isinstance(value.owner, graph.LayerOp) and isinstance(value.owner, Operation):
                where, lever = (
                    f"function @{self.function.sym_name.data}",
                    "give a network of 8-bit integers (docs/vta.md)",
                )
                raise TilewrightError("unsupported", where, "layers of a graph", value.owner.name, lever)
        return found[::-1]

    def _join(self, needed: list[graph.LayerOp]) -> None:
        """Pieces of concatenations lie in the whole, and other shapes of a value where it lies; else they are moved."""
        lanes, places = self.isa.lanes, self.places
        for op in reversed(needed):
            if isinstance(op, graph.ConcatOp):
                places.plane(op.result)
                sizes = [shape_of(piece)[1] for piece in op.pieces]
                held = any(piece in places.planes for piece in op.pieces) or len(set(op.pieces)) < len(op.pieces)
                if op.axis.value.data != 1 or any(size % lanes for size in sizes) or held:
                    self.moving.add(op)
                    continue
                first = 0
                for piece, size in zip(op.pieces, sizes, strict=True):
                    places.plane(piece, (op.result, first // lanes, size // lanes))
                    first += size
            elif isinstance(op, graph.ReshapeOp):
                self._alias(op)

    def _alias(self, op: graph.ReshapeOp) -> None:
        self.reader.sources(op)
        plane = self.places.plane(op.result)
        if self.places.planes.setdefault(op.x, plane) != plane:
            self.moving.add(op)

    def _work(self, found: Found) -> Work:
        """The layer with its tensors in place."""
        places, channels = self.places, shape_of(found.value)[1]
        if (packing := places.packings.get(found.sources[0])) is not None:
            found = packing.packed(found)
        shared, digits = False, digits_of(found.weights) if found.diagonal else found.weights[None]
        if found.diagonal:
            taps = Window() if found.maximum else found.window
            weights, shared = places.diagonals(found.name, np.concatenate(digits), taps)
        else:
            weights = places.weights(found.name, found.weights, found.window)
        made = Work(
            **found.form,
            sources=tuple(places.plane(value) for value in found.sources),
            result=places.plane(found.value),
            weights=weights,
            shared=shared,
            digits=len(digits),
            steps=tuple(self._applied(found.name, step, channels) for step in found.steps),
            wide=element_of(found.value) == i32,
        )
        return made.of_one_image()

    def _applied(self, name: str, step: Step, channels: int) -> Applied:
        made = Applied(step.function, step.target, step.source)
        if step.values is None:
            return made
        alike = np.unique(step.values)
        if len(alike) == 1 and abs(int(alike[0])) <= LARGEST_NUMBER:
            return replace(made, number=int(alike[0]))
        return replace(made, vector=self.places.vector(f"{name}.{step.function}", step.values, channels))

    def _write(self, work: Work) -> None:
        """Chooses tiles and writes the layer."""
        alike = work.alike()
        if alike not in self.known:
            self.known[alike] = choose_tiles(self.isa, work, self.effort)
        self.codelets.append(LayerBuilder(self.isa, work, self.known[alike]).build())
