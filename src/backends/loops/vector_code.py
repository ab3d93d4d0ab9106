"""Instructions of the vector engine: transfers over tiles, iterators, and bodies of instructions inside loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import InfeasibleError, TilewrightError
from ...search.tiles.values import Block
from .emitter import LOAD, STORE, Emitter, Target
from .places import Epilogue, Operation, Rows, VectorLayer, pieces

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
    """A body of instructions (function, target and two operands) inside loops over named dims."""
    loops = [(dim, n) for dim, n in loops if n > 1]
    iterators = _Iterators()
    first = loops[0][0] if loops else ""
    bases = [[iterators.index(p.memory, p.base, p.moves.get(first, 0)) for p in places] for _, *places in body]
    moves = [
        [[iterators.index(p.memory, None, p.moves.get(dim, 0)) for p in places] for _, *places in body]
        for dim, _ in loops
    ]
    for memory, entries in iterators.found.items():
        for index, (base, stride) in enumerate(entries):
            emitter.emit("iterator", what=0, part=0, buffer=memory, index=index, value=_half(base))
            emitter.emit("iterator", what=1, part=0, buffer=memory, index=index, value=_half(stride))
    for number, (_, n) in enumerate(loops):
        emitter.emit("repeat", id=number, iterations=n)
        for (_, *places), indices in zip(body, moves[number], strict=True):
            emitter.emit("index", **_spaces(places, indices))
    emitter.emit("body", count=len(body))
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


def emit_epilogue(
    emitter: Emitter, target: Target, epilogue: Epilogue, output: Rows, loops: Sequence[str], block: Block
) -> None:
    """The vector engine's group behind a box of tiles of sums."""
    sums = target.roles["output"]
    tile = block.tile
    source = Place(sums, 0, _dense(tile))
    turns = [dim for dim in loops if dim != "k"]
    emitter.begin(target.vector[0].name)
    _emit_rows(emitter, target, epilogue, output, turns, block, source, 0)
    emitter.end()


def _dense(tile: Mapping[str, int]) -> dict[str, int]:
    """Rows per step in a tile that lies without gaps."""
    return {"y": tile["x"] * tile["n"], "x": tile["n"], "n": 1}


def _emit_rows(
    emitter: Emitter,
    target: Target,
    epilogue: Epilogue,
    output: Rows,
    turns: Sequence[str],
    block: Block,
    source: Place,
    used: int,
) -> None:
    """Loads of what the operations read, the operations on every row of the tile, and the store.

    Rows of the first scratch memory below `used` are taken.
    """
    first, second = target.scratch
    tile = block.tile
    places: dict[str, Place] = {"sum": source, "out": Place(second, 0, _dense(tile))}
    rows = used
    for number, vector in enumerate(epilogue.vectors):
        places[f"vector{number}"] = Place(first, rows, {"n": 1})
        _load(emitter, target, first, vector, turns, block, ("n",), (rows, 32))
        rows += tile["n"]
    for number, (tensor, width) in enumerate(epilogue.tensors):
        places[f"tensor{number}"] = Place(first, rows, _dense(tile))
        _load(emitter, target, first, tensor, turns, block, ("y", "x", "n"), (rows, width))
        rows += tile["y"] * tile["x"] * tile["n"]
    if rows > target.rows(first):
        raise InfeasibleError(first, rows, target.rows(first), "rows", "smaller tiles")
    _emit_operations(emitter, target, epilogue.operations, places, tile)
    walk = _walk(output, turns, block)
    start = Rows(output.at(block.start), output.pitches, output.row_bytes)
    inside = [(tile[dim], output.pitch(dim)) for dim in ("y", "x", "n")]
    emit_transfer(emitter, target, STORE, second, start, walk, inside, (0, epilogue.width_bits))


def _load(
    emitter: Emitter,
    target: Target,
    memory: str,
    rows: Rows,
    turns: Sequence[str],
    block: Block,
    dims: Sequence[str],
    place: tuple[int, int],
) -> None:
    start = Rows(rows.at(block.start), rows.pitches, rows.row_bytes)
    inside = [(block.tile[dim], rows.pitch(dim)) for dim in dims]
    emit_transfer(emitter, target, LOAD, memory, start, _walk(rows, turns, block), inside, place)


