"""The `codelet` dialect as the frozen data of `tree`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Block, SSAValue

from ...dialects.codelet import (
    CodeletOp,
    ComputeOp,
    LocalOp,
    LoopOp,
    ProgramOp,
    RowsOp,
    SurrogateType,
    TensorOp,
    TransferOp,
    ViewOp,
)
from ...dialects.codelet_fused import FillOp, FusedOp, PartOp
from ...dialects.codelet_rules import access_axes, local_axes, shift_of, surrogate
from ...dialects.codelet_schedule import leading, share_of
from ...dialects.codelet_walks import ShadowOp, SpanOp
from ...dialects.layer_attributes import nodes_of
from ...dialects.types import Role, dtype_of, element_type_name
from ...errors import TilewrightError
from .tree import Codelet, Define, Fill, Issue, Loop, Node, Part, Span, Surrogate, TableRows, Transfer


@dataclass(frozen=True)
class Tensors:
    """The tensors of a program: each value's tensor (views resolved), and those that codelets write.

    The tensor of rows of a table is the table; `rows` has them, and views of them.
    """

    roots: Mapping[SSAValue, TensorOp]
    written: frozenset[TensorOp]
    rows: Mapping[SSAValue, RowsOp]

    def constant(self, value: SSAValue) -> bool:
        """Whether nothing writes the tensor of a value."""
        return self.roots[value] not in self.written

    def touched(self, value: SSAValue) -> list[TensorOp]:
        """The tensors that who reads a value touches: of rows the table and the index."""
        found = [self.roots[value]]
        return [*found, self.roots[self.rows[value].index]] if value in self.rows else found

    def given(self, value: SSAValue) -> bool:
        """Whether a value is there from the beginning, and stays."""
        return all(op.role.data != Role.TEMP and op not in self.written for op in self.touched(value))


def read_tensors(program: ProgramOp) -> Tensors:
    """The tensors of a program."""
    roots: dict[SSAValue, TensorOp] = {}
    written: set[TensorOp] = set()
    rows: dict[SSAValue, RowsOp] = {}
    for op in program.body.block.ops:
        if isinstance(op, TensorOp):
            roots[op.result] = op
        elif isinstance(op, ViewOp):
            roots[op.result] = roots[op.source]
            if op.source in rows:
                rows[op.result] = rows[op.source]
        elif isinstance(op, RowsOp):
            roots[op.result], rows[op.result] = roots[op.table], op
    for op in program.codelets:
        values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.tensors, strict=True))
        written |= {roots[values[value]] for value in written_arguments(op) if value in values}
    return Tensors(roots, frozenset(written), rows)


def tensor_lives(program: ProgramOp, tensors: Tensors) -> dict[TensorOp, tuple[int, int]]:
    """First and last moment at which each tensor is in use; a moment is a codelet, or a turn of a fused group.

    In a fused group what has a ring is in use between its first and its last turn of a sample, all else all the time,
    and so is a ring that a codelet without samples and rows touches.
    """
    lives: dict[TensorOp, tuple[int, int]] = {}
    time = 0
    for op in program.body.block.ops:
        if isinstance(op, CodeletOp):
            _extend(lives, [root for value in op.tensors for root in tensors.touched(value)], time, time)
            time += 1
        elif isinstance(op, FusedOp):
            end = time + len(op.turns) - 1
            for number, inner in enumerate(op.codelets):
                assert isinstance(inner, CodeletOp)
                roots = [root for value in inner.tensors for root in tensors.touched(value)]
                _extend(lives, [root for root in roots if root.ring is None], time, end)
                samples = [sample for turn, sample, *_ in op.turns if turn == number]
                turns = [t for t, (turn, sample, *_) in enumerate(op.turns) if turn == number and sample == samples[0]]
                if not (op.samples.data[number].data or op.rows.data[number].data):
                    turns = [0, end - time]
                if turns:
                    _extend(lives, [r for r in roots if r.ring is not None], time + turns[0], time + turns[-1])
            time = end + 1
    return lives


def _extend(lives: dict[TensorOp, tuple[int, int]], roots: Sequence[TensorOp], first: int, last: int) -> None:
    for root in roots:
        before = lives.get(root, (first, last))
        lives[root] = min(before[0], first), max(before[1], last)


def tensor_bytes(op: TensorOp) -> int:
    """Bytes of what is kept of a tensor."""
    type_ = surrogate(op.result)
    return prod(kept_sizes(op)) * dtype_of(type_.element).itemsize


def kept_sizes(op: TensorOp) -> tuple[int, ...]:
    """How much of each axis is kept at a time."""
    sizes = surrogate(op.result).sizes
    ring = (0,) * len(sizes) if op.ring is None else op.ring.get_values()
    return tuple(held or size for held, size in zip(ring, sizes, strict=True))


def written_arguments(op: CodeletOp) -> list[SSAValue]:
    """What transfers and computes of a codelet write, locals included."""
    found: list[SSAValue] = []
    for inner in op.walk():
        if isinstance(inner, TransferOp):
            found.append(inner.destination)
        elif isinstance(inner, FillOp):
            found.append(inner.target)
        elif isinstance(inner, ComputeOp):
            found.append(inner.tensors[0])
    return found


def locals_of(op: CodeletOp, codelet: Codelet) -> dict[int, LocalOp]:
    """The locals of a codelet by their places among its surrogates."""
    places = (place for place, one in enumerate(codelet.surrogates) if one.axes is not None)
    return dict(zip(places, (inner for inner in op.walk() if isinstance(inner, LocalOp)), strict=True))


def read_codelet(op: CodeletOp, tensors: Tensors, *, allocated: bool = True) -> Codelet:
    """A codelet as data.

    Without `allocated`, addresses that are still open are 0 (as many as there are copies); with it they are an error
    (`TilewrightError`, kind `program`).
    """
    return _Reader(op, tensors, allocated).read()


class _Reader:
    def __init__(self, op: CodeletOp, tensors: Tensors, allocated: bool) -> None:
        self.op = op
        self.tensors = tensors
        self.allocated = allocated
        self.surrogates: list[Surrogate] = []
        self.index: dict[SSAValue, int] = {}

    def read(self) -> Codelet:
        for arg, value in zip(self.op.body.block.args, self.op.tensors, strict=True):
            made = self._tensor(value)
            if value in self.tensors.rows:
                self._add_rows(arg, made, self.tensors.rows[value])
                continue
            self._add(arg, replace(made, ring=self._ring(value, self.tensors.roots[value])))
        body = self._body(self.op.body.block)
        return Codelet(self.op.sym_name.data, self.op.dims.data, tuple(self.surrogates), body, nodes_of(self.op))

    def _add_rows(self, arg: SSAValue, made: Surrogate, op: RowsOp) -> None:
        """Rows of a table, and the index, which no value of the codelet stands for, in the shape of the rows."""
        table, count = surrogate(op.table), prod(surrogate(op.index).sizes)
        axes = next((n for n in range(len(made.shape)) if prod(made.shape[:n]) == count), None)
        if axes is None:
            shape = list(made.shape)
            raise TilewrightError("program", made.name, f"a view of {count} rows that keeps them apart", f"{shape}")
        row_bytes = table.sizes[1] * made.element_bytes
        self._add(arg, replace(made, rows=TableRows(len(self.surrogates) + 1, axes, table.sizes[0], row_bytes)))
        shape = (*made.shape[:axes], *(1 for _ in made.shape[axes:]))
        self.surrogates.append(replace(self._tensor(op.index), shape=shape))

    def _tensor(self, value: SSAValue) -> Surrogate:
        """A tensor of the program as it is seen."""
        root = self.tensors.roots[value]
        if root.address is None and self.allocated:
            raise self._open(f"tensor '{root.tensor_name.data}'")
        address = 0 if root.address is None else root.address.value.data
        return _make(root.tensor_name.data, surrogate(value), (address,), constant=self.tensors.constant(value))

    def _ring(self, value: SSAValue, root: TensorOp) -> tuple[int, ...]:
        """The ring of a tensor; a view of one that keeps whole samples keeps as many of them."""
        if root.ring is None:
            return ()
        ring = root.ring.get_values()
        if value is root.result:
            return ring
        sizes = surrogate(root.result).sizes
        if any(held and held < size for held, size in zip(ring[1:], sizes[1:], strict=True)):
            name = root.tensor_name.data
            raise TilewrightError("program", name, "a view of a tensor of which whole samples are kept", "of some rows")
        seen = surrogate(value).sizes
        if ring[0] and seen[:1] != sizes[:1]:
            name, expected = root.tensor_name.data, f"a view with the {sizes[0]} samples of its tensor"
            raise TilewrightError("program", name, expected, f"{seen[0] if seen else 'none'}")
        return (ring[0], *(0 for _ in seen[1:]))

    def _add(self, value: SSAValue, item: Surrogate) -> None:
        self.index[value] = len(self.surrogates)
        self.surrogates.append(item)

    def _body(self, block: Block) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for op in block.ops:
            match op:
                case LoopOp():
                    ahead = 0 if op.ahead is None else len(leading(op))
                    turning = op.alternating is not None
                    nodes.append(Loop(op.dim.data, op.step.value.data, self._body(op.body.block), ahead, turning))
                case LocalOp():
                    nodes.append(self._local(op))
                case TransferOp():
                    axes = None if op.over is None else access_axes(op, [op.over.data])
                    sides = self._at(op.source), self._at(op.destination)
                    nodes.append(Transfer(*sides, None if op.pad is None else op.pad.value.data, axes, shift_of(op)))
                case PartOp():
                    start, stop = op.start.value.data, op.stop.value.data
                    nodes.append(Part(op.dim.data, start, stop, self._body(op.body.block)))
                case SpanOp():
                    nodes.append(Span(op.dim.data, op.form, self._body(op.body.block)))
                case ShadowOp():
                    self.index[op.result] = self._at(op.source)
                case FillOp():
                    nodes.append(Fill(self._at(op.target), op.value.value.data))
                case ComputeOp():
                    nodes.append(self._issue(op))
                case _:
                    raise TypeError(f"{op.name} in a codelet")
        return tuple(nodes)

    def _local(self, op: LocalOp) -> Define:
        if op.slots is None and self.allocated:
            raise self._open(f"local {', '.join(access.data for access in op.accesses)}")
        slots = (0,) * op.buffers.value.data if op.slots is None else op.slots
        name = op.accesses.data[0].data.partition("[")[0]
        self._add(op.result, _make(name, surrogate(op.result), slots, op))
        return Define(self.index[op.result])

    def _issue(self, op: ComputeOp) -> Issue:
        return Issue(
            op.node,
            op.capability,
            op.statement.data,
            tuple(self._at(value) for value in op.tensors),
            op.dims.data,
            op.functions.data if op.functions is not None else (),
            op.immediates.data if op.immediates is not None else (),
            op.spread.data if op.spread is not None else (),
            op.keep is not None,
            op.border_names,
            share_of(op),
            op.walked,
            op.zeros.data if op.zeros is not None else "",
            op.inside,
        )

    def _at(self, value: SSAValue) -> int:
        if value not in self.index:
            subject, name = f"codelet @{self.op.sym_name.data}", value.name_hint or "a local"
            raise TilewrightError("program", subject, f"{name} to be defined before it is used", "its use first")
        return self.index[value]

    def _open(self, what: str) -> TilewrightError:
        return TilewrightError(
            "program",
            f"codelet @{self.op.sym_name.data}",
            f"an address of {what}",
            "none",
            "run codelet-allocate before",
        )


def _make(
    name: str, type: SurrogateType, addresses: Sequence[int], local: LocalOp | None = None, constant: bool = False
) -> Surrogate:
    axes = None if local is None else local_axes(local)
    element = element_type_name(type.element)
    stays = local is not None and local.kept is not None
    return Surrogate(name, type.memory, type.sizes, element, tuple(addresses), axes, constant, stays=stays)
