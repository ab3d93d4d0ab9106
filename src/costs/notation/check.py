"""What makes a schedule of DRAM legal; each rule raises an error that tells where it is broken and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ...algebra.allocation import LiveRange, Parts, require_bytes, spans_of
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
            found[number] = LiveRange(*life, tensor.size_bytes, slabs_of(parsed, number))
    return found


def slabs_of(parsed: Parsed, number: int) -> int:
    """Channels of a feature map, output channels of weights."""
    tensor, network = parsed.tensors[number], parsed.network
    if tensor.kind == INPUT and tensor.source < 0:
        return network.inputs[-1 - tensor.source][1].channels
    return network.layers[tensor.source if tensor.kind == INPUT else tensor.layer].shape.channels


def check_addresses(
    parsed: Parsed, moves: Sequence[Move], parts: Mapping[int, Parts], buffer_bytes: int, align_bytes: int
) -> None:
    """Each tensor at multiples of `align_bytes` within the buffer, and no byte held by two at the same time.

    Raises TilewrightError (kind `schedule`), InfeasibleError for the capacity.
    """
    items = live_ranges(parsed, moves)
    for number, item in items.items():
        subject, given = parsed.describe(number), parts.get(number)
        if not given:
            raise TilewrightError("schedule", subject, "an address", "none", "allocate with dram-allocate")
        firsts = [part.first for part in given] + [item.slabs]
        if firsts[0] != 0 or any(after <= before for before, after in pairwise(firsts)):
            raise TilewrightError("schedule", subject, f"parts that begin at 0 and before {item.slabs}", str(firsts))
        for low, high in spans_of(item, given):
            if low < 0 or low % align_bytes:
                raise TilewrightError("schedule", subject, f"addresses that {align_bytes} divides", str(low))
            lever = f"{high - buffer_bytes} bytes more of buffer would do"
            require_bytes("global buffer", high, buffer_bytes, subject, lever)
    _check_disjoint(parsed, items, parts)


def _check_disjoint(parsed: Parsed, items: Mapping[int, LiveRange], parts: Mapping[int, Parts]) -> None:
    """As tensors begin to live, each against all that are alive."""
    alive: list[tuple[int, int, int]] = []
    for number in sorted(items, key=lambda number: (items[number].start, number)):
        item = items[number]
        alive = [entry for entry in alive if items[entry[2]].end > item.start]
        for low, high in spans_of(item, parts[number]):
            for begin, end, other in alive:
                if begin < high and low < end:
                    shared = min(end, high) - max(begin, low)
                    raise TilewrightError(
                        "schedule",
                        f"{parsed.describe(other)} and {parsed.describe(number)}",
                        f"no shared bytes while both live, from {where(parsed, item.start)} on",
                        f"{shared} bytes shared from {max(begin, low)} on",
                        f"move one by {shared} bytes",
                    )
            if high > low:
                alive.append((low, high, number))


def _refuse(parsed: Parsed, move: Move, expected: str, found: str) -> TilewrightError:
    return TilewrightError("schedule", parsed.describe(move.tensor), expected, found)
