"""A mapped kernel run on a machine of memories and multiply-accumulators, step by step, with its words counted.

Each memory steps through the loops of its level and holds a tile of each tensor.  When loops move a tile, the words
that are not there come from the next memory that keeps the tensor, and sums that are not needed leave for it; a word
that several children ask for in a step leaves once.  Units multiply what is in the memories and add to the sums there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....algebra.affine import Affine, index_forms
from ....algebra.element import Array, Ints
from ....algebra.evaluate import padded
from ....algebra.expr import Access, Statement, factors_of, print_statement, reduction_dims, tensors_of
from ....arrays import undefined
from ....costs.exact.axes import axes_of, tile_words
from ....costs.exact.model import ExactPrices, Work, prices_of
from ....costs.exact.nest import nest_of
from ....costs.exact.traffic import Counts, Passing, TensorTraffic, links_per_word
from ....costs.exact.validity import bits_of_word
from ....costs.hierarchy import Architecture, LoopMapping, Problem
from ....errors import TilewrightError
from .engine import run_steps
from .plan import Operand, Plan, make_plan
from .state import NEW, Clock, Counted, State, count_whole_steps, make_state


@dataclass(frozen=True)
class NestKernel:
    """A sum of products with its operands' arrays: `statement` over the dims of a problem.

    A read outside an array gives `pads[tensor]`.  The output has `shape` and elements of type `dtype`.
    """

    statement: Statement
    arrays: Mapping[str, Array]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pads: Mapping[str, int | float]

    def operands(self, problem: Problem) -> tuple[tuple[Operand, ...], tuple[Array, ...]]:
        """The operands in the order of the problem's tensors, the output last, and the arrays of the inputs.

        `TilewrightError` (kind `unsupported`) for what is no sum of products.
        """
        factors = [access for access in factors_of(self.statement.value) if isinstance(access, Access)]
        if not factors or not (self.statement.reduce == "+=" or self._is_product()):
            expected = "a sum of products of tensors, which multiply-accumulators compute"
            lever = "compile it for a target with instructions"
            raise TilewrightError("unsupported", problem.name, expected, print_statement(self.statement), lever)
        extents = dict(zip(problem.dims, problem.bounds, strict=True))
        target, *names = tensors_of(self.statement)
        found: list[Operand] = []
        arrays: list[Array] = []
        for name in names:
            uses = [access for access in factors if access.tensor == name]
            forms = index_forms(uses[0])
            array, constants = self._reached(uses[0], forms, extents)
            found.append(Operand(name, array.shape, constants, _coefficients(forms, problem), len(uses)))
            arrays.append(array)
        assert isinstance(self.statement.target, Access)
        forms = index_forms(self.statement.target)
        found.append(Operand(target, self.shape, tuple(form.const for form in forms), _coefficients(forms, problem)))
        return tuple(found), tuple(arrays)

    def _is_product(self) -> bool:
        return self.statement.reduce == "=" and not reduction_dims(self.statement)

    def _reached(
        self, access: Access, forms: tuple[Affine, ...], extents: Mapping[str, int]
    ) -> tuple[Array, tuple[int, ...]]:
        """The array with what is read around it, and the constant of each index in it."""
        array, ranges = self.arrays[access.tensor], [form.range(extents) for form in forms]
        constants = tuple(form.const for form in forms)
        if all(low >= 0 and high < size for (low, high), size in zip(ranges, array.shape, strict=True)):
            return array, constants
        box = padded(access, array, ranges, self.pads.get(access.tensor, 0))
        return box, tuple(const - low for const, (low, _) in zip(constants, ranges, strict=True))


def _coefficients(forms: tuple[Affine, ...], problem: Problem) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(form.coefficient(dim) for dim in problem.dims) for form in forms)


CHUNK = 1 << 22
"""Points between two reports of progress."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class NestRun:
    """The output of a run, and what was counted: words, and what they and the steps take and cost.

    `peak_bytes` are those of the largest tiles in an instance of each memory.
    """

    output: Array = field(repr=False)
    prices: ExactPrices
    peak_bytes: dict[str, int]


def simulate_nest(
    arch: Architecture, problem: Problem, mapping: LoopMapping, kernel: NestKernel, progress: Progress | None = None
) -> NestRun:
    """Run a mapping that the machine can run.

    `TilewrightError` for a kernel that is no sum of products (kind `unsupported`), and for a run that would take too
    long or too much memory (kind `limit`).
    """
    operands, arrays = kernel.operands(problem)
    nest = nest_of(problem, mapping)
    output = problem.tensors[-1].name
    marked = [
        index + 1
        for index, level in enumerate(arch.levels[:-1])
        if output not in mapping.levels[index].bypass or level.hop_energy_pj or level.network_bandwidth is not None
    ]
    plan = make_plan(problem, mapping, nest, operands, marked)
    dtype = np.float64 if any(a.dtype.kind == "f" for a in (*arrays, np.empty(0, kernel.dtype))) else np.int64
    last = plan.starts[:, -1] - plan.lowest[:, -1]
    state = make_state(plan, np.zeros(int(last[-1] + plan.words[-1, -1]), dtype))
    for start, array in zip(last, arrays, strict=False):
        state.values[start : start + array.size] = array.ravel()
    while not state.clock[Clock.DONE]:
        run_steps(plan, state, CHUNK)
        if progress is not None:
            progress("points", int(state.clock[Clock.POINTS]), problem.macs)
    count_whole_steps(plan, state)
    found = state.values[last[-1] :].astype(kernel.dtype)
    found[state.events[last[-1] :] == NEW] = undefined(kernel.dtype)
    return _counted(arch, problem, mapping, plan, state, found.reshape(kernel.shape))


