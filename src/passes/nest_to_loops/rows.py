"""Elementwise kernels, and sums and maxima over lanes, as operations on rows of a tile."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Ints
from ...algebra.expr import Access, Call, Expr, Num, print_expr
from ...dialects import nest
from ...dialects.types import dtype_of, element_of
from .forms import unsupported
from .places import Operation
from .terms import FUNCTIONS, LIMIT, Term, constant, interval, whole

PRODUCT, SHIFT = "A * B // pow(2, SHIFT)", "A // pow(2, B)"
FOLDS = {"max=": "max(A, B)", "min=": "min(A, B)", "+=": "A + B"}
SATURATED = (-128, 127)


@dataclass
class RowBuilder:
    """Takes kernels one after another.

    `leaf` says what an access of a kernel is that no kernel before made.  `width` elements lie over lanes, in blocks of
    `lanes`.
    """

    leaf: Callable[[nest.KernelOp, Access], Term]
    width: int
    lanes: int
    operations: list[Operation] = field(default_factory=list[Operation])
    vectors: list[Ints] = field(default_factory=list[Ints])
    terms: dict[SSAValue, Term] = field(default_factory=dict[SSAValue, Term])
    spreads: dict[str, Term] = field(default_factory=dict[str, Term])
    shared: set[str] = field(default_factory=set[str])  # names that more than one kernel reads

    def take(self, kernel: nest.KernelOp) -> Term:
        """Appends the operations of `Y = value`, or of a sum or maximum over lanes."""
        statement = kernel.statement.data
        if statement.reduce == "=":
            term = self._stored(kernel, self._expr(kernel, statement.value))
        else:
            term = self._fold(kernel, self._expr(kernel, statement.value), statement.reduce)
        self.terms[kernel.result] = term
        return term

    def rows(self, term: Term) -> Term:
        """A term as rows of a tile: a column is spread, a constant copied."""
        if term.kind == "column":
            if str(term.name) not in self.spreads:
                self.spreads[str(term.name)] = self._add("", term, None, 0, "spread", term.low, term.high)
            return self.spreads[str(term.name)]
        if term.kind == "rows":
            return term
        return self._add("A", term, None, 0, "rows", term.low, term.high)

    def add(self, a: Term, b: Term) -> Term:
        """The sum of two terms, wrapped to 32 bits."""
        low, high = interval("add", a, b)
        found = self._operation("A + B", a, b, low, high)
        low, high = whole(32)
        return replace(found, low=low, high=high, wrapped=False) if found.wrapped else found

    def _stored(self, kernel: nest.KernelOp, term: Term) -> Term:
        """A value as a tensor of its type holds it: 32 bits wrap as registers do, less is cut off."""
        bits = 8 * dtype_of(element_of(kernel.result)).itemsize
        if bits < 32 and (term.wrapped or (term.low < -1 << (bits - 1)).any() or (term.high >= 1 << (bits - 1)).any()):
            term = self._operation("A * pow(2, B)", term, constant(32 - bits), *whole(32))
            return self._operation(SHIFT, term, constant(32 - bits), *whole(bits))
        low, high = whole(32)
        return replace(term, low=low, high=high, wrapped=False) if term.wrapped else term

    def _fold(self, kernel: nest.KernelOp, term: Term, reduce: str) -> Term:
        """A column of the lanes of rows; lanes beyond the last element count as nothing."""
        if reduce not in FOLDS:
            raise unsupported(kernel, "sums, maxima or minima over lanes", f"`{reduce}`")
        self._check(kernel, term)
        term, count = self.rows(term), self.width
        if self.width % self.lanes:
            used = np.arange(-(-self.width // self.lanes) * self.lanes) < self.width
            if reduce == "+=":
                term = self._operation(PRODUCT, term, self.vector(used.astype(np.int64)), term.low, term.high)
            else:
                fill = (LIMIT - 1) * np.where(used, 1, -1) if reduce == "max=" else -LIMIT * np.where(used, 1, 0)
                fill = fill if reduce == "max=" else np.where(used, -LIMIT, LIMIT - 1)
                keep = "min(A, B)" if reduce == "max=" else "max(A, B)"
                term = self._operation(keep, term, self.vector(fill), term.low, term.high)
        low, high = term.low.min(keepdims=True), term.high.max(keepdims=True)
        if reduce == "+=":
            low, high = np.minimum(low * count, low), np.maximum(high * count, high)
        found = self._add(FOLDS[reduce], term, None, 0, "fold", low, high)
        wrapped = bool((low < -LIMIT).any() or (high >= LIMIT).any())
        return replace(found, low=whole(32)[0], high=whole(32)[1]) if wrapped else found

    def vector(self, values: Ints) -> Term:
        """A constant per column as an operand; a number where all are alike."""
        if (values == values.flat[0]).all():
            return constant(int(values.flat[0]))
        self.vectors.append(values)
        return Term(f"vector{len(self.vectors) - 1}", values, values, "vector")

    def _expr(self, kernel: nest.KernelOp, expr: Expr) -> Term:
        match expr:
            case Num(value) if value == int(value):
                return constant(int(value))
            case Access():
                made = self.terms.get(kernel.operands_by_name[expr.tensor])
                return self.leaf(kernel, expr) if made is None else made
            case Call("clip", (inner, Num(low), Num(high))):
                return self._clip(kernel, inner, int(low), int(high))
            case Call("rshift_round", _):
                return self._requantize(kernel, expr, 0)
            case Call("floordiv", (inner, Num(value))) if value > 0 and int(value).bit_count() == 1:
                return self._halved(kernel, inner, int(value).bit_length() - 1)
            case Call("rshift", (inner, Num(value))) if 0 <= value <= 31:
                return self._halved(kernel, inner, int(value))
            case Call("rshift", (inner, amount)):
                return self._shift(kernel, self._expr(kernel, inner), self._expr(kernel, amount))
            case Call("neg", (inner,)):
                return self._call(kernel, "sub", (Num(0), inner))
            case Call(fn, args) if fn in FUNCTIONS and len(args) == FUNCTIONS[fn][1]:
                return self._call(kernel, fn, args)
            case _:
                raise unsupported(kernel, "integer operations on rows", print_expr(expr))

    def _clip(self, kernel: nest.KernelOp, inner: Expr, low: int, high: int) -> Term:
        match inner:
            case Call("add", (Call("rshift_round", _) as shifted, Num(zero))):
                term = self._requantize(kernel, shifted, int(zero))
            case Call("sub", (Call("rshift_round", _) as shifted, Num(zero))):
                term = self._requantize(kernel, shifted, -int(zero))
            case _:
                term = self._expr(kernel, inner)
                self._check(kernel, term)
        bounds = np.clip(term.low, low, high), np.clip(term.high, low, high)
        if (low, high) == SATURATED:
            return self._operation("sat_i8(A)", term, None, *bounds)
        if (term.low < low).any():
            term = self._operation("max(A, B)", term, constant(low), np.maximum(term.low, low), term.high)
        if (term.high > high).any():
            term = self._operation("min(A, B)", term, constant(high), *bounds)
        return term

    def _call(self, kernel: nest.KernelOp, fn: str, args: tuple[Expr, ...]) -> Term:
        text, _, exact = FUNCTIONS[fn]
        terms = [self._expr(kernel, arg) for arg in args]
        if exact:
            for term in terms:
                self._check(kernel, term)
        first, second = terms[0], terms[1] if len(terms) > 1 else None
        if fn == "div" and isinstance(second, Term) and second.power is not None and (first.low >= 0).all():
            return self._shift(kernel, first, constant(second.power))
        low, high = interval(fn, *terms)
        return self._operation(text, first, second, low, high)

    def _halved(self, kernel: nest.KernelOp, inner: Expr, amount: int) -> Term:
        """`inner // 2^amount`; a product that nothing else reads loses its bits at once."""
        term = self._expr(kernel, inner)
        last = self.operations[-1] if self.operations else None
        alone = not isinstance(inner, Access) or kernel.operands_by_name[inner.tensor].has_one_use()
        alone = alone and str(term.name) not in self.shared
        if last is None or not alone or (last.target, last.text, last.shift) != (term.name, PRODUCT, 0):
            return self._shift(kernel, term, constant(amount))
        self._check(kernel, term)
        whole_product = (term.low > -LIMIT).all() and (term.high < LIMIT - 1).all()
        if not whole_product or amount > 31:
            return self._shift(kernel, term, constant(amount))
        self.operations[-1] = replace(last, shift=amount)
        return replace(term, low=term.low >> amount, high=term.high >> amount)

    def _shift(self, kernel: nest.KernelOp, term: Term, amount: Term) -> Term:
        self._check(kernel, term)
        if (amount.low < 0).any() or (amount.high > 31).any():
            raise unsupported(kernel, "shifts of 0 to 31 bits", f"{amount.low.min()} to {amount.high.max()}")
        low = np.minimum(term.low >> amount.low, term.low >> amount.high)
        high = np.maximum(term.high >> amount.low, term.high >> amount.high)
        if isinstance(amount.name, int) and not amount.name:
            return term
        return self._operation(SHIFT, term, amount, low, high)

    def _operation(self, text: str, a: Term, b: Term | None, low: Ints, high: Ints, shift: int = 0) -> Term:
        """An operation on rows, or on columns where there are no others."""
        kinds = {term.kind for term in (a, b) if term is not None}
        if kinds <= {"column", "number"} and "column" in kinds:
            return self._add(text, a, b, shift, "column", low, high)
        if ("rows" not in kinds and "column" in kinds) or kinds >= {"rows", "column"}:
            a = self.rows(a) if a.kind == "column" else a
            b = self.rows(b) if b is not None and b.kind == "column" else b
        return self._add(text, a, b, shift, "rows", low, high)

    def _add(self, text: str, a: Term, b: Term | None, shift: int, kind: str, low: Ints, high: Ints) -> Term:
        name = f"v{len(self.operations)}"
        self.operations.append(Operation(name, text, a.name, None if b is None else b.name, shift, kind))
        made = {"fold": "column", "column": "column"}.get(kind, "rows")
        wrapped = bool((low < -LIMIT).any() or (high >= LIMIT).any())
        return Term(name, np.maximum(low, -LIMIT), np.minimum(high, LIMIT - 1), made, wrapped)

    def _check(self, kernel: nest.KernelOp, term: Term) -> None:
        """Sums and products may wrap as the registers do; what compares or shifts needs the values themselves."""
        if term.wrapped:
            raise unsupported(kernel, "values of 32 bits", "more inside one expression")

    def _requantize(self, kernel: nest.KernelOp, expr: Expr, zero: int) -> Term:
        """`rshift_round(A * M, S) + zero`, exactly: the product loses k < S bits, then S - k more with the rounding.

        floor((A M + 2^(S-1)) / 2^S) = floor((floor(A M / 2^k) + 2^(S-1-k)) / 2^(S-k)), as 2^k divides 2^(S-1).
        """
        match expr:
            case Call("rshift_round", (Call("mul", (inner, factor)), amount)):
                term, factors = self._expr(kernel, inner), self._constant(kernel, factor)
            case Call("rshift_round", (inner, amount)):
                term, factors = self._expr(kernel, inner), np.ones(1, np.int64)
            case _:
                raise unsupported(kernel, "a rounding shift", print_expr(expr))
        amounts = self._constant(kernel, amount)
        self._check(kernel, term)
        if (amounts < 1).any() or (amounts > 62).any():
            raise unsupported(kernel, "shifts of 1 to 62 bits", f"{int(amounts.min())} to {int(amounts.max())}")
        shift = int(amounts.min()) - 1
        rest = amounts - shift
        rounding = (np.int64(1) << (rest - 1)) + (np.int64(zero) << rest)
        ends = [(end * factors) >> shift for end in (term.low, term.high)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        worst = np.maximum(np.abs(low), np.abs(high)) + np.abs(rounding) + 1
        if (worst >= LIMIT).any():
            raise unsupported(kernel, "products of 32 bits after the shift", f"up to {int(worst.max())}")
        if shift or (factors != 1).any():
            term = self._operation(PRODUCT, term, self.vector(factors), low, high, shift)
        term = self._operation("A + B", term, self.vector(rounding), low + rounding, high + rounding)
        return self._operation(SHIFT, term, self.vector(rest), (low + rounding) >> rest, (high + rounding) >> rest)

    def _constant(self, kernel: nest.KernelOp, expr: Expr) -> Ints:
        term = self._expr(kernel, expr)
        if term.kind not in ("number", "vector"):
            raise unsupported(kernel, "constant factors and shifts", print_expr(expr))
        if isinstance(term.name, str) and term.name == f"vector{len(self.vectors) - 1}":
            self.vectors.pop()
        return term.low
