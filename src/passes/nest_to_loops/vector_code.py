"""Instructions of the vector engine: transfers over tiles, iterators, and bodies of instructions inside loops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import InfeasibleError, TilewrightError
from .emitter import Emitter, Target
from .places import Rows, pieces

ITERATORS = 32
"""Iterators of a memory."""
FIRST_WALK, FIRST_TILE = 7, 16
"""Ids of loops over tiles and inside one, apart from each other as the public compiler has them."""


@dataclass(frozen=True)
class Place:
    """Rows of an operand: memory, first row, and rows per step of each loop."""

    memory: str
    base: int
    moves: Mapping[str, int]


@dataclass
class _Iterators:
    """Iterators by memory: pairs of a base and a stride, each kept once."""

    found: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def index(self, memory: str, base: int | None, stride: int) -> int:
        """The iterator with that stride, and that base if one is given."""
        entries = self.found.setdefault(memory, [])
        for number, entry in enumerate(entries):
            if entry[1] == stride and base in (None, entry[0]):
                return number
        if len(entries) == ITERATORS:
            raise InfeasibleError(memory, ITERATORS + 1, ITERATORS, "iterators", "fewer operations in one body")
        entries.append((base or 0, stride))
        return len(entries) - 1


def emit_nest(
    emitter: Emitter, loops: Sequence[tuple[str, int]], body: Sequence[tuple[str, Place, Place, Place]]
) -> None:
    """A body of instructions (function, target and two operands) inside loops over named dims.

    The iterators of the innermost loop are the instructions' own: they have the operands' bases.
    """
    loops = [(dim, n) for dim, n in loops if n > 1]
    iterators = _Iterators()
    innermost = loops[-1][0] if loops else ""
    bases = [[iterators.index(p.memory, p.base, p.moves.get(innermost, 0)) for p in places] for _, *places in body]
    moves = [
        [[iterators.index(p.memory, None, p.moves.get(dim, 0)) for p in places] for _, *places in body]
        for dim, _ in loops[:-1]
    ]
    moves.append(bases)
    for memory, entries in iterators.found.items():
        for index, (base, stride) in enumerate(entries):
            emitter.emit("iterator", what=0, part=0, buffer=memory, index=index, value=_half(base))
            emitter.emit("iterator", what=1, part=0, buffer=memory, index=index, value=_half(stride))
    for number, (_, n) in enumerate(loops):
        emitter.emit("repeat", id=number, iterations=n)
        for (_, *places), indices in zip(body, moves[number], strict=True):
            emitter.emit("index", **_spaces(places, indices))
    emitter.emit("body", count=len(body), nested=int(len(loops) > 1))
    for (function, *places), indices in zip(body, bases, strict=True):
        emitter.emit("compute", function=function, **_spaces(places, indices))


def _half(value: int) -> int:
    if not 0 <= value < 1 << 15:
        raise TilewrightError("program", "iterator", "rows below 2^15", str(value))
    return value


def _spaces(places: Sequence[Place], indices: Sequence[int]) -> dict[str, int | str]:
    roles: dict[str, int | str] = {}
    for role, place, index in zip(("O", "A", "B"), places, indices, strict=True):
        roles |= {f"{role}_space": place.memory, role: index}
    return roles


def emit_transfer(
    emitter: Emitter,
    target: Target,
    side: int,
    memory: str,
    rows: Rows,
    walk: Sequence[tuple[int, int]],
    loops: Sequence[tuple[int, int]],
    place: tuple[int, int],
) -> None:
    """A transfer between DRAM and rows of the vector engine, `place` being its first row and the element's bits."""
    row, width = place
    cut, size = pieces(loops, rows.row_bytes, target.granule(memory), memory)
    roles = {"side": side, "buffer": memory}
    emitter.emit("base", level=3, value=rows.address, **roles)
    for number, (n, stride) in enumerate(walk):
        emitter.emit("loop", level=3, id=FIRST_WALK + number, last=n - 1, **roles)
        emitter.emit("stride", level=3, loop=FIRST_WALK + number, value=stride, **roles)
    emitter.emit("base", level=0, value=row, **roles)
    for number, (n, stride) in enumerate(cut):
        emitter.emit("loop", level=0, id=FIRST_TILE + number, last=n - 1, **roles)
        emitter.emit("stride", level=0, loop=FIRST_TILE + number, value=stride, **roles)
    emitter.emit("transfer", width=width - 1, size=size, **roles)


def emit_scale(emitter: Emitter, shift: int) -> None:
    """Makes products lose `shift` bits: those are the fraction bits of the operands."""
    first, second = min(shift, 32), max(shift - 32, 0)
    emitter.emit("scale", type=0, target=32, first=32 - second, second=32 - first)


def emit_scalar(emitter: Emitter, target: Target, index: int, value: int) -> None:
    """Sets an immediate."""
    place: dict[str, int | str] = {"buffer": target.scalars, "index": index}
    if -(1 << 15) <= value < 1 << 15:
        emitter.emit("immediate", part=0, value=value & 0xFFFF, **place)
    else:
        emitter.emit("immediate", part=1, value=value & 0xFFFF, **place)
        emitter.emit("immediate", part=2, value=value >> 16 & 0xFFFF, **place)


@dataclass(frozen=True)
class RowWalk:
    """Rows of a memory in order: the first, and loops (iterations, stride in rows), outermost first."""

    memory: str
    base: int
    loops: Sequence[tuple[int, int]]


def emit_permute(emitter: Emitter, target: RowWalk, source: RowWalk, shuffle: bool) -> None:
    """`target` rows become `source` rows; with `shuffle`, lanes and rows change places in blocks of the last loops."""
    for side, walk in enumerate((source, target)):
        emitter.emit("permute_base", side=side, value=walk.base)
        for number, (n, stride) in enumerate(walk.loops):
            emitter.emit("permute_loop", side=side, id=number, last=n - 1)
            emitter.emit("permute_stride", side=side, loop=number, value=stride & 0xFFFF)
    emitter.emit("permute", O_space=target.memory, A_space=source.memory, shuffle=int(shuffle))
