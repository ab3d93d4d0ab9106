"""Instructions of a sum of products: loops over tiles, transfers at the depth that they need, loops inside a tile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...search.tiles import SumProblem
from ...search.tiles.choice import Block
from .emitter import LOAD, READ, STORE, WRITE, Emitter, Target
from .places import Rows, SumLayer, pieces
from .row_code import emit_epilogue


@dataclass(frozen=True)
class _Move:
    """A transfer of a tile: memory, place, side, the dims that move it, its loops, and granules of a piece."""

    memory: str
    rows: Rows
    side: int
    steps: Mapping[str, int]  # bytes per tile, by dim
    loops: list[tuple[int, int]]
    size: int


@dataclass
class _Ids:
    """Loop ids of a group by level."""

    levels: Mapping[str, int]
    used: dict[str, int] = field(default_factory=dict[str, int])

    def next(self, level: str) -> int:
        """The next id of a level."""
        number = self.used.get(level, 0)
        self.used[level] = number + 1
        return self.levels[level] + number


def emit_sums(emitter: Emitter, target: Target, layer: SumLayer, order: tuple[str, ...], block: Block) -> None:
    """The groups of one box of equal tiles: the array's, and the vector engine's where there is an epilogue."""
    unit, engine = target.array
    emitter.begin(unit.name)
    moves = list(_moves(target, layer, block))
    for move in moves:
        emitter.emit("base", buffer=move.memory, program=0, value=move.rows.at(block.start))
    ids = _Ids({name: int(word) for name, word in engine.levels})
    loops = [dim for dim in order if block.count[dim] > 1]
    _emit_moves(emitter, [m for m in moves if _deepest(m, loops) < 0 and m.side == LOAD], ids)
    for depth, dim in enumerate(loops):
        number = ids.next("tile")
        emitter.emit("loop", id=number, last=block.count[dim] - 1)
        if dim == "k":
            emitter.emit("reduction", outer=1, id=depth)
        for move in moves:
            if move.steps.get(dim):
                emitter.emit("stride", buffer=move.memory, side=move.side, loop=number, value=move.steps[dim])
        _emit_moves(emitter, [m for m in moves if _deepest(m, loops) == depth and m.side == LOAD], ids)
    _emit_inner(emitter, target, layer, block, ids)
    _emit_moves(emitter, [m for m in moves if m.side == STORE], ids)
    emitter.end()
    if layer.epilogue is not None:
        emit_epilogue(emitter, target, layer.epilogue, loops, block)


def _deepest(move: _Move, loops: list[str]) -> int:
    return max((depth for depth, dim in enumerate(loops) if move.steps.get(dim)), default=-1)


def _emit_moves(emitter: Emitter, moves: list[_Move], ids: _Ids) -> None:
    for move in moves:
        for n, stride in move.loops:
            number = ids.next("transfer")
            emitter.emit("loop", id=number, last=n - 1)
            emitter.emit("stride", buffer=move.memory, side=move.side, loop=number, value=stride)
        last = ids.levels["transfer"] + max(ids.used.get("transfer", 0) - 1, 0)
        emitter.emit("transfer", side=move.side, program=0, buffer=move.memory, loop=last, size=move.size)


def _moves(target: Target, layer: SumLayer, block: Block):
    problem, tile, roles = layer.problem, block.tile, target.roles
    steps = {"batch": 1, "n": tile["n"], "k": tile["k"], "y": tile["y"], "x": tile["x"]}
    if layer.bias is not None:
        memory = roles["initial"]
        loops, size = _cut(target, memory, layer.bias, [("n", tile["n"])])
        yield _Move(memory, layer.bias, LOAD, {"n": tile["n"] * layer.bias.pitch("n")}, loops, size)
    memory, rows = roles["weight"], layer.weight
    taps = [("ty", problem.y.taps), ("tx", problem.x.taps)]
    loops, size = _cut(target, memory, rows, [*taps, ("k", tile["k"]), ("n", tile["n"])])
    if rows.pitch("column"):  # columns apart from each other
        every = [*taps, ("k", tile["k"]), ("n", tile["n"])]
        apart = [(n, rows.pitch(dim)) for dim, n in every if n > 1] or [(1, 0)]
        columns = rows.row_bytes // problem.input_bytes
        loops, size = [*apart, (columns, rows.pitch("column"))], problem.input_bytes // target.granule(memory)
    elif rows.row_bytes < target.row_bytes(memory):  # narrow blocks: each begins at a row
        loops, size = [(tile["k"], rows.pitch("k"))], rows.row_bytes // target.granule(memory)
    yield _Move(memory, rows, LOAD, {d: steps[d] * rows.pitch(d) for d in ("batch", "n", "k")}, loops, size)
    memory, rows = roles["input"], layer.input
    halo = [("y", problem.y.input(tile["y"])), ("x", problem.x.input(tile["x"]))]
    loops, size = _cut(target, memory, rows, [*halo, ("k", tile["k"])])
    walk = {"batch": 1, "k": tile["k"], "y": tile["y"] * problem.y.stride, "x": tile["x"] * problem.x.stride}
    start = Rows(rows.address, _stepped(rows, problem), rows.row_bytes)
    yield _Move(memory, start, LOAD, {d: n * rows.pitch(d) for d, n in walk.items()}, loops, size)
    if layer.epilogue is None:
        memory, rows = roles["output"], layer.output
        loops, size = _cut(target, memory, rows, [("y", tile["y"]), ("x", tile["x"]), ("n", tile["n"])])
        moved = {d: steps[d] * rows.pitch(d) for d in ("batch", "n", "y", "x")}
        yield _Move(memory, rows, STORE, moved, loops, size)


def _stepped(rows: Rows, problem: SumProblem) -> dict[str, int]:
    """Pitches by rows of the output, not of the input."""
    return {**rows.pitches, "y": rows.pitch("y") * problem.y.stride, "x": rows.pitch("x") * problem.x.stride}


def _cut(target: Target, memory: str, rows: Rows, dims: list[tuple[str, int]]) -> tuple[list[tuple[int, int]], int]:
    """Loops and granules of a tile's transfer."""
    loops = [(n, rows.pitch(dim)) for dim, n in dims]
    return pieces(loops, rows.row_bytes, target.granule(memory), memory)


