"""When each tile and each transfer runs: tiles in order on the cores, transfers in order on one channel.

J. Cai et al., "SoMa", HPCA 2025, section V-D.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import TilewrightError
from .values import OUTPUT, Move, Parsed, Timed


@dataclass(frozen=True)
class Times:
    """Cycles at which tiles begin, by position, and transfers, in their order."""

    latency_cycles: int
    tile_begin: tuple[int, ...]
    move_begin: tuple[int, ...]


def transfer_cycles(parsed: Parsed, bandwidth: int, latency: int) -> tuple[int, ...]:
    """Cycles of each tensor's transfer at `bandwidth` bytes per cycle after `latency` cycles."""
    return tuple(latency - (-tensor.size_bytes // bandwidth) for tensor in parsed.tensors)


def deadline(parsed: Parsed, move: Move) -> int:
    """The position whose tile waits for the transfer."""
    tensor = parsed.tensors[move.tensor]
    return move.end if tensor.kind == OUTPUT else tensor.first


def required(parsed: Parsed, moves: Sequence[Move]) -> list[int]:
    """How many transfers must be complete before each position, and at the end."""
    count = len(parsed.tiles)
    found = [0] * (count + 1)
    for place, move in enumerate(moves):
        found[deadline(parsed, move)] = place + 1
    for position in range(count):
        found[position + 1] = max(found[position], found[position + 1])
    return found


def times_of(parsed: Parsed, moves: Sequence[Move], timed: Timed, begin_cycles: int = 0) -> Times:
    """The times of a schedule whose first transfer begins at `begin_cycles`.

    TilewrightError (kind `schedule`) where a tile can never begin.
    """
    needed = required(parsed, moves)
    begins: list[int] = []
    tile_begin: list[int] = []
    tile_end: list[int] = []
    channel, now = begin_cycles, 0

    def begin_until(count: int, position: int) -> None:
        nonlocal channel
        while len(begins) < count:
            move = moves[len(begins)]
            tensor = parsed.tensors[move.tensor]
            after = tensor.first if tensor.kind == OUTPUT else move.start - 1
            if after >= position:
                raise _never(parsed, move, position)
            begins.append(max(channel, tile_end[after] if after >= 0 else 0))
            channel = begins[-1] + timed.transfers[move.tensor]

    for position, cycles in enumerate(timed.tiles):
        if needed[position] > len(begins):
            begin_until(needed[position], position)
            now = max(now, channel)
        tile_begin.append(now)
        now += cycles
        tile_end.append(now)
    begin_until(len(moves), len(parsed.tiles))
    return Times(max(now, channel), tuple(tile_begin), tuple(begins))


def _never(parsed: Parsed, move: Move, position: int) -> TilewrightError:
    tile = parsed.tiles[position] if position < len(parsed.tiles) else None
    what = "the end" if tile is None else f"tile {tile.tile} of {parsed.network.layers[tile.layer].name}"
    return TilewrightError(
        "schedule",
        parsed.describe(move.tensor),
        f"a transfer that may begin before {what} waits for it",
        "one that may begin only after",
        "change its life or its place in the order",
    )
