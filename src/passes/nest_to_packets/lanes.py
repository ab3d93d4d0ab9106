"""Any statement whose tensors have lanes in common: vectors of lanes, loops over rows, reductions in registers.

O[0,k,p,q] = clip(rshift_round(A[0,k,p,q] * M[k], S[k]) + 3, 0, 255)      k along lanes: rows p, q; M and S stay
O[0,c,p,q] max= X[0,c,2*p + r,2*q + s]                                    taps r, s, one after another
O[n,0] += X[n,c]                                                          along lanes too: the same sum in all of them
"""

from collections.abc import Mapping
from itertools import product
from math import prod

from ...algebra.affine import index_forms
from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import (
    Access,
    Expr,
    Num,
    Statement,
    accesses,
    accesses_of,
    print_statement,
    reduction_dims,
    substitute,
    target_dims,
)
from ...errors import InfeasibleError, TilewrightError
from ...machine.packet_program import Instruction
from .emit import Emitter
from .forms import Buffer, Memory
from .lane_chunk import Chunk, Task
from .lane_streams import CHUNK, Level, Streams, merged
from .regions import Region, Repeat, Straight
from .virtual import MOST, Section, assigned

MOST_TAPS = 16
"""Points of a reduction that are done one after another; more are a loop."""

WIDE = "i32"


def lane_regions(
    emitter: Emitter, memory: Memory, statement: Statement, extents: Mapping[str, int], buffers: Mapping[str, Buffer]
) -> list[Region]:
    """The regions of a statement over buffers; `TilewrightError` where it has no lanes or no instructions."""
    for access in accesses(statement):
        assert isinstance(access, Access)
        buffers[access.tensor].check(access, extents)
    types = {buffer.form.type_name for buffer in buffers.values()}
    lane = lane_of(statement, buffers)
    if len(types) == 1 and types != {WIDE}:
        taken = set(emitter.pool.taken)
        try:
            return Lanes(emitter, memory, statement, extents, buffers, lane, next(iter(types))).regions()
        except TilewrightError:
            emitter.pool.taken = taken
    return Lanes(emitter, memory, statement, extents, buffers, lane, WIDE).regions()


def lane_of(statement: Statement, buffers: Mapping[str, Buffer]) -> str:
    """The dim along lanes: the target's, or the one that is reduced along an operand's; "" where nothing has lanes."""
    assert isinstance(statement.target, Access)
    found: list[str] = []
    for access in (statement.target, *accesses_of(statement.value)):
        assert isinstance(access, Access)
        form = buffers[access.tensor].form
        if form.lanes > 1:
            index = index_forms(access)[form.lane]
            if len(index.terms) != 1 or index.terms[0][1] != 1 or index.const:
                text = print_statement(statement)
                raise TilewrightError("unsupported", text, f"a plain dim along the lanes of {access.tensor}", "another")
            found.append(index.terms[0][0])
    if len(set(found)) > 1:
        text = print_statement(statement)
        raise TilewrightError("unsupported", text, "one dim along the lanes of all tensors", ", ".join(found))
    lane = found[0] if found else ""
    for access in (statement.target, *accesses_of(statement.value)):
        assert isinstance(access, Access)
        if buffers[access.tensor].form.lanes == 1 and any(index.coefficient(lane) for index in index_forms(access)):
            expected, text = f"{lane} along lanes of {access.tensor}", print_statement(statement)
            raise TilewrightError("unsupported", text, expected, "the same element in all lanes")
    return lane


