"""The kernel of a plan whose warps multiply fragments of matrices."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ...dialects.warp import ClearOp, LoadOp, MultiplyOp, StoreOp, fragment
from ...machine.threads import SIDE, THREADS
from .emit import Body, Term
from .kernel import Kernel, Values, element_of
from .plan import Operand, RunLoop


class MatrixKernel(Kernel):
    """A kernel in which a warp takes the place of a thread, and a fragment that of an element in registers.

    In tiles in shared memory an axis of whole lines of 16 comes last.  Fragments of sums leave through shared memory,
    from where the warp's threads write the elements that there are.
    """

    def _place_thread(self) -> None:
        warp, self.lane = self.emit.digits(self.thread, [self.plan.block_size // THREADS, THREADS])
        self.warp = warp
        self._place(warp, self.plan.threads, self.local)

    def _make_room(self) -> None:
        plan, emit = self.plan, self.emit
        self.outputs = [loop for loop in plan.points if loop.dim in plan.output.dims]
        for role, (x, _) in plan.sides.items():
            self.tiles[x.name] = emit.array(
                plan.tile_shape(x), element_of(x.element), shared=True, aligned=plan.alignment
            )
            self.fragments[x.name] = self._array(self._own(x), role)
        self.totals = self._array(self.outputs, "sums")
        self.exchange = emit.array([plan.block_size // THREADS, SIDE, SIDE], f32, shared=True, aligned=plan.alignment)

    def _array(self, loops: Sequence[RunLoop], role: str) -> SSAValue:
        return self.emit.array([loop.bound for loop in loops] or [1], fragment(role), shared=False)

    def _own(self, x: Operand) -> list[RunLoop]:
        """The loops whose points are fragments of an operand: those of the output that move it."""
        return [loop for loop in self.outputs if loop.dim in x.dims]

    def _by_columns(self, role: str) -> bool:
        """Whether neighbours in an operand's tile are of one column of a fragment."""
        return self.plan.tile_order(self.plan.sides[role][0])[-1] == self.plan.matrix_axes(role)[0]

    def _clear(self) -> None:
        self._each(self.outputs, lambda place: self.emit.add(ClearOp(self.totals, self._at_point(self.outputs, place))))

    def _points(self) -> None:
        """For each point that is summed, fragments are loaded, and all pairs of them multiplied."""
        loops = [loop for loop in self.plan.points if loop.dim not in self.plan.output.dims]
        self._sum(loops, [False] * len(loops), lambda local, _: self._product(local))

    def _product(self, local: Values) -> None:
        for role in self.plan.sides:
            self._load(role, local)
        factors = [self.plan.sides[role][0] for role in ("left", "right")]

        def multiply(place: list[SSAValue]) -> None:
            a, b = ((self.fragments[x.name], self._at_point(self._own(x), self._picked(x, place))) for x in factors)
            sums = self.totals, self._at_point(self.outputs, place)
            self.emit.add(MultiplyOp(a, b, sums, (self._by_columns("left"), self._by_columns("right"))))

        self._each(self.outputs, multiply)

    def _picked(self, x: Operand, place: list[SSAValue]) -> list[SSAValue]:
        return [value for loop, value in zip(self.outputs, place, strict=True) if loop.dim in x.dims]

    def _load(self, role: str, local: Values) -> None:
        """Fill all fragments of an operand from its tile."""
        (x, dims), axes = self.plan.sides[role], self.plan.matrix_axes(role)
        loops, tile = self._own(x), self.plan.shared_tile
        order, shape = self.plan.tile_order(x), self.plan.tile_shape(x)
        by_columns = self._by_columns(role)
        line = axes[1] if by_columns else axes[0]
        dim = dims[1] if by_columns else dims[0]
        leading = dict(x.rows[line].terms)[dim] * prod(shape[order.index(line) + 1 :])

        def load(place: list[SSAValue]) -> None:
            values = self._moved(local, loops, place)
            digits = [self.emit.sum(self._terms(row, values), -row.low(tile)) for row in x.rows]
            source = self.tiles[x.name], self._in_tile(x, digits)
            target = self.fragments[x.name], self._at_point(loops, place)
            self.emit.add(LoadOp(source, target, leading, by_columns))

        self._each(loops, load)

    def _write(self, depth: int) -> None:
        """Each fragment of sums is handed on to the warp's threads, which write its elements."""
        emit, plan = self.emit, self.plan
        visited = self._visited(depth)
        rows, _, columns = (loop.dim for loop in plan.matrix)
        places = [next(i for i, row in enumerate(plan.output.rows) if row.alone == dim) for dim in (rows, columns)]
        by_columns = places[0] > places[1]
        dims = (columns, rows) if by_columns else (rows, columns)

        def write(place: list[SSAValue]) -> None:
            values = self._moved(self.local, self.outputs, place)
            source = self.totals, self._at_point(self.outputs, place)
            target = self.exchange, [self.warp, emit.number(0), emit.number(0)]
            emit.add(StoreOp(source, target, SIDE, by_columns))
            emit.add(gpu.BarrierOp())

            def element(number: SSAValue) -> None:
                inside = emit.digits(number, [SIDE, SIDE])
                steps: dict[str, list[Term]] = {dim: [(value, 1)] for dim, value in zip(dims, inside, strict=True)}
                found = [
                    emit.sum(
                        [
                            *self._terms(row, values),
                            *self._terms(row, self.outer),
                            *((value, c * s) for dim, c in row.terms for value, s in steps.get(dim, [])),
                        ]
                    )
                    for row in plan.output.rows
                ]
                self._put(found, lambda: emit.load(self.exchange, [self.warp, *inside]), visited)

            emit.loop(SIDE * SIDE, element, first=self.lane, step=THREADS)
            emit.add(gpu.BarrierOp())

        self._each(self.outputs, write)

    def _each(self, loops: Sequence[RunLoop], body: Body) -> None:
        """Unrolled loops over the fragments of an array."""
        self.emit.nest([loop.bound for loop in loops], body, unrolled=[True] * len(loops))

    def _at_point(self, loops: Sequence[RunLoop], place: list[SSAValue]) -> list[SSAValue]:
        return place if loops else [self.emit.number(0)]
