"""Plans: instructions prepared for execution, one for all instructions that differ in addresses only."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...algebra.byte_regions import MAX_MEETING_BYTES, Region, make_region
from ...algebra.expr import Access, Call, Statement, Strided, accesses_of
from ...algebra.kernel import Kernel, make_kernel
from ...algebra.layout import Layout, Operand, injective_axes, make_layout
from ...algebra.lookup import Lookup, lookup_of
from ...errors import TilewrightError
from ...machine import Link, Machine, Mnemonic
from .binding import Binder, Bound, Fields, IllegalFieldsError

Copy = Callable[[Any, int, Any, int], None]
Step = tuple[int, int, int]  # count, target stride, source stride


def make_copy(
    statement: Statement, functions: Mapping[str, str], extents: Mapping[str, int], operands: Sequence[Operand]
) -> Copy | None:
    """`copy(target buffer, offset, source buffer, offset)`; None for statements that are no plain copy."""
    if not _is_copy(statement, functions) or operands[0].dtype != operands[1].dtype:
        return None
    dims = [dim for dim, count in extents.items() if count > 1]
    target, source = (make_layout(operand, dims, extents) for operand in operands)
    shape = [extents[dim] for dim in dims]
    if len(injective_axes(target, shape)) < len(dims):
        return None
    itemsize = operands[0].dtype.itemsize
    run, steps = _collapse(itemsize, _steps(shape, target, source))
    if not steps:
        return _copy_run(run)
    word = gcd(8, run, *(stride for _, *strides in steps for stride in strides))
    steps.append((run // word, word, word))
    counts = tuple(count for count, _, _ in steps)
    return _copy_words(
        Layout(np.dtype(f"u{word}"), counts, tuple(to for _, to, _ in steps)),
        Layout(np.dtype(f"u{word}"), counts, tuple(from_ for _, _, from_ in steps)),
    )


def _is_copy(statement: Statement, functions: Mapping[str, str]) -> bool:
    value = statement.value
    if isinstance(value, Call) and len(value.args) == 1 and functions.get(value.fn, value.fn) == "identity":
        value = value.args[0]
    return statement.reduce == "=" and isinstance(value, Access | Strided)


def _steps(shape: Sequence[int], target: Layout, source: Layout) -> list[Step]:
    """The loops of the copy, innermost (smallest target stride) first."""
    steps = zip(shape, target.strides, source.strides, strict=True)
    return sorted(steps, key=lambda step: abs(step[1]))


def _collapse(itemsize: int, steps: Sequence[Step]) -> tuple[int, list[Step]]:
    """The bytes that lie together on both sides, and the loops around them, outermost first; adjacent loops joined."""
    run = itemsize
    outer: list[Step] = []
    for count, to, from_ in steps:
        if not outer and to == from_ == run:
            run *= count
        elif outer and (to, from_) == (outer[-1][0] * outer[-1][1], outer[-1][0] * outer[-1][2]):
            outer[-1] = (outer[-1][0] * count, *outer[-1][1:])
        else:
            outer.append((count, to, from_))
    return run, outer[::-1]


def _copy_run(run: int) -> Copy:
    def copy(target: Any, to: int, source: Any, from_: int) -> None:
        target[to : to + run] = source[from_ : from_ + run]

    return copy


def _copy_words(target_layout: Layout, source_layout: Layout) -> Copy:
    def copy(target: Any, to: int, source: Any, from_: int) -> None:
        target_layout.view(target, to)[...] = source_layout.view(source, from_)

    return copy


MAX_ROWS = 1 << 40
"""Rows that a table has at most."""


def table_rows(bound: Bound, lookup: Lookup) -> int:
    """How many rows an instruction says that its table has; `IllegalFieldsError` below 1."""
    rows = int(bound.scalars[lookup.count])
    if not 1 <= rows <= MAX_ROWS:
        raise IllegalFieldsError(f"1 to {MAX_ROWS} rows of {lookup.table.tensor}", f"{rows}")
    return rows


def make_lookup(
    bound: Bound, lookup: Lookup, memories: Mapping[str, int]
) -> Callable[[Sequence[Any], Sequence[int]], None]:
    """Moves the rows; `IllegalFieldsError` (reason `range`) where an index is of no row."""
    bindings = bound.mnemonic.operands
    places = {binding.operand: (memories[binding.memory], number) for number, binding in enumerate(bindings)}
    operands = {binding.operand: operand for binding, operand in zip(bindings, bound.operands, strict=True)}
    rows, inner = table_rows(bound, lookup), [dim for dim in lookup.table.dims if dim != lookup.row]

    def layout(name: str, dims: Sequence[str]) -> Layout:
        operand = operands[name]
        return Layout(
            operand.dtype, tuple(bound.extents[d] for d in dims), tuple(operand.strides.get(d, 0) for d in dims)
        )

    target = layout(lookup.target.tensor, [lookup.row, *inner])
    index, row = layout(lookup.index.tensor, [lookup.row]), layout(lookup.table.tensor, inner)
    pitch = operands[lookup.table.tensor].strides[lookup.row]

    def run(buffers: Sequence[Any], addresses: Sequence[int]) -> None:
        def view(name: str) -> tuple[Any, int]:
            memory, place = places[name]
            return buffers[memory], addresses[place]

        found = np.array(index.view(*view(lookup.index.tensor)), np.int64)
        strange = found[(found < -rows) | (found >= rows)]
        if strange.size:
            expected = f"indices of {lookup.table.tensor} from -{rows} to {rows - 1}"
            raise IllegalFieldsError(expected, f"{strange[0]}", "range")
        first = row.view(*view(lookup.table.tensor))
        table = as_strided(first, (rows, *first.shape), (pitch, *first.strides))
        target.view(*view(lookup.target.tensor))[...] = table[np.where(found < 0, found + rows, found)]

    return run


Buffers = Sequence[Any]
Runner = Callable[[Buffers, Sequence[int]], None]


@dataclass(frozen=True)
class Touch:
    """One operand's use of a memory.

    `memory` is an index; `reads` and `writes` say how the bytes are used; the region reaches from `low` to `high`
    (exclusive), relative to the operand's address.  Of a table whose rows an index chooses the region is all of it, and
    `moved` as many of its first rows as are moved.
    """

    operand: str
    memory: int
    region: Region
    reads: bool
    writes: bool
    byte_count: int
    low: int
    high: int
    moved: Region | None = None

    @property
    def rows(self) -> Region:
        """The region that a device off chip serves."""
        return self.region if self.moved is None else self.moved


@dataclass(frozen=True)
class Plan:
    """What an instruction does and costs, its operands' addresses aside.

    `touches` and the addresses given to `run` are in the order of the mnemonic's operand bindings.  `resources` are
    names of what it occupies alone while it runs: a link's channel or a compute node.  `fault` is set instead where
    the fields mean nothing.
    """

    bound: Bound | None
    cycles: int
    energy_pj: float
    ops: int
    touches: tuple[Touch, ...]
    resources: tuple[str, ...]
    run: Runner
    fault: IllegalFieldsError | None = None


class Planner:
    """Makes plans for one machine; equal regions are shared."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.binder = Binder(machine)
        self.memories = {memory.name: index for index, memory in enumerate(machine.memories)}
        self.regions: dict[tuple[object, ...], Region] = {}

    def plan(self, mnemonic: Mnemonic, fields: Fields) -> Plan:
        """The plan of an instruction with these fields."""
        if not mnemonic.capability:
            return self.nothing()
        try:
            return self.bound_plan(self.binder.bind(mnemonic, fields))
        except IllegalFieldsError as fault:
            return self.nothing(fault)
        except TilewrightError as error:
            return self.nothing(IllegalFieldsError(error.expected, error.found))

    def nothing(self, fault: IllegalFieldsError | None = None) -> Plan:
        """A plan that does nothing."""
        return Plan(None, 0, 0.0, 0, (), (), _nothing, fault)

    def bound_plan(self, bound: Bound) -> Plan:
        """The plan of a bound instruction."""
        touches = self.touches(bound) if bound.ops else ()
        return Plan(
            bound,
            issue_cycles(self.machine, bound, touches),
            bound.energy_pj(),
            bound.ops,
            touches,
            (bound.node.channel or bound.node.name if isinstance(bound.node, Link) else bound.node.name,),
            _runner(bound, self.memories),
        )

    def touches(self, bound: Bound) -> tuple[Touch, ...]:
        statement = bound.capability.statement
        target, lookup = statement.target.tensor, lookup_of(bound.capability.statement)
        read = {access.tensor for access in accesses_of(statement.value) if isinstance(access, Strided)}
        result: list[Touch] = []
        for binding, operand in zip(bound.mnemonic.operands, bound.operands, strict=True):
            steps = [(bound.extents[dim], stride) for dim, stride in operand.strides.items()]
            region = self.region(operand.dtype.itemsize, steps)
            name, moved = binding.operand, None
            if lookup is not None and name == lookup.table.tensor:
                rows = table_rows(bound, lookup)
                whole = [(rows if dim == lookup.row else bound.extents[dim], s) for dim, s in operand.strides.items()]
                moved, region = region, self.region(operand.dtype.itemsize, whole)
            reads = name in read or (name == target and bound.accumulate)
            number = self.memories[binding.memory]
            memory, span = self.machine.memories[number], region.high - region.low
            if span > memory.capacity_bytes:
                expected = f"{name} within the {memory.capacity_bytes} bytes of {memory.name}"
                raise IllegalFieldsError(expected, f"a span of {span} bytes", "range")
            if span > MAX_MEETING_BYTES and not region.disjoint:
                expected = f"rows of {name} that lie apart, or all within {MAX_MEETING_BYTES} bytes"
                raise IllegalFieldsError(expected, f"{span} bytes")
            size = (region if moved is None else moved).byte_count()
            result.append(Touch(name, number, region, reads, name == target, size, region.low, region.high, moved))
        return tuple(result)

    def region(self, itemsize: int, steps: Sequence[tuple[int, int]]) -> Region:
        region = make_region(itemsize, steps)
        return self.regions.setdefault((region.low, region.run, region.outer), region)