class Lanes:
    """The loops of one statement with registers of one type."""

    def __init__(
        self,
        emitter: Emitter,
        memory: Memory,
        statement: Statement,
        extents: Mapping[str, int],
        buffers: Mapping[str, Buffer],
        lane: str,
        wide: str,
    ) -> None:
        assert isinstance(statement.target, Access)
        self.emitter, self.memory, self.statement, self.extents = emitter, memory, statement, extents
        self.target, self.lane, self.wide = statement.target, lane, wide
        width = emitter.vector_bytes
        wide_bytes = ELEMENT_TYPES[wide].itemsize
        forms = [buffer.form for buffer in buffers.values() if buffer.form.lanes > 1]
        self.least_chunk = width // min([wide_bytes, *(form.itemsize for form in forms)])
        if any(form.itemsize > wide_bytes for form in forms):
            raise TilewrightError("unsupported", print_statement(statement), f"types up to {wide}", "a wider one")
        self.task = Task(statement, dict(buffers), lane, wide, width // wide_bytes)
        reduced = [dim for dim in reduction_dims(statement) if dim != lane]
        self.across = bool(lane) and lane in reduction_dims(statement)
        self.looped = self.across or prod(extents[dim] for dim in reduced) > MOST_TAPS
        self.taps = [] if self.looped else reduced
        rows = [(dim, extents[dim]) for dim in target_dims(statement) if dim != lane]
        loops = [(dim, extents[dim]) for dim in reduced] if self.looped else []
        self.accesses = [access for access in accesses(statement) if isinstance(access, Access)]
        steps = [buffers[access.tensor].steps(access)[1] for access in self.accesses]
        self.rows, self.loops = merged(rows, steps), merged(loops, steps)
        self.is_single_row = bool(lane) and not (self.rows or self.loops or self.across)

    def regions(self) -> list[Region]:
        """The whole statement, chunk after chunk of lanes; of a single row several together."""
        pool = self.emitter.pool
        before, refusal = set(pool.taken), InfeasibleError("registers", 1, 0, "registers", "a shorter expression")
        most = MOST * self.task.per_register if self.is_single_row else self.least_chunk
        for self.hoist, unroll in product((True, False), (n for n in (4, 2, 1) if n * self.least_chunk <= most)):
            self.per_chunk = unroll * self.least_chunk
            self.chunks, self.rest = divmod(self.extents[self.lane], self.per_chunk) if self.lane else (1, 0)
            try:
                self.scratch = pool.take(self.emitter.scalars)
                return self.reduced_lanes() if self.across else self.all_chunks()
            except InfeasibleError as error:
                refusal = error
            finally:
                pool.taken = set(before)
        raise refusal

    def points(self) -> list[dict[str, Expr]]:
        """The reduced dims' values, for those that are not loops."""
        ranges = [range(self.extents[dim]) for dim in self.taps]
        return [dict(zip(self.taps, map(Num, point), strict=True)) for point in product(*ranges)]

    def streams(self, levels: tuple[Level, ...], chunks: int) -> Streams:
        """Pointers for all accesses at all points."""
        task = self.task
        along = {access.tensor: task.along(access) for access in self.accesses}
        made = Streams(
            self.emitter, levels, [], task.buffers, self.target, self.per_chunk, along, self.scratch, chunks, self.hoist
        )
        read = [
            inner
            for point in self.points()
            for inner in accesses_of(substitute(self.statement.value, point))
            if isinstance(inner, Access)
        ]
        most = {name: self.bytes_of(buffer) for name, buffer in task.buffers.items()}
        made.plan([(access, most[access.tensor]) for access in (*read, self.target)])
        return made

    def bytes_of(self, buffer: Buffer) -> int:
        """Bytes of a place that a chunk touches at most."""
        form, width = buffer.form, self.emitter.vector_bytes
        if form.lanes == 1:
            return width
        count = min(self.per_chunk, self.extents[self.lane])
        return -(-count * form.itemsize // width) * width

    def all_chunks(self) -> list[Region]:
        """Full chunks of lanes, and the lanes that are left."""
        if self.is_single_row and self.chunks > 1:
            return self.single_row()
        streams = self.streams((*self.rows, *self.loops), self.chunks + bool(self.rest))
        made: list[Region] = []
        if self.chunks:
            made.append(Repeat(self.chunks, tuple(self.chunk(streams, self.per_chunk))))
        if self.rest:
            made += self.chunk(streams, self.rest)
        return [Straight(tuple(streams.starts())), *made]

    def single_row(self) -> list[Region]:
        """A loop over full chunks, and the lanes that are left."""
        streams = self.streams((Level(((CHUNK, self.chunks),)),), 1)
        made: list[Region] = [Straight(tuple(streams.starts()))]
        for loops, valid in ((1, self.per_chunk), (0, self.rest)):
            if valid:
                chunk = Chunk(self.emitter, self.memory, self.task, streams, valid, self.scratch)
                chunk.result(self.points())
                before, body = self.registers(chunk, [chunk.values.before, chunk.values.made])
                made += [Straight(tuple(before)), *streams.nest(0, loops, body)]
        return made

    def chunk(self, streams: Streams, valid: int) -> list[Region]:
        """A chunk's rows, and the pointers on to the next."""
        chunk = Chunk(self.emitter, self.memory, self.task, streams, valid, self.scratch)
        if self.looped:
            regions = self.looped_rows(chunk, streams)
        else:
            chunk.result(self.points())
            before, body = self.registers(chunk, [chunk.values.before, chunk.values.made])
            regions = [Straight(tuple(before)), *streams.nest(0, len(self.rows), body)]
        back = streams.whole(0) if streams.levels else [0] * len(streams.pointers)
        if self.looped and not self.rows:
            back = [0] * len(streams.pointers)
        on = [step - moved for step, moved in zip(streams.step(-1), back, strict=True)]
        return [*regions, Straight(tuple(streams.moves(on)))]

    def registers(self, chunk: Chunk, sections: list[Section]) -> list[Section]:
        """The sections with registers: each value its own if there are enough."""
        try:
            return assigned(self.emitter, chunk.groups, sections, reuse=False)
        except InfeasibleError:
            return assigned(self.emitter, chunk.groups, sections, reuse=True)

    def looped_rows(self, chunk: Chunk, streams: Streams) -> list[Region]:
        """For each row: the start, the reduction's loops, the end."""
        values = chunk.values
        totals = [chunk.groups.take(lasting=True) for _ in range(chunk.subs)]
        start = self.neutral(chunk, totals)
        for sub, total in enumerate(totals):
            chunk.joined(total, self.statement.value, sub, total)
        body, values.made = values.made, Section()
        chunk.store([(None, total) for total in totals])
        parts = self.registers(chunk, [values.before, start, body, values.made])
        before, start, body, finish = parts
        rows, end = len(self.rows), len(streams.levels)
        inner = streams.nest(rows, end, body)
        row: list[Region] = [Straight(tuple(start)), *inner, Straight(tuple(finish))]
        return [Straight(tuple(before)), *streams.nest(0, rows, row, streams.whole(rows))]

    def neutral(self, chunk: Chunk, totals: list[int]) -> Section:
        """Totals at what changes no reduction."""
        values = chunk.values
        number = values.number(self.task.neutral)
        for total in totals:
            values.emit(self.emitter.move(), total, number)
        made, values.made = values.made, Section()
        return made

    def reduced_lanes(self) -> list[Region]:
        """A reduction along the lanes, the result in all of them: chunk after chunk, then halves of vectors."""
        if self.loops:
            text = print_statement(self.statement)
            raise TilewrightError("unsupported", text, "a reduction along the lanes alone", "more dims")
        chunk_level = (Level(((CHUNK, self.chunks),)),) if self.chunks else ()
        streams = self.streams((*self.rows, *chunk_level), 1)
        full = Chunk(self.emitter, self.memory, self.task, streams, self.per_chunk, self.scratch)
        count = full.subs if self.chunks else -(-self.rest // self.task.per_register)
        totals = [full.groups.take(lasting=True) for _ in range(count)]
        start = self.neutral(full, totals)
        if self.chunks:
            for sub, total in enumerate(totals):
                full.joined(total, self.statement.value, sub, total)
        body, full.values.made = full.values.made, Section()
        if self.rest:
            self.partial(full, streams, totals)
        turns, setup = self.turns()
        combined = totals[0]
        for other in totals[1:]:
            combined = full.reduced(full.groups.take(), combined, other)
        combined = full.across(combined, turns)
        full.store([(None, combined)])
        before, start, body, finish = self.registers(full, [full.values.before, start, body, full.values.made])
        rows, levels = len(self.rows), len(streams.levels)
        row: list[Region] = [Straight(tuple(start)), *streams.nest(rows, levels, body), Straight(tuple(finish))]
        moved = streams.whole(rows) if chunk_level else None
        loops = streams.nest(0, rows, row, moved)
        return [Straight((*streams.starts(), *setup, *before)), *loops]

    def partial(self, full: Chunk, streams: Streams, totals: list[int]) -> None:
        """The lanes that are left, without those beyond."""
        rest = Chunk(self.emitter, self.memory, self.task, streams, self.rest, self.scratch, full.groups)
        rest.values.before, rest.values.made = full.values.before, full.values.made
        rest.values.numbers = full.values.numbers
        for sub in range(rest.subs):
            register = rest.masked(rest.values.value(self.statement.value, sub), sub)
            rest.reduced(totals[sub], totals[sub], register)

    def turns(self) -> tuple[list[int], list[Instruction]]:
        """Scalar registers with what to rotate by, and what sets them."""
        by, turns, made = self.emitter.vector_bytes, list[int](), list[Instruction]()
        while (by := by // 2) >= ELEMENT_TYPES[self.wide].itemsize:
            turns.append(self.emitter.pool.take(self.emitter.scalars))
            made.append(self.emitter.constant(turns[-1], by))
        return turns, made
