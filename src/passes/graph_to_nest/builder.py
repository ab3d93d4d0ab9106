"""Building one `nest.group`: dims, inputs, kernels; and how a layer's tensors are indexed by the group's dims."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from ...algebra.affine import make_affine, to_affine
from ...algebra.expr import Access, Call, Expr, Num, Statement
from ...dialects import nest
from ...dialects.types import Tensor, shape_of, tensor_type
from ..names import unique_name

Indices = tuple[Expr, ...]


@dataclass(frozen=True)
class Term:
    """A tensor inside of the group and the index of its element at a point of the dims."""

    value: SSAValue
    indices: Indices

    @property
    def type(self) -> Tensor:
        """The tensor's type."""
        return tensor_type(self.value)


@dataclass
class GroupBuilder:
    """Collects dims, inputs and kernels, then makes the operation."""

    name: str
    dims: dict[str, int] = field(default_factory=dict[str, int])
    inputs: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    block: Block = field(default_factory=Block)
    names: list[str] = field(default_factory=list[str])
    terms: list[tuple[SSAValue, Term]] = field(default_factory=list[tuple[SSAValue, Term]])

    def dim(self, name: str, extent: int) -> dict[str, int]:
        """A new dim as the term `{name: 1}` of an index; nothing (index 0) if the extent is 1."""
        if extent == 1:
            return {}
        unique = unique_name(name, self.dims, "")
        self.dims[unique] = extent
        return {unique: 1}

    def read(self, value: SSAValue, name: str) -> SSAValue:
        """A new argument of the body for an outer value."""
        unique = unique_name(name, self.names, "")
        self.names.append(unique)
        self.inputs[unique] = value
        arg = self.block.insert_arg(value.type, len(self.block.args))
        arg.name_hint = unique
        return arg

    def term(self, value: SSAValue, name: str, indices: Sequence[Expr]) -> Term:
        """An outer value, read at `indices`; one input for each way in which it is read."""
        for old, term in self.terms:
            if old is value and term.indices == tuple(indices):
                return term
        term = Term(self.read(value, name), tuple(indices))
        self.terms.append((value, term))
        return term

    def kernel(
        self,
        name: str,
        type_: Tensor,
        target: Sequence[Expr],
        value: Callable[..., Expr],
        terms: Sequence[Term],
        reduce: str = "=",
        into: SSAValue | None = None,
        pad: Mapping[int, int | float] | None = None,
    ) -> Term:
        """Adds `Y[target] reduce value(A[...], B[...], ...)` of `terms`; `pad` by the position of a term.

        Terms of one tensor at one index are one operand.
        """
        operands: dict[str, SSAValue] = {}
        accesses: list[Access] = []
        pads: dict[str, int | float] = {}
        seen: dict[tuple[SSAValue, Indices], str] = {}
        for i, term in enumerate(terms):
            key = term.value, term.indices
            letter = seen.setdefault(key, self._operand_name(term.value, seen.values()))
            operands[letter] = term.value
            accesses.append(Access(letter, term.indices))
            if pad is not None and i in pad:
                pads[letter] = pad[i]
        statement = Statement(Access("Y", tuple(target)), reduce, value(*accesses))
        unique = unique_name(name, self.names, "")
        self.names.append(unique)
        op = nest.KernelOp(unique, statement, operands, type_, init=into, pad=pads)
        self.block.add_op(op)
        op.result.name_hint = unique
        return Term(op.result, tuple(target))

    @staticmethod
    def _operand_name(value: SSAValue, taken: Collection[str]) -> str:
        names = [value.name_hint] if isinstance(value, BlockArgument) and value.name_hint else []
        return next(name for name in (*names, *"ABCDEFGHIJKLMNO") if name not in taken and name != "Y")

    def finish(self, results: Sequence[SSAValue], layer: str | None) -> nest.GroupOp:
        """The group with these results; `layer` is the original name of the (only) result."""
        self.block.add_op(nest.YieldOp(*results))
        op = nest.GroupOp(self.name, self.dims, self.inputs, [v.type for v in results], Region(self.block))
        if layer is not None and len(results) == 1:
            op.attributes["name"] = StringAttr(layer)
        return op


def index(terms: Mapping[str, int], const: int = 0) -> Expr:
    """The index `const + sum(coefficient * dim)`."""
    return make_affine(const, terms).to_expr()


def scaled(terms: Mapping[str, int], factor: int) -> dict[str, int]:
    """Terms times a factor."""
    return {name: value * factor for name, value in terms.items()}


def fresh_indices(builder: GroupBuilder, shape: Sequence[int], names: str = "nchwxyz") -> Indices:
    """One new dim for each coordinate of a shape."""
    return tuple(index(builder.dim(names[i] if i < len(names) else f"d{i}", extent)) for i, extent in enumerate(shape))


def broadcast(indices: Indices, shape: Sequence[int], operand: SSAValue) -> Indices:
    """How an operand that broadcasts to `shape` is indexed, where the result is indexed by `indices`."""
    extents = shape_of(operand)
    skipped = len(shape) - len(extents)
    return tuple(Num(0) if extent == 1 else indices[skipped + i] for i, extent in enumerate(extents))


def per_axis(indices: Indices, axis: int, operand: SSAValue) -> Indices:
    """The index of a parameter that is a scalar, or has one element per index of `axis`."""
    return () if not shape_of(operand) else (Num(0) if shape_of(operand) == (1,) else indices[axis],)


def out_of_bounds(indices: Indices, shape: Sequence[int], dims: Mapping[str, int]) -> bool:
    """Whether some point of the dims is indexed outside of a shape."""
    ranges = [to_affine(index).range(dims) for index in indices]
    return any(low < 0 or high >= size for (low, high), size in zip(ranges, shape, strict=True))


def call(function: str) -> Callable[..., Expr]:
    """The value `function(operands...)`."""
    return lambda *args: Call(function, args)


def with_numbers(function: str, *numbers: float) -> Callable[..., Expr]:
    """The value `function(operand, numbers...)`."""
    return lambda *args: Call(function, (*args, *(Num(number) for number in numbers)))


def copy(a: Expr) -> Expr:
    """The value that is the operand itself."""
    return a


def quantized(zero: int, low: int, high: int) -> Callable[..., Expr]:
    """The value `clip(rint(operand / scale) + zero, low, high)` of an operand and a scale."""

    def value(x: Expr, scale: Expr) -> Expr:
        rounded = Call("rint", (Call("div", (x, scale)),))
        return Call("clip", (Call("add", (rounded, Num(zero))), Num(low), Num(high)))

    return value
