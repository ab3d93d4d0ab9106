"""The kernel of a sum of products: a tile of rows by vectors in registers, the reduction pipelined."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Strided
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine.packet_program import Instruction
from ...machine.packets import PackedMnemonic
from .emit import Emitter
from .regions import Pipelined, Region, Straight
from .roles import Contraction

GEMM = parse_statement("O{i} += A{i, j} * B{j}")
DOT = parse_statement("O{i} += A{i, j} * B{i, j}")
DEAL = parse_statement("O{j, i} = A{i, j}")


@dataclass(frozen=True)
class Multiply:
    """`gemm` adds, for `lanes` lanes, `group` products of a vector's and a scalar's elements.

    Vector elements are stored `flip` larger than they are; if that is not 0, `first_dot` (from 0), `dot`, `deal` and
    `add` serve to take `flip` times the sum of the scalar operand away.
    """

    gemm: PackedMnemonic
    lanes: int
    group: int
    flip: int
    scalar_file: str
    move: PackedMnemonic
    first_dot: PackedMnemonic | None = None
    dot: PackedMnemonic | None = None
    deal: PackedMnemonic | None = None
    add: PackedMnemonic | None = None


def select_multiply(emitter: Emitter, vector_type: str, scalar_type: str, target_type: str) -> Multiply:
    """The instructions for operands of these types; a signed vector may be taken as an unsigned one, moved by half."""
    isa = emitter.isa
    move = emitter.move()
    for flip in (0, 1 << 8 * ELEMENT_TYPES[vector_type].itemsize - 1):
        for item in isa.executing(GEMM):
            out, first, second = _types(emitter, item)
            wanted = (f"u{vector_type[1:]}" if vector_type.startswith("i") else "") if flip else vector_type
            if item.from_identity or (first, second) != (wanted, scalar_type) or not _alike(out, target_type):
                continue
            extents = dict(item.extents)
            lanes, group = (int(extents[dim]) for dim, _ in item.places[1].strides)
            scalar_file = dict(item.registers)[item.places[2].base]
            found = Multiply(item, lanes, group, flip, scalar_file, move)
            return found if not flip else _with_correction(emitter, found, scalar_type)
    what = f"{target_type} += {vector_type} * {scalar_type}"
    raise TilewrightError("unsupported", what, f"an instruction of {isa.machine.name} for it", "none")


def _with_correction(emitter: Emitter, found: Multiply, scalar_type: str) -> Multiply:
    isa = emitter.isa
    signed = "i8"
    dots = [m for m in isa.executing(DOT) if _types(emitter, m)[1:] == (scalar_type, signed)]
    dot = isa.choose(f"sums of {scalar_type} in lanes", [m for m in dots if not m.from_identity])
    first = isa.choose(f"sums of {scalar_type} in lanes, from 0", [m for m in dots if m.from_identity])
    deal = isa.choose("dealing lanes", [m for m in isa.executing(DEAL) if _deals(emitter, m, _types(emitter, dot)[0])])
    return replace(found, first_dot=first, dot=dot, deal=deal, add=emitter.binary("add", _types(emitter, dot)[0]))


def _deals(emitter: Emitter, item: PackedMnemonic, type_name: str) -> bool:
    """Whether it sorts the lanes of two neighbouring vectors, side by side, into those of even and odd numbers."""
    capability, width = emitter.isa.capability(item), emitter.vector_bytes
    assert capability is not None
    assert isinstance(capability.statement.target, Strided)
    odd, lane = capability.statement.target.dims
    size = np.dtype(ELEMENT_TYPES[type_name]).itemsize
    out, inside = ({dim: int(word) for dim, word in place.strides} for place in emitter.places(item))
    halves = {lane: width // size, odd: 2} == {dim: int(word) for dim, word in item.extents}
    whole = out == {odd: width, lane: size} and inside == {lane: 2 * size, odd: size}
    return halves and whole and _types(emitter, item) == (type_name, type_name)


def _types(emitter: Emitter, item: PackedMnemonic) -> tuple[str, ...]:
    """Element types in the order of the capability's operands."""
    return tuple(place.type_name for place in emitter.places(item))


def _alike(first: str, second: str) -> bool:
    """Whether sums that wrap have the same bits in both types."""
    one, other = np.dtype(ELEMENT_TYPES[first]), np.dtype(ELEMENT_TYPES[second])
    return one.itemsize == other.itemsize and one.kind in "iu" and other.kind in "iu"


WORD_BYTES = 4
"""A correction's."""

WORDS = 2
"""Registers that corrections pass through."""

X, Y, OUT, SUMS = "scalar operand", "vector operand", "target", "corrections"


