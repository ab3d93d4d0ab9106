"""Locals of neighbours lie apart where there is room for that, though elsewhere there is none."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import test
from xdsl.dialects.builtin import IntegerType, Signedness

from tilewright.dialects.codelet import LocalOp, TensorOp
from tilewright.dialects.codelet_attributes import SurrogateType
from tilewright.dialects.types import Role
from tilewright.frontends.acg import load_target
from tilewright.machine import Memory
from tilewright.passes.codelet.lives import Lives, Scratch
from tilewright.passes.codelet.placement import place

SPAD = next(memory for memory in load_target("tiny:SPAD.depth=64").memories if not memory.offchip)
UNIT = SPAD.capacity_bytes // 8


def bytes_type(size: int) -> SurrogateType:
    return SurrogateType.get([size], IntegerType(8, Signedness.SIGNED), SPAD.name)


class GivenLives(Lives):
    """Tensors with the operations that they live in, and the locals of each operation's codelets."""

    def __init__(self, tensors: dict[TensorOp, tuple[int, int]], locals_: Sequence[Sequence[LocalOp]]) -> None:
        self.lives, self.locals_ = tensors, locals_
        self.moments = [test.TestOp() for _ in locals_]

    def scratch(self, memory: Memory, turns: int) -> list[Scratch]:
        return [
            Scratch({local: (n % turns * 2 * UNIT,) for n, local in enumerate(own)}, 2 * UNIT * min(turns, len(own)))
            for own in self.locals_
        ]


def test_locals_lie_apart_where_there_is_room():
    # operations 0 and 1 have 5 of 8 units in a tensor and 2 in locals, so that those of both do not fit together
    locals_ = [[LocalOp(["X[i]"], bytes_type(2 * UNIT), 1) for _ in range(count)] for count in (1, 1, 1, 2)]
    lives = GivenLives({TensorOp("t", Role.TEMP, bytes_type(5 * UNIT)): (0, 1)}, locals_)
    found = place(lives, SPAD, {}).placement
    assert not found.missing_bytes
    addresses = [found.locals_[local][0] for own in locals_ for local in own]
    assert addresses[0] == addresses[1]
    assert len(set(addresses[2:])) == 3


def test_locals_of_one_operation_take_turns_where_not_all_fit():
    # of six codelets' locals, 2 of 8 units each, four would fit beside nothing, and three beside a tensor of 2
    locals_ = [[LocalOp(["X[i]"], bytes_type(2 * UNIT), 1) for _ in range(6)]]
    lives = GivenLives({TensorOp("t", Role.TEMP, bytes_type(2 * UNIT)): (0, 0)}, locals_)
    found = place(lives, SPAD, {}).placement
    assert not found.missing_bytes
    addresses = [found.locals_[local][0] for local in locals_[0]]
    assert addresses[:3] == addresses[3:]
    assert len(set(addresses)) == 3
