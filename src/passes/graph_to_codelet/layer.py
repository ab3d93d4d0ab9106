"""A layer as a codelet: loops over tiles, what is loaded, summed, scaled and stored.

Rows and weights have copies that take turns, so that loads run ahead of the products; what a copy still holds is not
loaded again, and every other tile sums its parts from the last to the first, which begins with those that the tile
before has left.  Slices of sums are stored while others are finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ...algebra.affine import index_forms, window
from ...algebra.expr import dims_of
from ...dialects.codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, TransferOp, entry
from ...dialects.codelet_attributes import SurrogateType
from ...dialects.codelet_rules import parse_access, surrogate
from ...dialects.codelet_walks import ShadowOp, SpanOp
from ...dialects.layer_attributes import set_nodes
from ...dialects.nest_attributes import BindingAttr, StatementAttr, ValuesAttr
from ...dialects.types import si8
from ...machine.model import Memory, Mnemonic
from ...machine.stage_isa import StageIsa
from .along import Along, axes_of
from .scales import shifts_of
from .works import Applied, Tiles, Work, copies, index

LOWEST = -128
"""The smallest byte."""

DIGIT_BITS = 8
"""Of weights larger than a byte."""

WORD_BYTES = 4
"""Of a sum."""

SUMS = "k", "p", "q"
"""The dims of a result's sums in a tile."""

Ops = list[Operation]
Extents = Mapping[str, int]


