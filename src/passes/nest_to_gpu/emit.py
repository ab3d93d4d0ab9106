"""Writing the operations of a kernel: index arithmetic, loops, conditions, arrays."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

Term = tuple[SSAValue, int]
"""A value and its coefficient."""

Body = Callable[[list[SSAValue]], object]
"""What is inside of loops, at their values."""

UNROLLED = "unrolled"
"""The attribute of a loop that has to be unrolled, because it indexes registers."""

SHARED_SPACE = IntegerAttr(3, 64)
"""The memory space of arrays that a block shares; a thread's own have none."""


class Emitter:
    """Appends operations to a block; constants go to the beginning of the function, each once."""

    def __init__(self, entry: Block) -> None:
        self._entry, self._block = entry, entry
        self._numbers: dict[int, SSAValue] = {}

    def add(self, op: Operation) -> Operation:
        """Append an operation."""
        Builder(InsertPoint.at_end(self._block)).insert(op)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Append an operation; its result."""
        return self.add(op).results[0]

    def number(self, value: int) -> SSAValue:
        """An index that is a number."""
        if value not in self._numbers:
            op = arith.ConstantOp(IntegerAttr(value, IndexType()))
            first = self._entry.first_op
            if first is None:
                self._entry.add_op(op)
            else:
                self._entry.insert_op_before(op, first)
            self._numbers[value] = op.result
        return self._numbers[value]

    def sum(self, terms: Iterable[Term], constant: int = 0) -> SSAValue:
        """`constant + sum(coefficient * value)`."""
        total: SSAValue | None = None
        for value, coefficient in terms:
            if value is self._numbers.get(0):
                continue
            part = value if coefficient == 1 else self.value(arith.MuliOp(value, self.number(coefficient)))
            total = part if total is None else self.value(arith.AddiOp(total, part))
        if total is None:
            return self.number(constant)
        return self.value(arith.AddiOp(total, self.number(constant))) if constant else total

    def digits(self, value: SSAValue, extents: Sequence[int]) -> list[SSAValue]:
        """The digits of a number, the last one of which changes fastest."""
        found: list[SSAValue] = []
        for place, extent in reversed(list(enumerate(extents))):
            if extent == 1:
                found.append(self.number(0))
                continue
            whole = all(other == 1 for other in extents[:place])
            found.append(value if whole else self.value(arith.RemUIOp(value, self.number(extent))))
            value = value if whole else self.value(arith.DivUIOp(value, self.number(extent)))
        return found[::-1]

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Whether all conditions hold; None if there are none."""
        return reduce(lambda x, y: self.value(arith.AndIOp(x, y)), conditions) if conditions else None

    def any(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Whether one of the conditions holds; None if there are none."""
        return reduce(lambda x, y: self.value(arith.OrIOp(x, y)), conditions) if conditions else None

    def compare(self, left: SSAValue, kind: str, right: int) -> SSAValue:
        """A comparison (`slt`, `sge`, `eq`) of an index with a number."""
        return self.value(arith.CmpiOp(left, self.number(right), kind))

    def inside(self, block: Block, body: Callable[[], SSAValue | None]) -> None:
        """Let `body` append to another block, which yields what it returns."""
        outer, self._block = self._block, block
        result = body()
        self.add(scf.YieldOp(*([] if result is None else [result])))
        self._block = outer

    def loop(
        self,
        bound: int,
        body: Callable[[SSAValue], None],
        *,
        first: SSAValue | None = None,
        step: int = 1,
        unrolled: bool = False,
    ) -> None:
        """`for i = first to bound step step`; no loop is written where there is one iteration from 0."""
        if bound == 1 and first is None:
            body(self.number(0))
            return
        block = Block(arg_types=[IndexType()])
        start = self.number(0) if first is None else first
        op = scf.ForOp(start, self.number(bound), self.number(step), [], block)
        if unrolled:
            op.attributes[UNROLLED] = UnitAttr()
        self.add(op)
        self.inside(block, lambda: body(block.args[0]))

    def nest(self, bounds: Sequence[int], body: Body, *, unrolled: Sequence[bool]) -> None:
        """Loops from 0 to each bound, the first one outermost."""

        def go(values: list[SSAValue]) -> None:
            place = len(values)
            if place == len(bounds):
                body(values)
            else:
                self.loop(bounds[place], lambda i: go([*values, i]), unrolled=unrolled[place])

        go([])

    def when(self, condition: SSAValue | None, body: Callable[[], None]) -> None:
        """`if condition`; always, where there is none."""
        if condition is None:
            body()
            return
        block = Block()
        self.add(scf.IfOp(condition, [], Region(block)))
        self.inside(block, body)

    def either(self, condition: SSAValue | None, value: Callable[[], SSAValue], other: SSAValue) -> SSAValue:
        """`value` where the condition holds, or where there is none, else `other`."""
        if condition is None:
            return value()
        blocks = Block(), Block()
        op = scf.IfOp(condition, [other.type], Region(blocks[0]), Region(blocks[1]))
        self.add(op)
        self.inside(blocks[0], value)
        self.inside(blocks[1], lambda: other)
        return op.results[0]

    def array(self, shape: Sequence[int], element: Attribute, *, shared: bool, aligned: int = 0) -> SSAValue:
        """An array of the block, or of the thread; it begins at a multiple of `aligned` bytes, if that is said."""
        kind = MemRefType(element, shape, memory_space=SHARED_SPACE) if shared else MemRefType(element, shape)
        properties = {"alignment": IntegerAttr(aligned, 64)} if aligned else {}
        return self.value(memref.AllocaOp(operands=[[], []], result_types=[kind], properties=properties))

    def load(self, array: SSAValue, indices: Sequence[SSAValue], wide: int = 1) -> SSAValue:
        """An element of an array, or a vector of `wide` neighbours."""
        if wide == 1:
            return self.value(memref.LoadOp.get(array, indices))
        assert isinstance(array.type, MemRefType)
        return self.value(vector.LoadOp(array, indices, VectorType(array.type.element_type, [wide])))

    def store(self, value: SSAValue, array: SSAValue, indices: Sequence[SSAValue]) -> None:
        """Write an element of an array, or a vector."""
        if isinstance(value.type, VectorType):
            self.add(vector.StoreOp(value, array, indices))
        else:
            self.add(memref.StoreOp.get(value, array, indices))

    def scalar(self, value: float, kind: Attribute, wide: int = 1) -> SSAValue:
        """A number of an element type, or a vector of `wide` equal ones."""
        if isinstance(kind, IntegerType):
            number = IntegerAttr(int(value), kind)
            several = DenseIntOrFPElementsAttr.from_list(VectorType(kind, [wide]), [int(value)])
        else:
            assert isinstance(kind, Float16Type | Float32Type)
            number = FloatAttr(float(value), kind)
            several = DenseIntOrFPElementsAttr.from_list(VectorType(kind, [wide]), [float(value)])
        return self.value(arith.ConstantOp(number if wide == 1 else several))

    def multiplied(self, values: Sequence[SSAValue]) -> SSAValue:
        """The product of values of one type."""
        total = values[0]
        for value in values[1:]:
            op = arith.MulfOp if isinstance(total.type, Float32Type) else arith.MuliOp
            total = self.value(op(total, value))
        return total

    def added(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """The sum of two values of one type."""
        op = arith.AddfOp if isinstance(left.type, Float32Type) else arith.AddiOp
        return self.value(op(left, right))