def _emit_inner(emitter: Emitter, target: Target, layer: SumLayer, block: Block, ids: _Ids) -> None:
    """Loops inside a tile: an issue of the array for each block of columns, block of sums, tap and row."""
    problem, tile, roles = layer.problem, block.tile, target.roles
    width = problem.x.input(tile["x"])
    k, n = tile["k"], tile["n"]
    extents = {"n": n, "k": k, "ty": problem.y.taps, "tx": problem.x.taps, "y": tile["y"], "x": tile["x"]}
    reads = {
        roles["input"]: {
            "k": 1,
            "ty": width * k,
            "tx": k,
            "y": problem.y.stride * width * k,
            "x": problem.x.stride * k,
        },
        roles["weight"]: {"n": 1, "k": n, "tx": n * k, "ty": n * k * problem.x.taps},
        roles["output"]: {"n": 1, "x": n, "y": n * tile["x"]},
    }
    reads |= {roles["initial"]: {"n": 1}} if layer.bias is not None else {}
    for number, (dim, extent) in enumerate((d, e) for d, e in extents.items() if e > 1):
        loop = ids.next("inner")
        emitter.emit("loop", id=loop, last=extent - 1)
        if dim in ("k", "ty", "tx"):
            emitter.emit("reduction", outer=0, id=number)
        for memory, strides in reads.items():
            emitter.emit("stride", buffer=memory, side=READ, loop=loop, value=strides.get(dim, 0))
        emitter.emit("stride", buffer=roles["output"], side=WRITE, loop=loop, value=reads[roles["output"]].get(dim, 0))
