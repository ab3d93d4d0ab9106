"""Copies along lanes: a tensor's lanes to other lanes of the target, what is beside them kept.

O[0, c + 64, h, w] = X[0, c, h, w]    bytes loaded from 64 before X's place, those beyond X's lanes masked, and put
                                      together with what the target holds there already
"""

from collections.abc import Mapping

import numpy as np

from ...algebra.affine import index_forms
from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Access, target_dims
from ...machine.packet_program import Instruction
from .emit import Emitter
from .forms import Buffer, Form, Memory
from .kernels import Step
from .lane_streams import Level, Pointer, Pointers, merged
from .regions import Region, Straight

AT_ONCE = 8
"""Vectors that one pass over the rows moves."""

SOURCE, TARGET, MASKS = "source", "target", "masks"


def is_move(step: Step, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a step copies along the lanes of both tensors, to or from other places, or beyond the last."""
    value = step.statement.value
    if step.statement.reduce != "=" or not isinstance(value, Access) or value.tensor not in buffers:
        return False
    forms = [(index_forms(access), buffers[access.tensor].form) for access in (step.target, value)]
    if any(form.lanes == 1 for _, form in forms):
        return False
    lanes = [indices[form.lane] for indices, form in forms]
    same_dim = lanes[0].terms == lanes[1].terms and len(lanes[0].terms) == 1 and lanes[0].terms[0][1] == 1
    if not same_dim or forms[0][1].type_name != forms[1][1].type_name:
        return False
    return any(index.const for index in lanes) or step.extents[lanes[0].names[0]] > forms[1][1].lanes


class _Move:
    """One pass over the rows for some vectors of the target's places."""

    def __init__(self, emitter: Emitter, memory: Memory, step: Step, buffers: Mapping[str, Buffer]) -> None:
        extents, target, source = step.extents, step.target, step.statement.value
        assert isinstance(source, Access)
        self.emitter, self.memory, self.width = emitter, memory, emitter.vector_bytes
        pair = [(access, buffers[access.tensor]) for access in (target, source)]
        for access, buffer in pair:
            buffer.check(access, extents, lanes=access is target)
        lanes = [index_forms(access)[buffer.form.lane] for access, buffer in pair]
        itemsize, dim = pair[0][1].form.itemsize, lanes[0].terms[0][0]
        self.first, self.shift = lanes[0].const * itemsize, (lanes[1].const - lanes[0].const) * itemsize
        self.end = self.first + extents[dim] * itemsize
        form = pair[1][1].form
        self.source_bytes = form.lanes * itemsize
        self.around = np.array([step.pads.get(source.tensor, 0)], ELEMENT_TYPES[form.type_name]).view(np.uint8)
        (self.to, to_steps), (self.at, at_steps) = (buffer.steps(access) for access, buffer in pair)
        rows = [(name, extents[name]) for name in target_dims(step.statement) if name != dim]
        self.levels = merged(rows, [to_steps, at_steps])
        self.steps = [_along(self.levels, steps) for steps in (to_steps, at_steps)]

    def regions(self) -> list[Region]:
        """All vectors, a few of them in each pass."""
        vectors = range(self.first // self.width, -(-self.end // self.width))
        made: list[Region] = []
        for start in range(vectors.start, vectors.stop, AT_ONCE):
            taken = set(self.emitter.pool.taken)
            made += self.some(range(start, min(start + AT_ONCE, vectors.stop)))
            self.emitter.pool.taken = taken
        return made

    def some(self, vectors: range) -> list[Region]:
        """One pass."""
        emitter, scalar = self.emitter, self.emitter.pool.take
        to, at = (Pointer(scalar(emitter.scalars), 0, steps) for steps in self.steps)
        offset = vectors.start * self.width
        start = [emitter.address(to.register, self.to + offset)]
        start.append(emitter.address(at.register, self.at + offset + self.shift))
        body: list[Instruction] = []
        for number, vector in enumerate(vectors):
            before, made = self.vector(vector, number * self.width, to.register, at.register)
            start += before
            body += made
        return [Straight(tuple(start)), *Pointers(emitter, self.levels, [to, at]).nest(0, len(self.levels), body)]

    def vector(self, vector: int, offset: int, to: int, at: int) -> tuple[list[Instruction], list[Instruction]]:
        """What is done before all rows and for each, for the vector `offset` bytes after both pointers."""
        emitter, file = self.emitter, self.emitter.vectors
        moved = emitter.pool.take(file)
        align = self.width if self.shift % self.width == 0 else 1
        body = [emitter.load(file, moved, at, offset, SOURCE, align)]
        place = np.arange(self.width) + vector * self.width
        inside = (place >= self.first) & (place < self.end)
        given = inside & (place + self.shift >= 0) & (place + self.shift < self.source_bytes)
        start: list[Instruction] = []
        if not given.all():
            body.append(self.joined("min", moved, self.constant(np.where(given, 255, 0), start)))
        beside = np.where(inside & ~given, self.around[place % len(self.around)], 0)
        if beside.any():
            body.append(self.joined("max", moved, self.constant(beside, start)))
        if not inside.all():
            old = emitter.pool.take(file)
            body.append(emitter.load(file, old, to, offset, TARGET))
            body.append(self.joined("min", old, self.constant(np.where(inside, 0, 255), start)))
            body.append(self.joined("max", moved, old))
        body.append(emitter.store(file, moved, to, offset, TARGET))
        return start, body

    def joined(self, name: str, register: int, other: int) -> Instruction:
        """The bytes of a register with those of another: `min` with a mask is `and`, `max` of what is masked `or`."""
        return self.emitter.place(self.emitter.binary(name, "u8"), (register, register, other))

    def constant(self, values: np.ndarray, start: list[Instruction]) -> int:
        """A register with these bytes."""
        emitter = self.emitter
        register, scalar = emitter.pool.take(emitter.vectors), emitter.pool.take(emitter.scalars)
        form = Form("u8", (self.width,), 0, self.width)
        mask = self.memory.constant(MASKS, values, form)
        start += [emitter.address(scalar, mask.address), emitter.load(emitter.vectors, register, scalar, 0, MASKS)]
        emitter.pool.give(emitter.scalars, scalar)
        return register


def _along(levels: tuple[Level, ...], steps: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(steps.get(level.dims[-1][0], 0) for level in levels)


def move_regions(emitter: Emitter, memory: Memory, step: Step, buffers: Mapping[str, Buffer]) -> list[Region]:
    """The regions of a copy along lanes."""
    return _Move(emitter, memory, step, buffers).regions()
