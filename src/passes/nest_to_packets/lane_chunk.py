"""Some lanes of a row: loads that widen, the statement's value in registers, reductions, stores that narrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...algebra.affine import index_forms
from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Access, Call, Expr, Num, Statement, substitute
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine.packets import PackedMnemonic
from .emit import COPY, Emitter
from .forms import Buffer, Form, Memory
from .kernels import REDUCTIONS
from .lane_streams import Streams
from .lane_values import Values
from .ranges import range_of_type, within
from .virtual import Groups, Section

NARROW = parse_statement("O{i} = F(A{i})")


@dataclass(frozen=True)
class Task:
    """A statement over buffers: `lane` is the dim along lanes ("" where nothing has lanes), `wide` the registers' type.

    Elements are done together in registers of `per_register`.
    """

    statement: Statement
    buffers: dict[str, Buffer]
    lane: str
    wide: str
    per_register: int

    @property
    def target(self) -> Buffer:
        """The buffer that is written."""
        assert isinstance(self.statement.target, Access)
        return self.buffers[self.statement.target.tensor]

    @property
    def neutral(self) -> int:
        """The number that changes no reduction."""
        low, high = range_of_type(self.wide)
        return {"+=": 0, "max=": low, "min=": high}[self.statement.reduce]

    def along(self, access: Access) -> bool:
        """Whether an access moves with the lanes; `TilewrightError` where it does so along another axis."""
        form = self.buffers[access.tensor].form
        indices = index_forms(access)
        moved = [axis for axis, index in enumerate(indices) if self.lane and index.coefficient(self.lane)]
        if moved not in ([], [form.lane]) or (moved and indices[moved[0]].terms != ((self.lane, 1),)):
            found = f"axis {moved[0]} of {access.tensor}"
            raise TilewrightError("unsupported", f"lanes along {self.lane}", f"axis {form.lane}", found, "transpose it")
        return bool(moved)


@dataclass
class Chunk:
    """The instructions for `valid` lanes, at most a chunk; `sections` are before the rows and for each row."""

    emitter: Emitter
    memory: Memory
    task: Task
    streams: Streams
    valid: int
    scratch: int
    groups: Groups = field(default_factory=Groups)
    loaded: dict[tuple[Access, int], int] = field(default_factory=dict[tuple[Access, int], int])

    def __post_init__(self) -> None:
        self.values = Values(
            self.emitter, self.memory, self.groups, self.task.wide, self.task.buffers, self.load, self.scratch
        )

    @property
    def subs(self) -> int:
        """Registers of lanes."""
        return -(-self.valid // self.task.per_register)

    def load(self, access: Access, sub: int) -> int:
        """An operand's lanes `sub` as the registers' type; what is the same in all rows is loaded once, before them."""
        along = self.task.along(access)
        key = (access, sub if along else 0)
        if key not in self.loaded:
            lasting = self.streams.lasting(access)
            section = self.values.before if lasting else self.values.made
            for i, register in enumerate(self.widened(access, along, lasting, section)):
                self.loaded[access, i] = register
        return self.loaded[key]

    def widened(self, access: Access, along: bool, lasting: bool, section: Section) -> list[int]:
        """Loads, and each step to twice the width, for all lanes of the chunk."""
        buffer, subs = self.task.buffers[access.tensor], self.subs if along else 1
        itemsize, wide = buffer.form.itemsize, ELEMENT_TYPES[self.task.wide].itemsize
        vectors = -(-subs * itemsize // wide)
        group = self.groups.take(vectors, lasting and itemsize == wide)
        for i in range(vectors):
            self.streams.load(section, group + i, access, i * self.emitter.vector_bytes)
        kind = buffer.form.type_name
        while itemsize < wide:
            itemsize *= 2
            wider = f"{kind[0]}{8 * itemsize}"
            item, count = self.widening(kind, wider), -(-subs * itemsize // wide)
            narrow, group = group, self.groups.take(-(-count // 2) * 2, lasting and itemsize == wide)
            for i in range(-(-count // 2)):
                section.append(self.emitter.place(item, (group + 2 * i, narrow + i)))
            kind = wider
        return [group + i for i in range(subs)]

    def widening(self, narrow: str, wide: str) -> PackedMnemonic:
        """What makes vectors of a type from one of half its bytes."""
        found = [
            item
            for item in self.emitter.isa.executing(COPY)
            if [place.type_name for place in self.emitter.places(item)] == [wide, narrow]
        ]
        return self.emitter.isa.choose(f"{narrow} as {wide}", found)

    def narrowing(self, wide: int, type_name: str, saturate: bool) -> PackedMnemonic:
        """What packs words of `wide` bytes into a type of half of that."""
        found: list[PackedMnemonic] = []
        for item in self.emitter.isa.executing(NARROW):
            target, source = (ELEMENT_TYPES[p.type_name] for p in self.emitter.places(item))
            same = target == ELEMENT_TYPES[type_name] if saturate else target.itemsize * 2 == wide
            if source.itemsize == wide and same and (item.functions[0][1] != "identity") == saturate:
                found.append(item)
        return self.emitter.isa.choose(f"{type_name} of {8 * wide} bits", found)

    def result(self, points: Sequence[Mapping[str, Expr]]) -> None:
        """A row's value (over `points` of the reduced dims) to the target's buffer."""
        terms = [substitute(self.task.statement.value, point) for point in points]
        if self.task.statement.reduce == "=":
            self.store([(terms[0], -1)] * self.subs)
            return
        totals = [-1] * self.subs
        for term in terms:
            for sub in range(self.subs):
                totals[sub] = self.joined(totals[sub], term, sub)
        self.store([(None, total) for total in totals])

    def joined(self, total: int, term: Expr, sub: int, dest: int = -1) -> int:
        """A register with a total and one more term, in `dest` if one is given."""
        values = self.values
        if total == -1:
            return self.fresh(term, sub)
        if self.task.statement.reduce == "+=" and values.accumulated(total, term, sub):
            return total
        register = values.value(term, sub) if self.task.statement.reduce == "+=" else values.whole(term, sub)
        return self.reduced(values.dest(dest), total, register)

    def reduced(self, dest: int, total: int, other: int) -> int:
        """`dest`, with what the reduction makes of two registers."""
        return self.values.emit(self.values.function(REDUCTIONS[self.task.statement.reduce]), dest, total, other)

    def fresh(self, term: Expr, sub: int) -> int:
        """A term in a register that may be changed."""
        register = self.values.value(term, sub)
        if self.values.known.pop((term, sub), -1) == register:
            return register
        return self.values.emit(self.emitter.move(), self.groups.take(), register)

    def store(self, results: Sequence[tuple[Expr | None, int]]) -> None:
        """Expressions, or registers, one for each `per_register` lanes, to the target at its row."""
        target, emitter = self.task.target, self.emitter
        itemsize, wide = target.form.itemsize, ELEMENT_TYPES[self.task.wide].itemsize
        saturate = True
        if results[0][0] is not None:
            value, saturate = self.stripped(results[0][0])
            results = [(value, -1)] * len(results)
        elif itemsize < wide:
            saturate = False
        all_lanes = target.form.lanes == 1
        count = wide // itemsize if all_lanes else len(results)
        group = self.groups.take(count + (wide > itemsize and count % 2))  # packing takes pairs
        for sub in range(count):
            expr, register = results[0 if all_lanes else sub]
            if expr is not None:
                self.values.value(expr, 0 if all_lanes else sub, group + sub)
            else:
                self.values.emit(self.emitter.move(), group + sub, register)
        while wide > itemsize:
            wide //= 2
            kind = target.form.type_name if wide == itemsize else f"i{8 * wide}"
            item, count = self.narrowing(2 * wide, kind, saturate), -(-count // 2)
            packed = self.groups.take(count + (wide > itemsize and count % 2))
            for i in range(count):
                self.values.made.append(emitter.place(item, (packed + i, group + 2 * i)))
            group = packed
        for i in range(count):
            self.streams.store(self.values.made, group + i, i * emitter.vector_bytes)

    def stripped(self, value: Expr) -> tuple[Expr, bool]:
        """The value to store, and whether packing has to limit it: limits that are the type's are then left out."""
        values, name = self.values, self.task.target.form.type_name
        limits = range_of_type(name)
        if self.task.wide == name:
            return value, False
        if isinstance(value, Call) and value.fn == f"sat_{name}":
            value = Call("clip", (value.args[0], Num(limits[0]), Num(limits[1])))
        if isinstance(value, Call) and value.fn == "clip" and value.args[1:] == (Num(limits[0]), Num(limits[1])):
            if within(values.range(value.args[0]), range_of_type(self.task.wide)):
                return value.args[0], True
        return value, within(values.range(value), limits)

    def masked(self, register: int, sub: int) -> int:
        """Lanes beyond the valid ones replaced by what changes no reduction."""
        live = np.arange(self.task.per_register) + sub * self.task.per_register < self.valid
        if live.all():
            return register
        (low, high), neutral = range_of_type(self.task.wide), self.task.neutral
        for fn, bound in (("min", np.where(live, high, neutral)), ("max", np.where(live, low, neutral))):
            form = Form(self.task.wide, (self.task.per_register,), 0, self.emitter.vector_bytes)
            mask = self.memory.constant("mask", bound, form)
            loaded = self.groups.take(lasting=True)
            self.values.before.append(self.emitter.address(self.scratch, mask.address))
            self.values.before.append(self.emitter.load(self.emitter.vectors, loaded, self.scratch, 0, "masks"))
            register = self.values.emit(self.values.function(fn), self.groups.take(), register, loaded)
        return register

    def across(self, register: int, turns: Sequence[int]) -> int:
        """The reduction of all lanes, in each of them; `turns` are scalar registers with halves of a vector."""
        for turn in turns:
            rotated = self.groups.take()
            moves = [m for m in self.emitter.isa.executing(COPY) if any(p.rotated for p in m.places)]
            item = self.emitter.isa.choose("rotating a vector", moves)
            self.values.made.append(self.emitter.rotated(item, rotated, register, turn))
            register = self.reduced(self.groups.take(), register, rotated)
        return register
