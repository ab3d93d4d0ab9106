"""Which axis of each value of a program lies along lanes, and how much room is around it.

Sums of products of bytes say it of their operands; statements carry it from tensor to tensor, along the dim that their
lanes have.  Statements that nothing reaches choose the last dim that indexes every tensor plainly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Name, dims_of, print_statement, target_dims
from ...errors import TilewrightError
from .forms import SINGLE
from .kernels import Program, Step, is_byte_product
from .roles import Contraction, contraction_of


@dataclass(frozen=True)
class Around:
    """Places before and after a value along each axis, and what is in them."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int


@dataclass
class Placement:
    """Lanes' axis of each value, room around values, and the steps that are sums of products by rows and lanes."""

    lanes: dict[str, int] = field(default_factory=dict[str, int])
    around: dict[str, Around] = field(default_factory=dict[str, Around])
    contractions: dict[int, Contraction] = field(default_factory=dict[int, Contraction])

    def contraction(self, step: Step) -> Contraction | None:
        """The roles of a step that is such a sum."""
        return self.contractions.get(id(step))


def place(program: Program) -> Placement:
    """The placement of a program's values; `TilewrightError` where statements want a value along different lanes."""
    placement = Placement()
    for step in program.steps:
        if is_byte_product(step.statement, program.values):
            _contraction(program, step, placement)
    left = [step for step in program.steps if placement.contraction(step) is None]
    while left:
        known = [step for step in left if lane_dim(program, step, placement)]
        touched = [step for step in left if any(a.tensor in placement.lanes for a, _ in _accesses(program, step))]
        for step in known or touched[:1] or left[:1]:
            dim = lane_dim(program, step, placement)
            _spread(program, step, placement, dim or ("" if step in touched else _chosen(program, step)))
            left.remove(step)
    for alias, source in program.aliases.items():
        _alias(program, alias, source, placement)
    for step in program.steps:
        _room(program, step, placement)
    return placement


def _contraction(program: Program, step: Step, placement: Placement) -> None:
    shapes = {access.tensor: program.values[access.tensor].shape for access in step.read}
    try:
        found = contraction_of(step.statement, step.extents, shapes)
    except TilewrightError:
        return
    axes = [axis for axis, index in enumerate(step.target.indices) if isinstance(index, Name)]
    roles = zip(axes, found.target_order, found.target_shape, strict=True)
    lanes = [(size > 1, axis) for axis, role, size in roles if role == "lane"]
    if sum(wide for wide, _ in lanes) > 1 or not lanes:
        return
    placement.contractions[id(step)] = found
    _set(placement, step, found.target, max(lanes)[1])
    _set(placement, step, found.scalar, found.scalar_strides.index(1))


def _set(placement: Placement, step: Step, name: str, axis: int) -> None:
    if placement.lanes.setdefault(name, axis) != axis:
        found = f"axes {placement.lanes[name]} and {axis}"
        text = print_statement(step.statement)
        raise TilewrightError("unsupported", text, f"one axis of {name} along lanes", found, "transpose it")


def _accesses(program: Program, step: Step) -> Iterator[tuple[Access, tuple[Affine, ...]]]:
    """The accesses of values that are computed or given, the target first, with their indices."""
    for access in (step.target, *step.read):
        if program.values[access.tensor].array is None:
            yield access, index_forms(access)


def lane_dim(program: Program, step: Step, placement: Placement) -> str:
    """The dim that lies along lanes, from a value whose lanes are known; "" if there is none."""
    for access, forms in _accesses(program, step):
        axis = placement.lanes.get(access.tensor)
        if axis is not None and axis != SINGLE and program.values[access.tensor].shape[axis] > 1:
            if len(forms[axis].names) == 1:
                return forms[axis].names[0]
    return ""


def _chosen(program: Program, step: Step) -> str:
    """The last dim that indexes tensors plainly; the target's if there is one.  "" where no dim does."""
    for dims in (target_dims(step.statement), dims_of(step.statement)):
        for dim in reversed(dims):
            indices = [index for _, forms in _accesses(program, step) for index in forms if index.coefficient(dim)]
            if step.extents[dim] > 1 and all(index.terms == ((dim, 1),) for index in indices):
                return dim
    return ""


def _spread(program: Program, step: Step, placement: Placement, dim: str) -> None:
    """Lanes along `dim` for all values of a step; a value without it fills its lanes with one element."""
    for access, forms in _accesses(program, step):
        shape = program.values[access.tensor].shape
        axes = [axis for axis, form in enumerate(forms) if form.terms == ((dim, 1),)]
        if axes:
            _set(placement, step, access.tensor, axes[0])
        elif access.tensor not in placement.lanes:
            single = [axis for axis, size in enumerate(shape) if size == 1]
            placement.lanes[access.tensor] = single[-1] if single else SINGLE
        elif placement.lanes[access.tensor] != SINGLE and shape[placement.lanes[access.tensor]] > 1:
            _set(placement, step, access.tensor, SINGLE)


def _alias(program: Program, alias: str, source: str, placement: Placement) -> None:
    """A reshaped value keeps its bytes where lanes and rows stay what they are."""
    shapes = program.values[alias].shape, program.values[source].shape
    squeezed = [[n for n in shape if n > 1] for shape in shapes]
    if squeezed[0] != squeezed[1]:
        found = f"{shapes[1]} as {shapes[0]}"
        raise TilewrightError("unsupported", source, "another shape with the same axes, but for those of size 1", found)


def _room(program: Program, step: Step, placement: Placement) -> None:
    """Room for what a step reads outside of values."""
    for access in step.read:
        value, axis = program.values[access.tensor], placement.lanes.get(access.tensor)
        if value.array is not None:
            continue
        ranges = [form.range(step.extents) for form in index_forms(access)]
        inside = [i == axis for i in range(len(ranges))]
        before = tuple(0 if lane else max(0, -low) for (low, _), lane in zip(ranges, inside, strict=True))
        after = tuple(
            0 if lane else max(0, high + 1 - size)
            for (_, high), size, lane in zip(ranges, value.shape, inside, strict=True)
        )
        if any(before) or any(after):
            _wider(placement, access.tensor, Around(before, after, step.pads.get(access.tensor, 0)))


def _wider(placement: Placement, name: str, wanted: Around) -> None:
    old = placement.around.get(name, wanted)
    if old.value != wanted.value:
        found = f"{old.value} and {wanted.value}"
        raise TilewrightError("unsupported", name, "one value around a tensor", found, "copy it")
    before, after = (
        tuple(map(max, a, b)) for a, b in ((old.before, wanted.before), (old.after, wanted.after))
    )  # fmt: skip
    placement.around[name] = Around(before, after, wanted.value)
