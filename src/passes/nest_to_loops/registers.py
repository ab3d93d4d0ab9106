"""Rows of the vector engine's two memories for what operations on a tile read and make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .places import Epilogue, Operation

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