def _counted(
    arch: Architecture, problem: Problem, mapping: LoopMapping, plan: Plan, state: State, output: Array
) -> NestRun:
    levels = range(1, len(arch.levels) + 1)
    busy = np.all(plan.offsets < plan.bounds, axis=1)
    used = [int(np.count_nonzero(busy[_rows(plan, level)])) for level in levels]
    flows = [_traffic(problem, mapping, plan, state, tensor) for tensor in range(len(problem.tensors))]
    work = Work(int(state.clock[Clock.STEP]), int(state.clock[Clock.POINTS]), used, flows)
    peaks = {
        level.name: -(-sum(f.tiles[k] * bits_of_word(f.tensor, level) for f in flows if f.counts[k] is not None) // 8)
        for k, level in enumerate(arch.levels)
    }
    return NestRun(output, prices_of(arch, problem, mapping, work), peaks)


def _rows(plan: Plan, level: int) -> slice:
    return slice(plan.first[level], plan.first[level + 1] if level + 1 < len(plan.first) else len(plan.offsets))


def _traffic(problem: Problem, mapping: LoopMapping, plan: Plan, state: State, number: int) -> TensorTraffic:
    """What was counted of one tensor, in the form of the cost model."""
    tensor, levels = problem.tensors[number], range(1, plan.parents.shape[1])
    axes = axes_of(tensor, problem.bounds)
    kept = [plan.parents[number, level] >= 0 or level == levels[-1] for level in levels]
    innermost = kept.index(True)
    each = [state.counters[plan.counters[number, k] :][: _rows(plan, k).stop - _rows(plan, k).start] for k in levels]
    sums = [part.sum(axis=0) for part in each]
    out = Counted.OUTWARDS if tensor.is_output else Counted.INWARDS
    return TensorTraffic(
        tensor,
        axes,
        innermost,
        tuple(
            Counts(int(s[Counted.READS]), int(s[Counted.FILLS]), int(s[Counted.UPDATES])) if keep else None
            for s, keep in zip(sums, kept, strict=True)
        ),
        tuple(_owned(plan, state, level) for level in levels) if tensor.is_output else (),
        tuple(tile_words(axes, tuple(int(size) for size in plan.sizes[level])) for level in levels),
        tuple(int(s[out]) for s in sums),
        tuple(int(s[Counted.INWARDS]) if tensor.is_output else 0 for s in sums),
        tuple(links_per_word(axes, mapped) for mapped in mapping.levels),
        tuple(_busiest(part) for part in each),
        _first_words(plan, number, innermost + 1),
    )


def _busiest(each: Ints) -> Passing:
    most = each.max(axis=0)
    writes = (each[:, Counted.FILLS] + each[:, Counted.UPDATES]).max()
    return Passing(*(int(n) for n in (most[Counted.READS], writes, most[Counted.INWARDS], most[Counted.OUTWARDS])))


def _owned(plan: Plan, state: State, level: int) -> int:
    """Sums that instances of a level have ever held."""
    words = int(plan.words[-1, -1])
    if level == plan.parents.shape[1] - 1:
        return int(np.count_nonzero(state.events[-words:]))
    if plan.marks[level] < 0:
        return 0
    rows = _rows(plan, level)
    bits = np.unpackbits(state.marks, bitorder="little")
    return int(bits[plan.marks[level] :][: (rows.stop - rows.start) * words].sum())


def _first_words(plan: Plan, tensor: int, innermost: int) -> tuple[int, ...]:
    """Different words of the first tiles of the innermost level that keeps a tensor, below the first instances."""
    levels = range(1, plan.parents.shape[1])
    if innermost == levels[-1]:
        return (0,) * len(levels)
    rows = _rows(plan, innermost)
    offsets, ancestors = plan.offsets[rows], plan.ancestors[rows]
    sizes = np.minimum(plan.sizes[innermost], plan.bounds - offsets)
    working = (sizes > 0).all(axis=1)
    numbers = plan.size_index[plan.size_at[innermost] + np.maximum(sizes, 0)]
    shapes = plan.shape_at[tensor, innermost] + numbers @ plan.radix[tensor, innermost]
    bases = offsets @ plan.strides[tensor, -1]

    def different(level: int) -> int:
        places = [
            bases[i] + plan.tiles[plan.shapes[shapes[i], 0] :][: plan.shapes[shapes[i], 1], 0]
            for i in np.flatnonzero(working & (ancestors[:, level] == 0))
        ]
        return len(np.unique(np.concatenate(places)))

    return tuple(different(level) if level >= innermost else 0 for level in levels)
