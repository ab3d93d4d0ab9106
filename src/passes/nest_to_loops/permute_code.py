"""Instructions that move rows between memories of the vector engine, or exchange rows and lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emitter import Emitter


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