def issue_cycles(machine: Machine, bound: Bound, touches: Sequence[Touch]) -> int:
    """Cycles that an issue occupies its unit for.

    A transfer over a link takes what its capability says, and at least its bytes over the link's bandwidth; an issue on
    a compute node takes what its capability says (which includes feeding the node).  To that comes the latency of the
    link, or the largest latency of the links between the node and its operands.
    """
    cycles = bound.cycles()
    if isinstance(bound.node, Link):
        moved = max((touch.byte_count for touch in touches), default=0)
        return bound.node.latency_cycles + max(cycles, math.ceil(moved / bound.node.bandwidth_bytes_per_cycle))
    memories = {machine.memories[touch.memory].name for touch in touches}
    node = bound.node.name
    ends = [(link, {link.src, link.dst}) for link in machine.links]
    latencies = [link.latency_cycles for link, names in ends if node in names and names & memories]
    return cycles + max(latencies, default=0)


def _nothing(buffers: Buffers, addresses: Sequence[int]) -> None:
    return None


def _runner(bound: Bound, memories: Mapping[str, int]) -> Runner:
    """Executes the statement on memories, at addresses in the order of the mnemonic's bindings."""
    if bound.ops == 0:
        return _nothing
    statement = bound.capability.statement
    bindings = bound.mnemonic.operands
    position = {binding.operand: index for index, binding in enumerate(bindings)}
    accesses = [a for a in (statement.target, *accesses_of(statement.value)) if isinstance(a, Strided)]
    operands = [_operand(bound, access, position) for access in accesses]
    lookup = lookup_of(statement)
    if lookup is not None:
        return make_lookup(bound, lookup, memories)
    copy = make_copy(statement, bound.functions, bound.extents, operands)
    places = [(memories[bindings[i].memory], i) for i in (position[access.tensor] for access in accesses)]
    if copy is not None:
        return _copy_runner(copy, places)
    kernel = make_kernel(statement, bound.extents, operands[0], operands[1:], bound.functions, bound.accumulate)
    return _kernel_runner(kernel, places, bound.scalars)