@dataclass(frozen=True)
class Plan:
    """A register tile: rows by vectors, `steps` groups of the reduction in each iteration."""

    rows: int
    vectors: int
    steps: int


@dataclass(frozen=True)
class Pointers:
    """Address registers: of the tile's first row, the vector operand's tile, where it is, the target, corrections.

    `zero` is a vector of zeros where there are no corrections.
    """

    row: int
    tile: int
    vector: int
    target: int
    sums: int
    zero: int


class Tile:
    """The instructions of one tile, with its registers."""

    def __init__(
        self, emitter: Emitter, contraction: Contraction, multiply: Multiply, plan: Plan, pitch_bytes: int
    ) -> None:
        self.emitter, self.contraction, self.multiply, self.plan = emitter, contraction, multiply, plan
        self.pitch_bytes = pitch_bytes
        self.file = scalar_file(emitter, contraction, multiply)
        self.ways = emitter.isa.files[self.file].width_bytes // multiply.group
        pool, vectors = emitter.pool, emitter.vectors
        self.kept: list[tuple[str, int]] = []
        self.sums = [[self.take(vectors) for _ in range(plan.vectors)] for _ in range(plan.rows)]
        self.loaded = [[self.take(vectors) for _ in range(plan.vectors)] for _ in range(plan.steps)]
        self.wide = [[self.take(self.file) for _ in range(plan.rows)] for _ in range(plan.steps // self.ways)]
        self.groups = row_groups(emitter, self.file, plan, contraction.rows[-1].step_bytes, self.iteration_bytes)
        self.at = [self.take(emitter.scalars) for _ in self.groups]
        self.words = [self.take(emitter.scalars) for _ in range(min(WORDS, plan.rows))] if multiply.flip else []
        self.pool = pool

    def take(self, file: str) -> int:
        number = self.emitter.pool.take(file)
        self.kept.append((file, number))
        return number

    def release(self) -> None:
        """Gives the registers back."""
        for file, number in self.kept:
            self.emitter.pool.give(file, number)

    @property
    def iteration_bytes(self) -> int:
        """Bytes of a row in one iteration."""
        return self.plan.steps * self.multiply.group

    def body(self, steps: int) -> list[Instruction]:
        """An iteration over so many groups of the reduction (a multiple of those in a scalar load)."""
        emitter, made = self.emitter, list[Instruction]()
        step = self.contraction.rows[-1].step_bytes
        width = emitter.isa.files[self.file].width_bytes
        for part in range(steps // self.ways):
            for (first, rows, anchor), at in zip(self.groups, self.at, strict=True):
                for row in range(first, first + rows):
                    offset = row * step - anchor + part * width
                    made.append(emitter.load(self.file, self.wide[part][row], at, offset, X))
        made += [emitter.add(at, at, steps * self.multiply.group) for at in self.at]
        return [*self.vector_loads(steps), *made, *self.products(steps)]

    def vector_loads(self, steps: int) -> list[Instruction]:
        emitter, vectors = self.emitter, self.emitter.vectors
        return [
            emitter.advancing(vectors, register, self.pointers.vector, emitter.vector_bytes, Y)
            for registers in self.loaded[:steps]
            for register in registers
        ]

    def products(self, steps: int) -> list[Instruction]:
        made: list[Instruction] = []
        for step in range(steps):
            for row in range(self.plan.rows):
                scalar = self.wide[step // self.ways][row] * self.ways + step % self.ways
                for vector in range(self.plan.vectors):
                    registers = (self.sums[row][vector], self.loaded[step][vector], scalar)
                    made.append(self.emitter.place(self.multiply.gemm, registers))
        return made

    def head(self) -> list[Instruction]:
        """Addresses of the rows and of the vector operand; the sums' first values; the next tile's first row."""
        emitter, pointers, plan = self.emitter, self.pointers, self.plan
        first = self.contraction.segments[0]
        made = [emitter.add(pointers.vector, pointers.tile, 0)]
        made += [
            emitter.add(at, pointers.row, anchor + first)
            for (_, _, anchor), at in zip(self.groups, self.at, strict=True)
        ]
        made.append(emitter.add(pointers.row, pointers.row, plan.rows * self.contraction.rows[-1].step_bytes))
        for row, sums in enumerate(self.sums):
            source = pointers.zero
            if self.multiply.flip:
                source, word = sums[0], self.words[row % WORDS]
                made.append(emitter.load(emitter.scalars, word, pointers.sums, WORD_BYTES * row, SUMS))
                made.append(emitter.broadcast(source, word))
            made += [emitter.place(self.multiply.move, (register, source)) for register in sums if register != source]
        if self.multiply.flip:
            made.append(emitter.add(pointers.sums, pointers.sums, WORD_BYTES * plan.rows))
        return made

    def undo_head(self) -> list[Instruction]:
        """Takes back what one head too many did to pointers."""
        emitter, pointers, rows = self.emitter, self.pointers, self.plan.rows
        made = [emitter.add(pointers.row, pointers.row, -rows * self.contraction.rows[-1].step_bytes)]
        if self.multiply.flip:
            made.append(emitter.add(pointers.sums, pointers.sums, -rows * WORD_BYTES))
        return made

    def tail(self) -> list[Instruction]:
        """The stores."""
        emitter, made, target = self.emitter, list[Instruction](), self.pointers.target
        for sums in self.sums:
            for i, register in enumerate(sums):
                made.append(emitter.store(emitter.vectors, register, target, i * emitter.vector_bytes, OUT))
            made.append(emitter.add(target, target, self.pitch_bytes))
        return made

    def regions(self, pointers: Pointers) -> list[Region]:
        """Head, a pipeline for each segment of the reduction, tail."""
        self.pointers = pointers
        run, segments = self.contraction.run_bytes, self.contraction.segments
        trips, left = divmod(run, self.iteration_bytes)
        regions: list[Region] = [Straight(tuple(self.head()))]
        for i in range(len(segments)):
            regions.append(Pipelined(trips, tuple(self.body(self.plan.steps))))
            rest = self.body(left // self.multiply.group) if left else []
            if i + 1 < len(segments):
                jump = segments[i + 1] - segments[i] - run
                rest += [self.emitter.add(at, at, jump) for at in self.at] if jump else []
            regions.append(Straight(tuple(rest)))
        return [*regions, Straight(tuple(self.tail()))]


def scalar_file(emitter: Emitter, contraction: Contraction, multiply: Multiply) -> str:
    """The widest file of the scalar operand's memory whose loads are aligned in every row and segment."""
    isa = emitter.isa
    narrow = isa.files[multiply.scalar_file]
    walks = (*contraction.rows, *contraction.batch)
    places = [*(walk.step_bytes for walk in walks), *contraction.segments, contraction.run_bytes]
    files = [f for f in isa.packets.files if f.memory == narrow.memory and f.width_bytes >= narrow.width_bytes]
    for file in sorted(files, key=lambda f: -f.width_bytes):
        if emitter.copies(file.name, False) and not any(place % file.width_bytes for place in places):
            return file.name
    return narrow.name


def row_groups(emitter: Emitter, file: str, plan: Plan, step: int, iteration_bytes: int) -> list[tuple[int, int, int]]:
    """Rows that one address register reaches: first row, rows, and the register's bytes from the tile's first row."""
    reach = emitter.reach(file)
    low, high = reach[0], reach[-1]
    groups: list[tuple[int, int, int]] = []
    first = 0
    while first < plan.rows:
        most = (high - low - iteration_bytes) // step + 1 if step else plan.rows
        rows = max(1, min(plan.rows - first, most))
        span = (rows - 1) * step + iteration_bytes
        anchor = first * step - (low if span > high else 0)
        groups.append((first, rows, anchor))
        first += rows
    return groups


def counts(
    emitter: Emitter, contraction: Contraction, multiply: Multiply, plan: Plan
) -> tuple[Counter[str], Counter[str]] | None:
    """How often each mnemonic is in an iteration, and in a tile's head and tail together.

    None where an iteration's steps are no whole number of scalar loads.
    """
    file = scalar_file(emitter, contraction, multiply)
    ways = emitter.isa.files[file].width_bytes // multiply.group
    if plan.steps % ways:
        return None
    groups = len(row_groups(emitter, file, plan, contraction.rows[-1].step_bytes, plan.steps * multiply.group))
    load = emitter.copies(emitter.vectors, False)[0].name
    store = emitter.copies(emitter.vectors, True)[0].name
    add = emitter.add(0, 0, 1).mnemonic
    sums = plan.rows * plan.vectors
    iteration = Counter({load: plan.steps * plan.vectors, multiply.gemm.name: plan.steps * sums, add: groups})
    iteration[emitter.copies(file, False)[0].name] += plan.steps // ways * plan.rows
    firsts = plan.rows if multiply.flip else 0
    ends = Counter({multiply.move.name: sums - firsts, store: sums, add: plan.rows + groups + 2 + (firsts > 0)})
    if multiply.flip:
        ends += Counter(
            {emitter.copies(emitter.scalars, False)[0].name: firsts, emitter.broadcast(0, 0).mnemonic: firsts}
        )
    return iteration, ends


def names(counted: Counter[str]) -> Sequence[str]:
    """Mnemonics as often as they were counted."""
    return list(counted.elements())
