"""The kernel of a plan: tiles are staged, points summed in registers, and results written."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import Float16Type, Float32Type, IntegerType, MemRefType, f16, f32, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...algebra.element import ELEMENT_TYPES
from ...dialects.types import element_type
from .emit import Emitter, Term
from .plan import REGISTERS, SHARED, WIDEST_BYTES, Operand, Plan, Row, RunLoop


def neighbours(plan: Plan, x: Operand) -> int:
    """How many neighbouring elements of a tile a thread copies at once: 1, or what makes 4, 8 or 16 bytes.

    They are neighbours in global memory and in the tile, begin at a multiple of their number in both, and are all
    within the tensor or all outside, where zeros are read.
    """
    if not x.rows or x.pad:
        return 1
    row, last = x.rows[-1], len(x.shape) - 1
    if row.axis != last or row.scale != 1 or any(other.axis == last for other in x.rows[:-1]):
        return 1
    if plan.tile_order(x)[-1] != len(x.rows) - 1:
        return 1
    steps = [c * loop.stride for loop in (*plan.serial, *plan.grid) for dim, c in row.terms if dim == loop.dim]
    bounds = [plan.bounds[dim] for dim, _ in row.terms if dim in plan.ragged]
    multiples = *steps, *bounds, x.constants[last], row.low(plan.shared_tile), x.shape[last]
    lines = row.extent(plan.shared_tile), plan.tile_shape(x)[-1]
    size = ELEMENT_TYPES[x.element].itemsize
    widths = (width // size for width in (WIDEST_BYTES, 8, 4) if width > size)
    return next((n for n in widths if not any(number % n for number in (*multiples, *lines))), 1)


UNROLLED_COPIES = 16
"""Copies of a thread one after another that are unrolled, so that all reads are on their way before the first write."""

Values = Mapping[str, list[Term]]
"""By dim: the loop variables that make up its index, with their strides."""


def element_of(name: str) -> Attribute:
    """The element type of an array in a kernel: integers have no sign there, operations have."""
    kind = element_type(name)
    return IntegerType(kind.width.data) if isinstance(kind, IntegerType) else kind


class Kernel:
    """The function that a block of threads runs, `function`; its arguments are the inputs and the output, in global
    memory."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan = plan
        operands = (*plan.inputs, plan.output)
        kinds = [MemRefType(element_of(x.element), x.shape) for x in operands]
        block = Block(arg_types=kinds)
        self.emit = Emitter(block)
        self.globals = dict(zip((x.name for x in operands), block.args, strict=True))
        for x, arg in zip(operands, block.args, strict=True):
            arg.name_hint = x.name
        self.sums: Attribute = f32 if isinstance(element_of(plan.output.element), Float16Type | Float32Type) else i32
        self.tiles: dict[str, SSAValue] = {}
        self.fragments: dict[str, SSAValue] = {}
        self.outer: dict[str, list[Term]] = {dim: [] for dim in plan.bounds}
        self.local: dict[str, list[Term]] = {dim: [] for dim in plan.bounds}
        self.indices: list[SSAValue] = []
        self._begin()
        self._level(0)
        self.emit.add(gpu.ReturnOp([]))
        sizes = [plan.block_size, 1, 1], [plan.blocks, 1, 1]
        self.function = gpu.FuncOp(name, (kinds, []), Region(block), True, *sizes)

    def _begin(self) -> None:
        """Where this thread is, and room for tiles."""
        plan, emit = self.plan, self.emit
        x = gpu.DimensionAttr(gpu.DimensionEnum.X)
        if plan.blocks > 1:
            self._place(emit.value(gpu.BlockIdOp(x)), plan.grid, self.outer)
        self.thread = emit.value(gpu.ThreadIdOp(x)) if plan.block_size > 1 else emit.number(0)
        self._place_thread()
        self._make_room()

    def _place_thread(self) -> None:
        """What a thread works on."""
        if self.plan.block_size > 1:
            self._place(self.thread, self.plan.threads, self.local)

    def _make_room(self) -> None:
        """Arrays in shared memory and in registers."""
        plan, emit = self.plan, self.emit
        for operand in plan.inputs:
            element = element_of(operand.element)
            if operand.kept[SHARED]:
                shape = plan.tile_shape(operand)
                self.tiles[operand.name] = emit.array(shape, element, shared=True, aligned=plan.alignment)
            if operand.kept[REGISTERS]:
                kind = self.sums if isinstance(element, Float16Type) else element
                self.fragments[operand.name] = emit.array(operand.box(plan.register_tile), kind, shared=False)
        self.totals = emit.array(plan.output.box(plan.register_tile), self.sums, shared=False)

    def _place(self, value: SSAValue, loops: Sequence[RunLoop], into: dict[str, list[Term]]) -> None:
        digits = self.emit.digits(value, [loop.bound for loop in loops])
        for loop, digit in zip(loops, digits, strict=True):
            if loop.bound > 1:
                into[loop.dim].append((digit, loop.stride))

    @property
    def _chain(self) -> tuple[RunLoop, ...]:
        return (*self.plan.serial, *self.plan.inner)

    def _depth(self, operand: Operand, loops: Sequence[RunLoop]) -> int:
        """Behind how many of the loops the operand's tile stays where it is."""
        return max((place + 1 for place, loop in enumerate(loops) if loop.dim in operand.dims), default=0)

    def _level(self, depth: int) -> None:
        """Everything inside the first `depth` loops around a thread's points."""
        plan, chain = self.plan, self._chain
        whole = [x for x in plan.inputs if x.kept[SHARED] and self._depth(x, plan.serial) == depth]
        if whole and depth > 0:
            self.emit.add(gpu.BarrierOp())
        for operand in whole:
            self._fill_tile(operand)
        if whole:
            self.emit.add(gpu.BarrierOp())
        for operand in plan.inputs:
            if operand.kept[REGISTERS] and self._depth(operand, chain) == depth:
                self._fill_fragment(operand)
        last = self._depth(plan.output, chain)
        if last == depth:
            self._clear()
        if depth == len(chain):
            self._points()
        else:
            loop = chain[depth]
            values = self.outer if depth < len(plan.serial) else self.local
            self.emit.loop(loop.bound, lambda i: self._inside(values[loop.dim], (i, loop.stride), depth))
        if last == depth:
            self._write(depth)

    def _inside(self, values: list[Term], term: Term, depth: int) -> None:
        values.append(term)
        self.indices.append(term[0])
        self._level(depth + 1)
        self.indices.pop()
        values.pop()

    def _fill_tile(self, operand: Operand) -> None:
        """All threads of the block together copy a tile to shared memory, neighbours neighbouring elements."""
        emit, plan = self.emit, self.plan
        wide = neighbours(plan, operand)
        box = operand.box(plan.shared_tile)
        vectors = [*box[:-1], box[-1] // wide] if box else []
        size = prod(vectors)

        def copy(number: SSAValue) -> None:
            *digits, last = emit.digits(number, vectors) or [emit.number(0)]
            digits = [*digits, emit.sum([(last, wide)])] if vectors else []
            rows = [
                emit.sum([(digit, 1), *self._terms(row, self.outer)], row.low(plan.shared_tile))
                for row, digit in zip(operand.rows, digits, strict=True)
            ]
            emit.store(self._read(operand, rows, wide), self.tiles[operand.name], self._in_tile(operand, digits))

        whole, rest = divmod(size, plan.block_size)
        if whole:
            turn = [(self.thread, 1)]
            emit.loop(whole, lambda i: copy(emit.sum([*turn, (i, plan.block_size)])), unrolled=whole <= UNROLLED_COPIES)
        if rest:
            last = emit.sum([(self.thread, 1)], whole * plan.block_size)
            emit.when(emit.compare(self.thread, "slt", rest), lambda: copy(last))

    def _in_tile(self, operand: Operand, digits: list[SSAValue]) -> list[SSAValue]:
        """Indices of an element of a tile in shared memory."""
        return [digits[place] for place in self.plan.tile_order(operand)]

    def _terms(self, row: Row, values: Values) -> list[Term]:
        return [(value, c * stride) for dim, c in row.terms for value, stride in values[dim]]

    def _read(self, operand: Operand, rows: Sequence[SSAValue], wide: int = 1) -> SSAValue:
        """The element of global memory at these values of its digits, or a vector of `wide` of them; `pad` outside."""
        emit = self.emit
        conditions = self._in_bounds(operand, rows)
        indices: list[SSAValue] = []
        for axis, (size, constant) in enumerate(zip(operand.shape, operand.constants, strict=True)):
            own = [(row, value) for row, value in zip(operand.rows, rows, strict=True) if row.axis == axis]
            index = emit.sum([(value, row.scale) for row, value in own], constant)
            indices.append(index)
            low, high = self._range([row for row, _ in own], constant)
            conditions += [emit.compare(index, "sge", 0)] if low < 0 else []
            conditions += [emit.compare(index, "slt", size)] if high >= size else []
        array = self.globals[operand.name]
        condition = emit.all(conditions)
        if condition is None:
            return emit.load(array, indices, wide)
        outside = emit.scalar(operand.pad, element_of(operand.element), wide)
        return emit.either(condition, lambda: emit.load(array, indices, wide), outside)

    def _in_bounds(self, operand: Operand, rows: Sequence[SSAValue]) -> list[SSAValue]:
        """That digits which are dims alone are within the bounds, where tiles reach beyond these."""
        found = [(row.alone, value) for row, value in zip(operand.rows, rows, strict=True) if row.alone is not None]
        bounds = self.plan.bounds
        return [self.emit.compare(value, "slt", bounds[dim]) for dim, value in found if dim in self.plan.ragged]

    def _range(self, rows: Sequence[Row], constant: int) -> tuple[int, int]:
        """The least and the largest index of an axis, beyond the bounds of dims that are not checked by themselves."""
        low = high = constant
        for row in rows:
            for dim, c in row.terms:
                last = self.plan.bounds[dim] if row.alone is not None else self.plan.reach[dim]
                low += min(0, row.scale * c * (last - 1))
                high += max(0, row.scale * c * (last - 1))
        return low, high

    def _element(self, operand: Operand, values: Values) -> SSAValue:
        """The operand's element at the point whose local index is `values`, from where its tile lies."""
        emit, plan = self.emit, self.plan
        if not operand.kept[SHARED]:
            both = {dim: [*self.outer[dim], *values[dim]] for dim in plan.bounds}
            return self._read(operand, [emit.sum(self._terms(row, both)) for row in operand.rows])
        digits = [emit.sum(self._terms(row, values), -row.low(plan.shared_tile)) for row in operand.rows]
        return emit.load(self.tiles[operand.name], digits)

    def _fill_fragment(self, operand: Operand) -> None:
        """A thread copies its tile to registers; the digits of a fragment count the values that its points take."""
        emit, plan = self.emit, self.plan
        box = operand.box(plan.register_tile)

        def copy(digits: list[SSAValue]) -> None:
            rows = [
                [(digit, self._spacing(row)), *self._terms(row, self.local)]
                for row, digit in zip(operand.rows, digits, strict=True)
            ]
            emit.store(self._widened(operand, self._at(operand, rows)), self.fragments[operand.name], digits)

        emit.nest(box, copy, unrolled=[True] * len(box))

    def _spacing(self, row: Row) -> int:
        """How far apart the values of a thread's points are."""
        strides = [x.stride for x in self.plan.points if x.dim == row.alone and x.bound > 1]
        return min(strides, default=1)

    def _at(self, operand: Operand, rows: Sequence[list[Term]]) -> SSAValue:
        """The element whose digits are the values of a fragment."""
        emit, plan = self.emit, self.plan
        if operand.kept[SHARED]:
            digits = [
                emit.sum(terms, row.low(plan.register_tile) - row.low(plan.shared_tile))
                for row, terms in zip(operand.rows, rows, strict=True)
            ]
            return emit.load(self.tiles[operand.name], digits)
        values = [
            emit.sum([*terms, *self._terms(row, self.outer)], row.low(plan.register_tile))
            for row, terms in zip(operand.rows, rows, strict=True)
        ]
        return self._read(operand, values)

    def _widened(self, operand: Operand, value: SSAValue) -> SSAValue:
        """A half as the float that it is; other elements as they are."""
        return self.emit.value(arith.ExtFOp(value, f32)) if isinstance(value.type, Float16Type) else value

    def _factor(self, operand: Operand, value: SSAValue) -> SSAValue:
        """An element in the type of sums."""
        if isinstance(value.type, IntegerType) and value.type.width.data < 32:
            op = arith.ExtUIOp if operand.element.startswith("u") else arith.ExtSIOp
            return self.emit.value(op(value, i32))
        return self._widened(operand, value)

    def _clear(self) -> None:
        emit = self.emit
        box = self.plan.output.box(self.plan.register_tile)
        zero = emit.scalar(0, self.sums)
        emit.nest(box, lambda digits: emit.store(zero, self.totals, digits), unrolled=[True] * len(box))

    def _points(self) -> None:
        """Every point of the register tile adds a product to its sum."""
        plan, nowhere = self.plan, dict[str, list[Term]]({dim: [] for dim in self.plan.bounds})
        staged = frozenset(dim for x in plan.inputs if x.kept[REGISTERS] for dim in x.dims) | plan.output.dims
        unrolled = [loop.dim in staged for loop in plan.points]
        self._sum(plan.points, unrolled, lambda at, values: self._add(at, self._moved(nowhere, plan.points, values)))

    def _sum(
        self, loops: Sequence[RunLoop], unrolled: Sequence[bool], add: Callable[[Values, list[SSAValue]], None]
    ) -> None:
        """`add` at each point of loops within the bounds, of local indices and values of the loops."""
        emit, bounds = self.emit, self.plan.bounds

        def point(values: list[SSAValue]) -> None:
            local = self._moved(self.local, loops, values)
            guards = [
                emit.compare(emit.sum([*self.outer[dim], *local[dim]]), "slt", bounds[dim]) for dim in self.plan.guarded
            ]
            emit.when(emit.all(guards), lambda: add(local, values))

        emit.nest([loop.bound for loop in loops], point, unrolled=unrolled)

    def _moved(self, local: Values, loops: Sequence[RunLoop], values: list[SSAValue]) -> dict[str, list[Term]]:
        """Where loops are, beside where others are."""
        found = {dim: list(terms) for dim, terms in local.items()}
        for loop, value in zip(loops, values, strict=True):
            if loop.bound > 1:
                found[loop.dim].append((value, loop.stride))
        return found

    def _add(self, local: Values, own: Values) -> None:
        emit, plan = self.emit, self.plan
        operands = {x.name: x for x in plan.inputs}
        found: dict[str, SSAValue] = {}
        for name, x in operands.items():
            value = (
                emit.load(self.fragments[name], self._digits(x, own)) if x.kept[REGISTERS] else self._element(x, local)
            )
            found[name] = self._factor(x, value)
        place = self._digits(plan.output, own)
        product = emit.multiplied([found[name] for name in plan.factors])
        emit.store(emit.added(emit.load(self.totals, place), product), self.totals, place)

    def _digits(self, operand: Operand, own: Values) -> list[SSAValue]:
        """Where a point's element is in a thread's fragment."""
        tile = self.plan.register_tile
        return [
            self.emit.sum(
                [(value, stride // self._spacing(row)) for value, stride in self._terms(row, own)], -row.low(tile)
            )
            for row in operand.rows
        ]

    def _write(self, depth: int) -> None:
        """Sums go to global memory, added to what is there if they have been there before."""
        emit, output = self.emit, self.plan.output
        visited = self._visited(depth)
        box = output.box(self.plan.register_tile)

        def write(digits: list[SSAValue]) -> None:
            rows = [
                emit.sum([(digit, self._spacing(row)), *self._terms(row, self.local), *self._terms(row, self.outer)])
                for row, digit in zip(output.rows, digits, strict=True)
            ]
            self._put(rows, lambda: emit.load(self.totals, digits), visited)

        emit.nest(box, write, unrolled=[True] * len(box))

    def _visited(self, depth: int) -> SSAValue | None:
        """Whether the sums inside so many loops have been in global memory before; None if they never have."""
        emit = self.emit
        again = [
            emit.compare(index, "sgt", 0)
            for index, loop in zip(self.indices, self._chain[:depth], strict=True)
            if loop.dim not in self.plan.output.dims and loop.bound > 1
        ]
        return emit.any(again)

    def _put(self, rows: Sequence[SSAValue], total: Callable[[], SSAValue], visited: SSAValue | None) -> None:
        """Write a sum to the element whose digits are these; if it has been `visited` before, add what is there."""
        emit, output = self.emit, self.plan.output
        ragged = self._in_bounds(output, rows)
        indices = [
            emit.sum([(v, r.scale) for r, v in zip(output.rows, rows, strict=True) if r.axis == axis], constant)
            for axis, constant in enumerate(output.constants)
        ]
        array = self.globals[output.name]

        def put() -> None:
            value = total()
            if visited is not None:
                zero = emit.scalar(0, self.sums)
                before = emit.either(visited, lambda: self._factor(output, emit.load(array, indices)), zero)
                value = emit.added(before, value)
            emit.store(self._narrowed(output, value), array, indices)

        emit.when(emit.all(ragged), put)

    def _narrowed(self, output: Operand, value: SSAValue) -> SSAValue:
        kind = element_of(output.element)
        if isinstance(kind, Float16Type):
            return self.emit.value(arith.TruncFOp(value, f16))
        if isinstance(kind, IntegerType) and kind.width.data < 32:
            return self.emit.value(arith.TruncIOp(value, kind))
        return value