def _operand(bound: Bound, access: Strided, position: Mapping[str, int]) -> Operand:
    """The operand of an access, with strides of the access's own dims only."""
    operand = bound.operands[position[access.tensor]]
    return Operand(operand.dtype, {dim: operand.strides.get(dim, 0) for dim in access.dims})


def _kernel_runner(kernel: Kernel, places: Sequence[tuple[int, int]], scalars: Mapping[str, Any]) -> Runner:
    (target_memory, target_address), *sources = places
    layouts: list[tuple[Layout, int, int]] = [
        (layout, memory, address) for layout, (memory, address) in zip(kernel.sources, sources, strict=True)
    ]

    def run(buffers: Buffers, addresses: Sequence[int]) -> None:
        views = [layout.view(buffers[memory], addresses[address]) for layout, memory, address in layouts]
        kernel.run(kernel.target.view(buffers[target_memory], addresses[target_address]), views, scalars)

    return run


def _copy_runner(copy: Callable[[Any, int, Any, int], None], places: Sequence[tuple[int, int]]) -> Runner:
    (target_memory, target_address), (source_memory, source_address) = places

    def run(buffers: Buffers, addresses: Sequence[int]) -> None:
        copy(buffers[target_memory], addresses[target_address], buffers[source_memory], addresses[source_address])

    return run
