"""What makes a schedule of DRAM legal; each rule raises an error that tells where it is broken and by how much."""

from collections.abc import Sequence

from ...algebra.allocation import LiveRange, require_bytes
from ...errors import TilewrightError
from .values import INPUT, OUTPUT, Move, Parsed


def check_schedule(parsed: Parsed, moves: Sequence[Move]) -> None:
    """Every DRAM tensor once, lives that cover uses, an order that respects dependences and can be executed.

    Raises TilewrightError (kind `schedule`).
    """
    _check_complete(parsed, moves)
    for move in moves:
        _check_life(parsed, move)
    _check_dependences(parsed, moves)
    _check_progress(parsed, moves)


def _check_complete(parsed: Parsed, moves: Sequence[Move]) -> None:
    seen: set[int] = set()
    for move in moves:
        if not parsed.tensors[move.tensor].moves:
            raise _refuse(parsed, move, "a tensor that passes through DRAM", "one that stays on chip")
        if move.tensor in seen:
            raise _refuse(parsed, move, "one transfer", "two")
        seen.add(move.tensor)
    for number, tensor in enumerate(parsed.tensors):
        if tensor.moves and number not in seen:
            raise TilewrightError("schedule", parsed.describe(number), "one transfer", "none")


def _check_life(parsed: Parsed, move: Move) -> None:
    tensor, count = parsed.tensors[move.tensor], len(parsed.tiles)
    if tensor.kind == OUTPUT:
        if move.start != tensor.first:
            raise _refuse(parsed, move, f"a life from {tensor.first}, when it is made", f"from {move.start}")
        if not tensor.last <= move.end <= count:
            raise _refuse(parsed, move, f"a life until {tensor.last} to {count}", f"until {move.end}")
        return
    if not -1 <= move.start <= tensor.first:
        raise _refuse(parsed, move, f"a life from -1 to {tensor.first}, its first use", f"from {move.start}")
    if move.end != tensor.last:
        raise _refuse(parsed, move, f"a life until {tensor.last}, after its last use", f"until {move.end}")


def _check_dependences(parsed: Parsed, moves: Sequence[Move]) -> None:
    """A layer's results are stored before any of them is loaded."""
    left: dict[int, int] = {}
    for tensor in parsed.tensors:
        if tensor.kind == OUTPUT and tensor.moves:
            left[tensor.layer] = left.get(tensor.layer, 0) + 1
    for move in moves:
        tensor = parsed.tensors[move.tensor]
        if tensor.kind == OUTPUT:
            left[tensor.layer] -= 1
        elif tensor.kind == INPUT and tensor.source >= 0 and left[tensor.source]:
            name = parsed.network.layers[tensor.source].name
            raise _refuse(parsed, move, f"all stores of {name} before it in the order", f"{left[tensor.source]} after")


def _check_progress(parsed: Parsed, moves: Sequence[Move]) -> None:
    """Nothing in the order waits for a tile that waits for something later in the order.

    Also, what a load's space held before has been stored by then.
    """
    never = len(parsed.tiles) + 1
    soonest, room = (never, -1), (never, -1)
    for move in reversed(moves):
        tensor = parsed.tensors[move.tensor]
        store = tensor.kind == OUTPUT
        # A store waits for its tile's end; a load for the tile before its life, and for the room that stores leave.
        begins, (limit, which) = (tensor.first + 1, soonest) if store else (move.start, min(soonest, room))
        if begins > limit:
            raise _refuse(
                parsed,
                move,
                f"a place in the order after {parsed.describe(which)}, which must be complete by {limit}",
                f"one before it, though it may begin at {begins} only",
            )
        soonest = min(soonest, (deadline(parsed, move), move.tensor))
        if store:
            room = min(room, (move.end - 1, move.tensor))


def deadline(parsed: Parsed, move: Move) -> int:
    """The position whose tile waits for the transfer."""
    tensor = parsed.tensors[move.tensor]
    return move.end if tensor.kind == OUTPUT else tensor.first


def check_capacity(parsed: Parsed, moves: Sequence[Move], buffer_bytes: int) -> list[int]:
    """Bytes in use at positions -1, 0, ...; InfeasibleError where that is more than `buffer_bytes`."""
    usage = [0] * (len(parsed.tiles) + 2)
    for item in live_ranges(parsed, moves).values():
        usage[item.start + 1] += item.size_bytes
        usage[item.end + 1] -= item.size_bytes
    for place in range(1, len(usage)):
        usage[place] += usage[place - 1]
    peak = max(usage)
    lever = f"{peak - buffer_bytes} bytes more of buffer would do, or shorter lives there"
    require_bytes("global buffer", peak, buffer_bytes, where(parsed, usage.index(peak) - 1), lever)
    return usage[:-1]


def where(parsed: Parsed, position: int) -> str:
    """A position in words."""
    if position < 0:
        return "before the first tile"
    if position >= len(parsed.tiles):
        return "after the last tile"
    tile = parsed.tiles[position]
    return f"position {position} (tile {tile.tile} of {parsed.network.layers[tile.layer].name})"


def live_ranges(parsed: Parsed, moves: Sequence[Move]) -> dict[int, LiveRange]:
    """What takes room in the buffer, by number of the tensor: those that move, and results that stay."""
    lives = {move.tensor: (move.start, move.end) for move in moves}
    found: dict[int, LiveRange] = {}
    for number, tensor in enumerate(parsed.tensors):
        life = (tensor.first, tensor.last) if not tensor.moves else lives.get(number)
        if life is not None:
            found[number] = LiveRange(*life, tensor.size_bytes)
    return found


def _refuse(parsed: Parsed, move: Move, expected: str, found: str) -> TilewrightError:
    return TilewrightError("schedule", parsed.describe(move.tensor), expected, found)
