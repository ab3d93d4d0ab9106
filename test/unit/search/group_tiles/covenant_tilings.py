"""Which tilings are valid: Covenant's algorithm 1 (section 4), by enumeration and by Z3.

A tiling gives each loop a factor of its iterations, the step of the loop over tiles.  What a transfer moves is the
product of the factors of the loops in its offsets; it must be a multiple of what its source's memory can address, and
all that moves into a memory must fit there together.  Units: bits, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from tilewright.algebra.factors import divisors_of
from tilewright.costs.mapping.matching import matches
from tilewright.costs.mapping.place import memory_path, offchip, place
from tilewright.costs.mapping.problem import Group
from tilewright.errors import TilewrightError
from tilewright.machine import Machine

MAX_TILINGS = 1 << 20
Tiling = tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """A transfer: loops that its offsets use, bits of an element, bits that its source addresses, its destination."""

    loops: tuple[str, ...]
    element_bits: int
    source_bits: int
    destination: str


@dataclass(frozen=True)
class TilingProblem:
    """Loops with their iterations, transfers in order, and the bits that each memory holds."""

    loops: tuple[tuple[str, int], ...]
    moves: tuple[Move, ...]
    capacity_bits: Mapping[str, int]

    def factors(self) -> list[tuple[int, ...]]:
        """The factors of each loop's iterations, ascending; `TilewrightError` where there are too many combinations."""
        found = [divisors_of(extent) for _, extent in self.loops]
        if (count := prod(map(len, found))) > MAX_TILINGS:
            raise TilewrightError(
                "unsupported", "tilings", f"at most {MAX_TILINGS} combinations of factors", f"{count}"
            )
        return found

    def is_valid(self, tiling: Tiling) -> bool:
        """The body of the algorithm's loop over permutations."""
        factor = dict(zip((name for name, _ in self.loops), tiling, strict=True))
        stored = dict.fromkeys(self.capacity_bits, 0)
        for move in self.moves:
            size = move.element_bits * prod(factor[loop] for loop in move.loops)
            stored[move.destination] += size
            if size % move.source_bits or stored[move.destination] > self.capacity_bits[move.destination]:
                return False
        return True


def valid_tilings(problem: TilingProblem) -> Iterator[Tiling]:
    """All valid tilings, the ones with the fewest tiles in the outermost loops first (algorithm 1)."""
    for tiling in product(*(reversed(row) for row in problem.factors())):
        if problem.is_valid(tiling):
            yield tiling


def valid_tilings_by_z3(problem: TilingProblem) -> set[Tiling]:
    """The same set as models of one formula, each ruled out once found."""
    import z3

    rows = problem.factors()
    names = [name for name, _ in problem.loops]
    factor = {name: z3.Int(name) for name in names}
    solver: Any = z3.Solver()
    for name, row in zip(names, rows, strict=True):
        solver.add(z3.Or([factor[name] == n for n in row]))
    stored: dict[str, Any] = dict.fromkeys(problem.capacity_bits, z3.IntVal(0))
    for move in problem.moves:
        size: Any = z3.IntVal(move.element_bits)
        for loop in move.loops:
            size = size * factor[loop]
        solver.add(size % move.source_bits == 0)
        stored[move.destination] = stored[move.destination] + size
    for memory, size in stored.items():
        solver.add(size <= problem.capacity_bits[memory])
    found: set[Tiling] = set()
    while (answer := solver.check()) == z3.sat:
        model = solver.model()
        tiling = tuple(model.eval(factor[name], model_completion=True).as_long() for name in names)
        found.add(tiling)
        solver.add(z3.Or([factor[name] != n for name, n in zip(names, tiling, strict=True)]))
    if answer != z3.unsat:
        raise TilewrightError("unproven", "tilings", "an answer of the solver", f"{solver.reason_unknown()}")
    return found


def tiling_problem(group: Group, machine: Machine) -> TilingProblem:
    """The problem of a group of one kernel: each operand moves from off chip to its capability's memory, or back.

    The capability is the first that can run the kernel.  An operand's offsets are the dims in its access; a window
    counts as the product of its dims, as in the algorithm.
    """
    if len(group.kernels) != 1:
        raise TilewrightError("unsupported", "tilings", "a group of one kernel", f"{len(group.kernels)}")
    kernel = group.kernels[0]
    memories = dict(place(machine, matches(kernel, machine)[0]).memories)
    widths = {memory.name: memory.data_width_bits for memory in machine.memories}
    outside = offchip(machine).name
    moves: list[Move] = []
    for use in kernel.uses:
        loops = tuple(dim for dim in kernel.dims if any(dim in form.names for form in use.forms))
        bits = 8 * group.by_name[use.buffer].element_bytes
        for link in memory_path(machine, outside, memories[use.tensor]):
            moves.append(Move(loops, bits, widths[link.src], link.dst))
    inside = {memory.name: 8 * memory.capacity_bytes for memory in machine.memories if not memory.offchip}
    return TilingProblem(tuple((dim, group.extents[dim]) for dim in kernel.dims), tuple(moves), inside)
