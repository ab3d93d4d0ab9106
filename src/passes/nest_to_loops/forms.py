"""What a kernel is to a machine of loops: which dims are rows, columns, sums and taps, read off its indices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, accesses, print_statement, sums_pairs
from ...dialects import nest
from ...errors import TilewrightError
from ...search.tiles import Loop

ROWS = ("y", "x")


@dataclass(frozen=True)
class Form:
    """The indices of a tensor of a kernel: affine forms by axis."""

    name: str
    axes: tuple[Affine, ...]

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.axes))}]"

    @property
    def still(self) -> int:
        """The last axis that nothing moves; -1 without one."""
        return max((i for i, axis in enumerate(self.axes) if not axis.terms), default=-1)

    @property
    def dims(self) -> set[str]:
        """Dims that move it."""
        return {name for axis in self.axes for name in axis.names}

    def axis_of(self, dim: str) -> int:
        """The axis that a dim moves, which it does alone and by 1."""
        found = [i for i, axis in enumerate(self.axes) if axis.terms == ((dim, 1),)]
        return found[0] if len(found) == 1 else -1


@dataclass(frozen=True)
class SumForm:
    """A sum of products: names of dims by what they are, and the loops over rows with their taps.

    `columns` are dims of the weights and the result, the last of them over lanes; `summed` runs over lanes of the
    input; `rows` and `taps` have an entry for y and x where there is one.
    """

    input: Form
    weight: Form
    output: Form
    columns: tuple[str, ...]
    summed: str
    batch: tuple[str, ...]
    rows: Mapping[str, str]
    taps: Mapping[str, str]
    loops: Mapping[str, Loop]

    def column_axis(self, form: Form) -> int:
        """The axis of a tensor that lies over columns; one that nothing moves where there is a single column."""
        return form.axis_of(self.columns[-1]) if self.columns else form.still

    def width(self, extents: Mapping[str, int]) -> int:
        """Columns that lie over lanes."""
        return extents[self.columns[-1]] if self.columns else 1


def form_of(access: Access) -> Form:
    """The affine indices of an access."""
    return Form(access.tensor, tuple(index_forms(access)))


def forms(kernel: nest.KernelOp) -> list[Form]:
    """The accesses of a kernel's statement, the target's first."""
    found = accesses(kernel.statement.data)
    return [form_of(access) for access in found if isinstance(access, Access)]


def unsupported(kernel: nest.KernelOp, expected: str, found: str, lever: str = "") -> TilewrightError:
    """An error about a kernel."""
    return TilewrightError("unsupported", f"kernel @{kernel.sym_name.data}", expected, found, lever)


def sum_form(kernel: nest.KernelOp, extents: Mapping[str, int]) -> SumForm:
    """The parts of `Y += X * W`; `TilewrightError` where it is no sum of products that an array takes."""
    statement = kernel.statement.data
    output, *factors = forms(kernel)
    if not sums_pairs(statement):
        raise unsupported(kernel, "a sum of products of two tensors", print_statement(statement))
    first, second = factors
    compound = [any(len(axis.terms) > 1 for axis in factor.axes) for factor in factors]
    given, weight = (second, first) if compound[1] and not compound[0] else (first, second)
    inside, outside = given.dims & weight.dims - output.dims, given.dims & weight.dims & output.dims
    columns = [dim for axis in output.axes for dim in axis.names if dim in weight.dims - given.dims]
    rows = [dim for axis in output.axes for dim in axis.names if dim in given.dims - weight.dims]
    taps, paired = _taps(kernel, given, inside, rows, extents)
    sums = [axis.names[0] for axis in given.axes if axis.terms and axis.names[0] in inside and len(axis.terms) == 1]
    sums = [dim for dim in sums if dim not in taps.values()]
    if len(sums) != 1 or (not columns and (output.still < 0 or weight.still < 0)):
        raise unsupported(kernel, "a dim that is summed over lanes, and columns", f"{len(sums)} and {len(columns)}")
    batch = [dim for axis in output.axes for dim in axis.names if dim in outside]
    named = _assign(rows, paired, taps)
    batch += [dim for dim in rows if dim not in named.values()]
    loops = {slot: _loop(kernel, given, named.get(slot), taps.get(slot), extents) for slot in ROWS}
    return SumForm(given, weight, output, tuple(columns), sums[0], tuple(batch), named, taps, loops)


def _taps(
    kernel: nest.KernelOp, given: Form, inside: set[str], rows: Sequence[str], extents: Mapping[str, int]
) -> tuple[dict[str, str], dict[str, str]]:
    """Taps by slot, and the rows that share an axis with them: summed dims that move along rows, or that are left."""
    paired: dict[str, str] = {}
    taps: dict[str, str] = {}
    alone: list[str] = []
    for axis in given.axes:
        summed = [dim for dim in axis.names if dim in inside]
        moved = [dim for dim in axis.names if dim in rows]
        if len(summed) > 1 or (summed and axis.coefficient(summed[0]) != 1):
            raise unsupported(kernel, "taps next to each other", f"{axis}")
        if summed and moved:
            slot = ROWS[len(taps)] if len(taps) < 2 else ""
            if not slot:
                raise unsupported(kernel, "taps along two axes", "more")
            taps[slot], paired[slot] = summed[0], moved[0]
        elif summed:
            alone.append(summed[0])
    for dim in alone[1:]:  # the first is what lanes are summed over
        free = [slot for slot in ROWS if slot not in taps]
        if not free:
            raise unsupported(kernel, "taps along two axes", "more")
        taps[free[0]] = dim
    return taps, paired


def _assign(rows: Sequence[str], paired: Mapping[str, str], taps: Mapping[str, str]) -> dict[str, str]:
    """The rows by slot: those with taps, then the innermost others along x first, where no taps have none."""
    named = dict(paired)
    for dim in reversed([dim for dim in rows if dim not in paired.values()]):
        free = [slot for slot in reversed(ROWS) if slot not in named and slot not in taps]
        if free:
            named[free[0]] = dim
    return named


def _loop(kernel: nest.KernelOp, given: Form, row: str | None, tap: str | None, extents: Mapping[str, int]) -> Loop:
    taps = extents[tap] if tap is not None else 1
    if row is None:
        return Loop(1, 1, taps)
    stride = next(axis.coefficient(row) for axis in given.axes if row in axis.names)
    if stride < 1:
        raise unsupported(kernel, "rows in increasing order", f"a step of {stride}")
    paired = tap is not None and any({row, tap} <= set(axis.names) for axis in given.axes)
    if tap is not None and not paired:
        raise unsupported(kernel, "taps along rows", f"{row} and {tap} apart")
    return Loop(extents[row], stride, taps)


@dataclass(frozen=True)
class Reach:
    """How far reads of a tensor go past its ends, per axis, and what they give there."""

    pads: tuple[tuple[int, int], ...]
    fill: int | None


def reach(kernel: nest.KernelOp, form: Form, shape: Sequence[int], extents: Mapping[str, int]) -> Reach:
    """The padding that a kernel needs of a tensor; `TilewrightError` where it is no integer."""
    fill = kernel.pads.get(form.name)
    pads: list[tuple[int, int]] = []
    for axis, size in zip(form.axes, shape, strict=True):
        low, high = axis.range(extents)
        pads.append((max(0, -low), max(0, high - size + 1)))
    if fill is None or not any(map(any, pads)):
        return Reach(tuple(pads), None)
    if not float(fill).is_integer():
        raise unsupported(kernel, "integers around tensors", f"{fill}; quantise the network")
    return Reach(tuple(pads), int(fill))