def _walk(rows: Rows, turns: Sequence[str], block: Block) -> list[tuple[int, int]]:
    """Loops over the tiles of a box: one per dim that is cut."""
    return [(block.count[dim], block.tile[dim] * rows.pitch(dim)) for dim in turns]


def _emit_operations(
    emitter: Emitter,
    target: Target,
    operations: Sequence[Operation],
    places: dict[str, Place],
    tile: Mapping[str, int],
) -> None:
    """All operations on every row: a body for each run of operations whose products are shifted alike."""
    if not operations and places["sum"] != places["out"]:
        operations = [Operation("A", "sum")]
    numbers = dict.fromkeys(v for o in operations for v in (o.a, o.b) if isinstance(v, int))
    for index, value in enumerate(numbers):
        emit_scalar(emitter, target, index, value)
        places[str(value)] = Place(target.scalars, index, {})
    loops = [("y", tile["y"]), ("x", tile["x"]), ("n", tile["n"])]
    for shift, run in _runs(operations):
        body: list[tuple[str, Place, Place, Place]] = []
        for operation in run:
            a = places[str(operation.a)]
            b = places[str(operation.b)] if operation.b is not None else a
            body.append((target.function(operation.text), places["out"], a, b))
        if shift is not None:
            emit_scale(emitter, shift)
        emit_nest(emitter, loops, body)


def _runs(operations: Sequence[Operation]) -> list[tuple[int | None, list[Operation]]]:
    """Operations in order, cut where a product is shifted otherwise than those before."""
    runs: list[tuple[int | None, list[Operation]]] = []
    for operation in operations:
        shift = operation.shift if "SHIFT" in operation.text else None
        if runs and (shift is None or runs[-1][0] in (None, shift)):
            runs[-1] = (runs[-1][0] if shift is None else shift), [*runs[-1][1], operation]
        else:
            runs.append((shift, [operation]))
    return runs


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


def emit_vector(emitter: Emitter, target: Target, layer: VectorLayer, turns: Sequence[str], block: Block) -> None:
    """The group of a box of tiles of a layer without sums of products."""
    first, second = target.scratch
    tile = block.tile
    height, width = layer.y.input(tile["y"]), layer.x.input(tile["x"])
    rows, n = layer.tensor, tile["n"]
    steps = {"y": layer.y.stride, "x": layer.x.stride}
    pitches = {dim: pitch * steps.get(dim, 1) for dim, pitch in rows.pitches.items()}
    moved = Rows(rows.address, pitches, rows.row_bytes)
    emitter.begin(target.vector[0].name)
    inside = [(height, rows.pitch("y")), (width, rows.pitch("x")), (n, rows.pitch("n"))]
    start = Rows(moved.at(block.start), pitches, rows.row_bytes)
    emit_transfer(emitter, target, LOAD, first, start, _walk(moved, turns, block), inside, (0, layer.width_bits))
    strides = {"y": layer.y.stride * width * n, "x": layer.x.stride * n, "n": 1, "ty": width * n, "tx": n}
    source = Place(first, 0, strides)
    out = Place(second, 0, _dense(tile))
    taps = [("ty", layer.y.taps), ("tx", layer.x.taps)]
    points = [("y", tile["y"]), ("x", tile["x"]), ("n", n)]
    if any(count > 1 for _, count in taps):
        start_at = Place(first, 0, {d: s for d, s in strides.items() if d not in ("ty", "tx")})
        emit_nest(emitter, points, [(target.function("A"), out, *_first(emitter, target, layer, start_at))])
        emit_nest(emitter, [*taps, *points], [(target.function(layer.fold), out, out, source)])
        source = out
    _emit_rows(emitter, target, layer.epilogue, layer.output, turns, block, source, height * width * n)
    emitter.end()


def _first(emitter: Emitter, target: Target, layer: VectorLayer, place: Place) -> tuple[Place, Place]:
    """What folding starts from: the first tap where it may be counted twice, else 0."""
    if layer.fold.startswith(("max", "min")):
        return place, place
    emit_scalar(emitter, target, ITERATORS - 1, 0)
    zero = Place(target.scalars, ITERATORS - 1, {})
    return zero, zero
