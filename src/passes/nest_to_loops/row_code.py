"""Code of the vector engine for a tile: what it loads, operations on rows and columns, and what it stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...algebra.formula import evaluate_formula
from ...errors import InfeasibleError
from ...search.tiles.choice import Block
from .emitter import LOAD, STORE, Emitter, Target
from .places import Epilogue, Operation, Rows, VectorLayer, Window
from .vector_code import ITERATORS, Place, RowWalk, emit_nest, emit_permute, emit_scalar, emit_scale, emit_transfer

LAST = 1 << 30


@dataclass(frozen=True)
class Shape:
    """A tile: its rows (without blocks of columns), the blocks of columns of a row, and lanes."""

    rows: int
    blocks: int
    lanes: int

    @property
    def size(self) -> int:
        """Rows that a tile takes on chip."""
        return self.rows * self.blocks


@dataclass(frozen=True)
class Rooms:
    """Rows of both memories, and how many of the first ones are taken, by whom not being asked."""

    rows: tuple[int, int]
    taken: tuple[int, int] = (0, 0)


@dataclass
class Registers:
    """Where everything lies: memory (0 or 1) and first row by name; `scratch` is what folding needs besides."""

    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    scratch: int = 0


def allocate(epilogue: Epilogue, shape: Shape, rooms: Rooms, first: str = "") -> Registers | None:
    """Rows for all names; None where they do not suffice.

    Tiles lie in slots of one size, each reused when what it held was read for the last time; columns, spread ones,
    constant rows and the scratch of folds lie below them in the first memory.  `first` already is in the first slot of
    the second memory.
    """
    found = Registers()
    row = rooms.taken[0]
    for number in range(len(epilogue.vectors)):
        found.places[f"vector{number}"] = 0, row
        row += shape.blocks
    for operation in epilogue.operations:
        if operation.kind != "rows":
            found.places[operation.target] = 0, row
            row += shape.rows if operation.kind == "spread" else 1
    if epilogue.folds:
        found.scratch = row
        row += shape.rows + shape.lanes
    slots = _slots(epilogue, first)
    free = [(rooms.rows[1] - rooms.taken[1]) // shape.size, max(0, rooms.rows[0] - row) // shape.size]
    if row > rooms.rows[0] or max(slots.values(), default=-1) >= sum(free):
        return None
    for name, slot in slots.items():
        if slot < free[0]:
            found.places[name] = 1, rooms.taken[1] + slot * shape.size
        else:
            found.places[name] = 0, row + (slot - free[0]) * shape.size
    return found


def _slots(epilogue: Epilogue, first: str) -> dict[str, int]:
    """The slot of each tile: the lowest that is free; an operand's is, where it is read for the last time."""
    ends = last_uses(epilogue.operations, [store.name for store in epilogue.stores])
    names = [first] if first else []
    names += [f"tensor{number}" for number in range(len(epilogue.tensors))]
    slots = {name: number for number, name in enumerate(names)}
    taken = set(slots.values())
    for at, operation in enumerate(epilogue.operations):
        for name in operation.operands:
            if name in slots and ends.get(name) == at:
                taken.discard(slots[name])
        if operation.kind == "rows":
            slots[operation.target] = next(n for n in range(len(taken) + 1) if n not in taken)
            if ends.get(operation.target, -1) > at:
                taken.add(slots[operation.target])
    return slots


def last_uses(operations: Sequence[Operation], stored: Sequence[str]) -> Mapping[str, int]:
    """The last operation that reads a name; those that are stored are read at the very end."""
    ends = {name: at for at, operation in enumerate(operations) for name in operation.operands}
    return ends | dict.fromkeys(stored, LAST)


BODY = 8
"""Operations of a body: with three operands each they have enough iterators."""
Dims = tuple[tuple[str, int], ...]