@dataclass(frozen=True)
class LayerBuilder:
    """Builds the codelet of a layer that is cut into tiles."""

    isa: StageIsa
    work: Work
    tiles: Tiles

    def build(self) -> CodeletOp:
        """The codelet; its arguments are the layer's tensors."""
        work, tiles = self.work, self.tiles
        tensors = dict[SSAValue, str]()
        for number, plane in enumerate(work.sources):
            assert plane.tensor is not None
            tensors.setdefault(plane.tensor, f"X{number}")
        tensors.setdefault(work.weights, "W")
        for number, vector in enumerate(work.vectors):
            tensors.setdefault(vector, f"V{number}")
        assert work.result.tensor is not None
        tensors.setdefault(work.result.tensor, "Y")
        block = entry([value.type for value in tensors], list(tensors.values()))
        steps = {"n": 1, "k": tiles.blocks, "p": tiles.rows, "q": tiles.columns}
        inside = {**self.dims, **{dim: min(step, self.dims[dim]) for dim, step in steps.items()}}
        body = self.tile(dict(zip(tensors, block.args, strict=True)), inside)
        for dim in ("q", "p", "n", "k") if tiles.outer else ("k", "q", "p", "n"):
            body = self.loop(dim, steps[dim], body, self.dims)
        block.add_ops(body)
        made = CodeletOp(work.name, self.dims, list(tensors), Region(block))
        set_nodes(made, work.nodes)
        return made

    @property
    def dims(self) -> dict[str, int]:
        """Samples, blocks, rows and columns of the result, taps, summed blocks, lanes of results and of factors."""
        work, result, taps = self.work, self.work.result, self.work.window
        dims = {"n": result.samples, "k": result.blocks, "p": result.height, "q": result.width}
        dims |= {"r": taps.rows, "s": taps.columns}
        if work.maximum:
            dims |= {axis.over: axis.reach(axis.count) for axis in self.axes}
        elif work.diagonal:
            dims["j"] = work.weight_parts
        else:
            dims |= {f"c{number}": plane.blocks for number, plane in enumerate(work.sources)}
        return {**dims, "m": self.isa.lanes, "e": self.isa.depth}

    @property
    def axes(self) -> tuple[Along, Along]:
        """Rows and columns of a maximum."""
        return axes_of(self.work, self.tiles)

    @property
    def sum(self) -> str:
        """The indices of a sum."""
        return self.work.result.at("k", "p", "q", "m")

    def loop(self, dim: str, step: int, body: Ops, extents: Extents, *, alternating: bool = False) -> Ops:
        """A loop; the body alone where it would run once."""
        return [LoopOp(dim, step, _region(body), alternating=alternating)] if step < extents[dim] else body

    def local(
        self, accesses: Sequence[str], memory: Memory, extents: Extents, buffers: int = 1, *, kept: bool = False
    ) -> LocalOp:
        """A local for the window of accesses."""
        element = i32 if memory == self.isa.sums else si8
        sizes = [axis.size for axis in window([index_forms(parse_access(access)) for access in accesses], extents)]
        made = LocalOp(accesses, SurrogateType.get(sizes, element, memory.name), buffers, kept=kept)
        made.result.name_hint = accesses[0].partition("[")[0].lower()
        return made

    def compute(
        self,
        mnemonic: Mnemonic,
        statement: str,
        values: Sequence[SSAValue],
        walk: Sequence[str],
        name: str = "",
        number: int | None = None,
    ) -> ComputeOp:
        """A capability for each iteration of dims; `name` and `number` are its function and immediate."""
        bound = {"n": "m", "k": "e"} if mnemonic is self.isa.products else {"n": "m"}
        made = StatementAttr.from_text(statement)
        dims = dims_of(made.data)
        walk = [dim for dim in walk if dim in dims]
        properties: dict[str, Attribute | None] = {
            "on": SymbolRefAttr(mnemonic.node, [mnemonic.capability]),
            "statement": made,
            "dims": BindingAttr.of(bound),
            "functions": BindingAttr.of({mnemonic.functions[0][0]: name}) if name else None,
            "immediates": ValuesAttr.of({mnemonic.immediates[0][0]: number}) if number is not None else None,
            "over": ArrayAttr(StringAttr(dim) for dim in walk) if walk else None,
            "keep": UnitAttr() if mnemonic is self.isa.products else None,
        }
        return ComputeOp(operands=[list(values)], properties=properties)

    def clear(self, target: SSAValue, indices: str, walk: Sequence[str]) -> ComputeOp:
        """Sums become 0."""
        return self.compute(self.isa.clear, f"O[{indices}] = 0", [target], walk)

    def apply(self, name: str, target: SSAValue, number: int) -> ComputeOp:
        """A function of sums and a number."""
        statement = f"O[{self.sum}] = {name}(O[{self.sum}], {number})"
        return self.compute(self.isa.immediate, statement, [target], SUMS, name, number)

    def combine(self, name: str, target: SSAValue, other: SSAValue, indices: str) -> ComputeOp:
        """A function of sums and other sums."""
        statement = f"O[{self.sum}] = {name}(O[{self.sum}], A[{indices}])"
        return self.compute(self.isa.vectors, statement, [target, other], SUMS, name)

    def tile(self, tensors: Mapping[SSAValue, SSAValue], extents: Extents) -> Ops:
        """Sums over all parts, then slices are finished and stored."""
        work, tiles = self.work, self.tiles
        name = "O" if work.wide else "Y"
        sums = self.local([f"{name}[{self.sum}]"], self.isa.sums, extents, tiles.turns)
        ops: Ops = [sums, *self.loop("k", tiles.slice_blocks, [self.clear(sums.result, self.sum, SUMS)], extents)]
        vectors = list[SSAValue]()
        for number, vector in enumerate(work.vectors):
            local = self.local([f"V{number}[k, m]"], self.isa.sums, extents, kept=True)
            ops += [local, TransferOp(tensors[vector], local.result)]
            vectors.append(local.result)
        if work.maximum:
            ops += self.largest(tensors, sums.result, extents)
        else:
            ops += self.products(tensors, sums.result, extents)
        inside = {**extents, "k": min(tiles.slice_blocks, extents["k"])}
        assert work.result.tensor is not None
        finish = self.finish(sums, vectors, tensors[work.result.tensor], inside)
        return ops + self.loop("k", tiles.slice_blocks, finish, extents)

    def rows(self, number: int, block: str, extents: Extents) -> LocalOp:
        """What the windows of a tile reach of a source; whole rows of it, as copies have no gaps along them."""
        plane, taps = self.work.sources[number], self.work.window
        row, column = taps.row(taps.top), taps.column(taps.left)
        accesses = [f"X{number}[{plane.at(block, row, column, 'e')}]"]
        if taps.skips(extents["p"], extents["q"])[1] > 1:
            accesses.append(f"X{number}[{plane.at(block, row, taps.column(taps.left - 1), 'e')}]")
        count, kept = copies(self.work, self.tiles).rows, self.work.kept_sources[number]
        return self.local(accesses, self.isa.rows, extents, count, kept=kept)

    def load(self, tensors: Mapping[SSAValue, SSAValue], number: int, local: LocalOp, pad: int) -> TransferOp:
        """Loads what lies in a source, and what lies around it where the windows leave it."""
        tensor = self.work.sources[number].tensor
        assert tensor is not None
        sizes, dims = surrogate(tensor).sizes, self.dims
        forms = [index_forms(parse_access(access.data)) for access in local.accesses]
        reach = [(size, form.range(dims)) for one in forms for size, form in zip(sizes, one, strict=True)]
        leaves = any(low < 0 or high >= size for size, (low, high) in reach)
        return TransferOp(tensors[tensor], local.result, IntegerAttr(pad, si8) if leaves else None)

    def blocks(self, access: str, extents: Extents) -> LocalOp:
        """Weights of a tile."""
        return self.local([access], self.isa.blocks, extents, copies(self.work, self.tiles).weights, kept=True)

    def products(self, tensors: Mapping[SSAValue, SSAValue], sums: SSAValue, extents: Extents) -> Ops:
        """An instruction for each summed block and tap."""
        work = self.work
        if work.diagonal:
            return self.own_products(tensors, sums, extents)
        ops, first = Ops(), 0
        for number, plane in enumerate(work.sources):
            dim, step = f"c{number}", min(self.tiles.parts, plane.blocks)
            inside = {**extents, dim: step}
            block = f"{dim} + {first}" if first else dim
            rows = self.rows(number, dim, inside)
            weights = self.blocks(f"W[k, {block}, r, s, m, e]", inside)
            statement = self.product(number, dim, f"k, {block}")
            walk = [dim, "r", "s", *SUMS]
            body: Ops = [rows, self.load(tensors, number, rows, work.pad)]
            body += [weights, TransferOp(tensors[work.weights], weights.result)]
            body.append(self.compute(self.isa.products, statement, [sums, rows.result, weights.result], walk))
            ops += self.loop(dim, step, body, extents, alternating=True)
            first += plane.blocks
        return ops

    def own_products(self, tensors: Mapping[SSAValue, SSAValue], sums: SSAValue, extents: Extents) -> Ops:
        """Each block of the result is a sum of that block of each source; between digits sums are shifted."""
        work, block = self.work, "0" if self.work.shared else "k"
        sources = [self.rows(number, "k", extents) for number in range(len(work.sources))]
        weights = self.blocks(f"W[{block}, j, r, s, m, e]", extents)
        ops: Ops = []
        for number, rows in enumerate(sources):
            ops += [rows, self.load(tensors, number, rows, work.pad)]
        ops += [weights, TransferOp(tensors[work.weights], weights.result)]
        for part in range(work.weight_parts):
            digit, number = divmod(part, len(sources))
            if digit and not number:
                ops.append(self.apply("shift_right", sums, -DIGIT_BITS))
            statement, values = self.product(number, "k", f"{block}, {part}"), [sums, sources[number].result]
            ops.append(self.compute(self.isa.products, statement, [*values, weights.result], ["r", "s", *SUMS]))
        return ops

    def product(self, number: int, block: str, weight: str) -> str:
        """The statement of products of a block of a source with weights."""
        taps = self.work.window
        place = self.work.sources[number].at(block, taps.row(taps.top), taps.column(taps.left), "e")
        return f"O[{self.sum}] += X[{place}] * W[{weight}, r, s, m, e]"

    def largest(self, tensors: Mapping[SSAValue, SSAValue], sums: SSAValue, extents: Extents) -> Ops:
        """The input becomes sums beside the result's, which take the largest of each tap."""
        work, axes = self.work, self.axes
        inside = {**extents, **{axis.over: axis.reach(extents[axis.dim]) for axis in axes}}
        down, along = (index((axis.over, 1), more=-axis.before * (not axis.whole)) for axis in axes)
        place = work.sources[0].at("k", down, along, "e")
        count, kept = copies(work, self.tiles).rows, work.kept_sources[0]
        rows = self.local([f"X0[{place}]"], self.isa.rows, inside, count, kept=kept)
        one, area, walk = "W[0, 0, 0, 0, m, e]", "n, k, y, x, m", ("k", "y", "x")
        weights, beside = self.blocks(one, inside), self.local([f"A[{area}]"], self.isa.sums, inside)
        statement, values = f"O[{area}] += X[{place}] * {one}", [beside.result, rows.result, weights.result]
        body: Ops = [rows, self.load(tensors, 0, rows, LOWEST)]
        body += [weights, TransferOp(tensors[work.weights], weights.result), beside]
        body += [self.clear(beside.result, area, walk), self.compute(self.isa.products, statement, values, walk)]
        body.append(self.apply("add", sums, LOWEST))
        for row, column in product(*(axis.taps for axis in axes)):
            y, x = (axis.tap(tap) for axis, tap in zip(axes, (row, column), strict=True))
            most: Ops = [self.combine("max", sums, beside.result, f"n, k, {y}, {x}, m")]
            for axis, tap in zip(axes, (row, column), strict=True):
                most = axis.part(tap, most)
            body += most
        for axis in reversed(axes):
            body = body if axis.whole else [SpanOp(axis.over, axis.span, _region(body))]
        return body

    def finish(self, sums: LocalOp, vectors: Sequence[SSAValue], result: SSAValue, extents: Extents) -> Ops:
        """The steps of a slice, and its store."""
        beside = [self.local([f"S[{self.sum}]"], self.isa.sums, extents) for _ in range(self.work.copies)]
        targets, left = [sums.result, *(local.result for local in beside)], list(vectors)
        ops: Ops = [*beside]
        for step in self.work.steps:
            ops += self.step(step, targets, left.pop(0) if step.vector is not None else None)
        return ops + (self.words(sums, result, extents) if self.work.wide else self.store(sums, result))

    def store(self, sums: LocalOp, result: SSAValue) -> Ops:
        """The lowest bytes of sums are stored."""
        narrow = ShadowOp(sums.result, SurrogateType.get(surrogate(sums.result).sizes, si8, self.isa.results.name))
        return [narrow, TransferOp(narrow.result, result)]

    def words(self, sums: LocalOp, result: SSAValue, extents: Extents) -> Ops:
        """All four bytes of sums are stored, one after another from copies of them, between which they are shifted."""
        ops: Ops = []
        for byte in range(WORD_BYTES):
            place = f"{byte}, {self.sum}"
            copy = self.local([f"Y[{place}]"], self.isa.sums, extents)
            statement = f"O[{place}] = add(O[{place}], A[{self.sum}])"
            add = self.compute(self.isa.vectors, statement, [copy.result, sums.result], SUMS, "add")
            ops += [copy, self.clear(copy.result, place, SUMS), add, *self.store(copy, result)]
            if byte + 1 < WORD_BYTES:
                ops.append(self.apply("shift_right", sums.result, DIGIT_BITS))
        return ops

    def step(self, step: Applied, sums: Sequence[SSAValue], vector: SSAValue | None) -> Ops:
        """A step on sums and the copies beside them."""
        target = sums[step.target]
        if step.function == "shift_right" and step.number is not None:
            return [self.apply(step.function, target, distance) for distance in shifts_of(step.number)]
        if step.number is not None:
            return [self.apply(step.function, target, step.number)]
        if vector is not None:
            return [self.combine(step.function, target, vector, "k, m")]
        if step.function == "copy":
            other = self.combine("add", target, sums[step.source], self.sum)
            return [self.clear(target, self.sum, SUMS), other]
        return [self.combine(step.function, target, sums[step.source], self.sum)]


def _region(ops: Ops) -> Region:
    block = entry([], [])
    block.add_ops(ops)
    return Region(block)