def shape_of(target: Target, tile: Mapping[str, int]) -> Shape:
    """A tile in rows."""
    return Shape(tile["y"] * tile["x"], tile["n"], target.row_bytes(target.scratch[0]) // 4)


def emit_epilogue(emitter: Emitter, target: Target, epilogue: Epilogue, loops: Sequence[str], block: Block) -> None:
    """The vector engine's group behind a box of tiles of sums."""
    source = Place(target.roles["output"], 0, _dense(block.tile))
    turns = [dim for dim in loops if dim != "k"]
    emitter.begin(target.vector[0].name, joined=True)
    _TileCode(emitter, target, epilogue, turns, block, {"sum": source}).emit()
    emitter.end()


def emit_vector(emitter: Emitter, target: Target, layer: VectorLayer, turns: Sequence[str], block: Block) -> None:
    """The group of a box of tiles of a layer without sums of products on the array."""
    emitter.begin(target.vector[0].name)
    places: dict[str, Place] = {}
    taken = 0
    if layer.window is not None:
        taken = _emit_window(emitter, target, layer.window, turns, block)
        places["sum"] = Place(target.scratch[1], 0, _dense(block.tile))
    _TileCode(emitter, target, layer.epilogue, turns, block, places, taken).emit()
    emitter.end()


def window_rows(window: Window | None, tile: Mapping[str, int]) -> int:
    """Rows of the first memory that a tile of a window takes: what is read, and constants of taps."""
    if window is None:
        return 0
    halo = window.y.input(tile["y"]) * window.x.input(tile["x"])
    taps = window.y.taps * window.x.taps if window.weight is not None else 0
    return (halo + taps) * tile["n"]


def rooms(target: Target, taken: int) -> Rooms:
    """The rows of both memories."""
    first, second = target.scratch
    return Rooms((target.rows(first), target.rows(second)), (taken, 0))


def _dense(tile: Mapping[str, int]) -> dict[str, int]:
    """Rows per step in a tile that lies without gaps."""
    return {"y": tile["x"] * tile["n"], "x": tile["n"], "n": 1}


def _walk(rows: Rows, turns: Sequence[str], block: Block) -> list[tuple[int, int]]:
    """Loops over the tiles of a box: one per dim that is cut."""
    return [(block.count[dim], block.tile[dim] * rows.pitch(dim)) for dim in turns]


def _emit_window(emitter: Emitter, target: Target, window: Window, turns: Sequence[str], block: Block) -> int:
    """Loads what the taps of a tile read and folds them into rows of the second memory; the rows of the first."""
    first, second = target.scratch
    tile, rows = block.tile, window.rows
    n, width = tile["n"], window.x.input(tile["x"])
    steps = {"y": window.y.stride, "x": window.x.stride}
    pitches = {dim: pitch * steps.get(dim, 1) for dim, pitch in rows.pitches.items()}
    moved = Rows(rows.address, pitches, rows.row_bytes)
    inside = [(window.y.input(tile["y"]), rows.pitch("y")), (width, rows.pitch("x")), (n, rows.pitch("n"))]
    start = Rows(moved.at(block.start), pitches, rows.row_bytes)
    walk = _walk(moved, turns, block)
    emit_transfer(emitter, target, LOAD, first, start, walk, inside, (0, window.width_bits))
    strides = {"y": window.y.stride * width * n, "x": window.x.stride * n, "n": 1, "ty": width * n, "tx": n}
    source, out = Place(first, 0, strides), Place(second, 0, _dense(tile))
    taps = [("ty", window.y.taps), ("tx", window.x.taps)]
    points = [("y", tile["y"]), ("x", tile["x"]), ("n", n)]
    used = window.y.input(tile["y"]) * width * n
    begin = source
    if not window.fold.startswith(("max", "min")):
        emit_scalar(emitter, target, ITERATORS - 1, 0)
        begin = Place(target.scalars, ITERATORS - 1, {})
    emit_nest(emitter, points, [(target.function("A"), out, begin, begin)])
    body = [(target.function(window.fold), out, out, source)]
    if window.weight is not None:
        used += _load_taps(emitter, target, window, turns, block, used)
        factor = Place(first, used - window.y.taps * window.x.taps * n, {"n": 1, "tx": n, "ty": window.x.taps * n})
        product = Place(second, tile["y"] * tile["x"] * n, _dense(tile))
        emit_scale(emitter, 0)
        body = [(target.function("A * B // pow(2, SHIFT)"), product, source, factor)]
        body += [(target.function(window.fold), out, out, product)]
    emit_nest(emitter, [*taps, *points], body)
    return window_rows(window, tile)


def _load_taps(emitter: Emitter, target: Target, window: Window, turns: Sequence[str], block: Block, row: int) -> int:
    """Loads a constant row for each tap and block of columns; how many rows."""
    weight, n = window.weight, block.tile["n"]
    assert weight is not None
    inside = [(window.y.taps, weight.pitch("ty")), (window.x.taps, weight.pitch("tx")), (n, weight.pitch("n"))]
    start = Rows(weight.at(block.start), weight.pitches, weight.row_bytes)
    memory = target.scratch[0]
    emit_transfer(emitter, target, LOAD, memory, start, _walk(weight, turns, block), inside, (row, 8))
    return window.y.taps * window.x.taps * n


class _TileCode:
    """Operations on one tile, whose names have places."""

    def __init__(
        self,
        emitter: Emitter,
        target: Target,
        epilogue: Epilogue,
        turns: Sequence[str],
        block: Block,
        places: Mapping[str, Place],
        taken: int = 0,
    ) -> None:
        self.emitter, self.target, self.epilogue = emitter, target, epilogue
        self.turns, self.block, self.tile = turns, block, block.tile
        self.shape = shape_of(target, block.tile)
        first = "sum" if places and places["sum"].memory == target.scratch[1] else ""
        found = allocate(epilogue, self.shape, rooms(target, taken), first)
        if found is None:
            memory = target.scratch[0]
            raise InfeasibleError(memory, self.shape.size, target.rows(memory), "rows", "smaller tiles")
        self.registers: Registers = found
        self.places = dict(places)
        self.scalars: dict[int, int] = {}

    def emit(self) -> None:
        """Loads, operations, stores."""
        for number, vector in enumerate(self.epilogue.vectors):
            self._load(f"vector{number}", vector, ("n",), 32)
        for number, (tensor, width) in enumerate(self.epilogue.tensors):
            self._load(f"tensor{number}", tensor, ("y", "x", "n"), width)
        for run in runs(self.epilogue.operations):
            match run[0].kind:
                case "fold":
                    self._fold(run[0])
                case "spread":
                    self._spread(run[0])
                case _:
                    self._body(run)
        for store in self.epilogue.stores:
            start = Rows(store.rows.at(self.block.start), store.rows.pitches, store.rows.row_bytes)
            inside = [(self.tile[dim], store.rows.pitch(dim)) for dim in ("y", "x", "n")]
            walk = _walk(store.rows, self.turns, self.block)
            place = self._stored(store.name)
            at = place.base, store.width_bits
            emit_transfer(self.emitter, self.target, STORE, place.memory, start, walk, inside, at)

    def _stored(self, name: str) -> Place:
        """Where a value is that leaves: sums have no way but over a memory of the vector engine."""
        place = self._place(name)
        if place.memory in self.target.scratch:
            return place
        copy = Place(self.target.scratch[1], 0, _dense(self.tile))
        emit_nest(self.emitter, self._loops(), [(self.target.function("A"), copy, place, place)])
        return copy

    def _load(self, name: str, rows: Rows, dims: Sequence[str], width: int) -> None:
        memory, row = self.registers.places[name]
        start = Rows(rows.at(self.block.start), rows.pitches, rows.row_bytes)
        inside = [(self.tile[dim], rows.pitch(dim)) for dim in dims]
        walk, name = _walk(rows, self.turns, self.block), self.target.scratch[memory]
        emit_transfer(self.emitter, self.target, LOAD, name, start, walk, inside, (row, width))

    def _place(self, name: str | int) -> Place:
        """Where an operand is; immediates are set when they are first used."""
        if isinstance(name, int):
            return Place(self.target.scalars, self.scalars[name], {})
        if name not in self.places:
            memory, row = self.registers.places[name]
            self.places[name] = Place(self.target.scratch[memory], row, self._moves(name))
        return self.places[name]

    def _moves(self, name: str) -> Mapping[str, int]:
        kinds = {operation.target: operation.kind for operation in self.epilogue.operations}
        if name.startswith("vector"):
            return {"n": 1}
        kind = kinds.get(name, "rows")
        if kind == "spread":
            return {"y": self.tile["x"], "x": 1}
        return _dense(self.tile) if kind == "rows" else {}

    def _loops(self) -> list[tuple[str, int]]:
        return [(dim, self.tile[dim]) for dim in ("y", "x", "n")]

    def _body(self, run: Sequence[Operation]) -> None:
        self._set({v for o in run for v in (o.a, o.b) if isinstance(v, int)})
        body: list[tuple[str, Place, Place, Place]] = []
        for operation in run:
            a = self._place(operation.a)
            b = self._place(operation.b) if operation.b is not None else a
            body.append((self.target.function(operation.text), self._place(operation.target), a, b))
        shifts = [operation.shift for operation in run if "SHIFT" in operation.text]
        if shifts:
            emit_scale(self.emitter, shifts[0])
        emit_nest(self.emitter, self._loops() if run[0].kind == "rows" else [], body)

    def _set(self, numbers: set[int]) -> None:
        """Makes immediates of numbers, where they are none yet."""
        if len(self.scalars) + len(numbers) >= ITERATORS:
            self.scalars.clear()
        for value in sorted(numbers - self.scalars.keys()):
            self.scalars[value] = len(self.scalars)
            emit_scalar(self.emitter, self.target, self.scalars[value], value)

    def _fold(self, operation: Operation) -> None:
        """Blocks into the first, rows and lanes exchanged, rows into one: lane i has what row i had."""
        memory, scratch, size = self.target.scratch[0], self.registers.scratch, self.shape
        function, copy = self.target.function(operation.text), self.target.function("A")
        source = self._place(operation.a)
        rows = Place(memory, scratch, {"y": self.tile["x"], "x": 1})
        loops: list[tuple[str, int]] = [("y", self.tile["y"]), ("x", self.tile["x"])]
        emit_nest(self.emitter, loops, [(copy, rows, source, source)])
        if size.blocks > 1:
            rest = Place(source.memory, source.base + 1, source.moves)
            emit_nest(self.emitter, [("n", size.blocks - 1), *loops], [(function, rows, rows, rest)])
        turned = scratch + size.rows
        emit_permute(
            self.emitter, RowWalk(memory, turned, [(size.lanes, 1)]), RowWalk(memory, scratch, [(size.rows, 1)]), True
        )
        column = self._place(operation.target)
        emit_nest(self.emitter, [], [(copy, column, Place(memory, turned, {}), Place(memory, turned, {}))])
        rest = Place(memory, turned + 1, {"i": 1})
        emit_nest(self.emitter, [("i", size.lanes - 1)], [(function, column, column, rest)])

    def _spread(self, operation: Operation) -> None:
        """Row i gets lane i of a column in all its lanes: the column is read once for each lane."""
        source, target = self._place(operation.a), self._place(operation.target)
        emit_permute(
            self.emitter,
            RowWalk(target.memory, target.base, [(self.shape.rows, 1)]),
            RowWalk(source.memory, source.base, [(self.shape.lanes, 0)]),
            True,
        )


def runs(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Operations in order, cut where loops or shifts of products differ, and into bodies."""
    found: list[list[Operation]] = []
    shift: int | None = None
    for operation in operations:
        own = operation.shift if "SHIFT" in operation.text else None
        same = found and found[-1][0].kind == operation.kind and operation.kind in ("rows", "column")
        if same and len(found[-1]) < BODY and (own is None or shift in (None, own)):
            found[-1].append(operation)
            shift = own if shift is None else shift
        else:
            found.append([operation])
            shift = own
    return found


def epilogue_cycles(target: Target, epilogue: Epilogue, shape: Shape) -> int:
    """Cycles of all operations on a tile."""
    found = runs(epilogue.operations)
    return sum(operation_cycles(target, o, shape) for run in found for o in run) + target.vector_latency * len(found)


def operation_cycles(target: Target, operation: Operation, shape: Shape) -> int:
    """Cycles of one operation on a tile, without what its body shares."""
    turned = max(shape.rows, shape.lanes)  # rows and lanes change places
    one = issue_cycles(target, operation.text) if operation.kind != "spread" else 0
    match operation.kind:
        case "fold":
            folds = (shape.blocks - 1) * shape.rows + shape.lanes - 1
            return shape.rows + 1 + folds * one + turned + 3 * target.vector_latency
        case "spread":
            return turned
        case "column":
            return one
        case _:
            return shape.size * one


def window_cycles(target: Target, window: Window, shape: Shape) -> int:
    """Cycles of folding a window."""
    taps = window.y.taps * window.x.taps
    each = issue_cycles(target, window.fold)
    each += issue_cycles(target, "A * B // pow(2, SHIFT)") if window.weight is not None else 0
    return shape.size * (1 + taps * each) + 2 * target.vector_latency


def issue_cycles(target: Target, text: str) -> int:
    """Cycles of the instruction that computes `text` on a row."""
    return int(evaluate_formula(target.vector_cycles[target.function(text)], {"ops": 1}))
