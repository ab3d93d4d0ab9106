"""Codelets run step by step: loops, and the copy, window and address that each local stands for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from ...algebra.affine import Range, form_low, form_span
from ...errors import TilewrightError
from .tree import Codelet, Define, Fill, Issue, Loop, Node, Part, Span, Transfer


@dataclass
class Slots:
    """Equal parts of a memory.  What is loaded replaces what was used least recently.

    `held` has the number of the part that holds each key, the one used last at the end.
    """

    count: int
    held: dict[object, int] = field(default_factory=dict[object, int])

    def use(self, key: object) -> tuple[int, bool]:
        """The part that holds `key` from now on, and whether it did already."""
        is_there = key in self.held
        oldest = key if is_there else next(iter(self.held), None)
        part = self.held.pop(oldest) if is_there or len(self.held) == self.count else len(self.held)
        self.held[key] = part
        return part, is_there


MAX_STEPS = 1 << 22
"""Nodes of codelets that are run at most, each iteration of each loop counted."""


def check_steps(codelet: Codelet, steps: int) -> None:
    """Raise `TilewrightError` (kind `unsupported`) where a program up to this codelet has too many."""
    if steps > MAX_STEPS:
        expected = f"at most {MAX_STEPS} steps of all loops"
        raise TilewrightError("unsupported", f"codelet @{codelet.name}", expected, "more", "use larger tiles")


@dataclass
class State:
    """Where a codelet stands: ranges of its dims, and the address and origin that each surrogate stands for.

    `runs` counts how often each local was defined, and each loop that turns back was run; `present` are the locals that
    need no loading.
    """

    ranges: dict[str, Range]
    addresses: list[int]
    origins: list[tuple[int, ...]]
    runs: dict[int, int] = field(default_factory=dict[int, int])
    slots: dict[int, Slots] = field(default_factory=dict[int, Slots])
    present: set[int] = field(default_factory=set[int])

    @classmethod
    def of(cls, codelet: Codelet) -> Self:
        """The beginning of a codelet."""
        return cls(
            {dim: Range(0, extent) for dim, extent in codelet.dims},
            [s.addresses[0] for s in codelet.surrogates],
            [(0,) * len(s.shape) for s in codelet.surrogates],
        )

    def count(self, key: int) -> int:
        """How often this was asked before."""
        number = self.runs.get(key, 0)
        self.runs[key] = number + 1
        return number


S = TypeVar("S", bound=State)


class Runner(Generic[S]):
    """Runs codelets; what transfers, fills and computes become is up to a machine's control model."""

    def __init__(self) -> None:
        self.steps = 0

    def transfer(self, codelet: Codelet, node: Transfer, state: S) -> None:
        """A transfer whose data is not there yet."""
        raise NotImplementedError

    def fill(self, codelet: Codelet, node: Fill, state: S) -> None:
        """A surrogate that is set to a number."""
        raise NotImplementedError

    def issue(self, codelet: Codelet, node: Issue, state: S) -> None:
        """A compute."""
        raise NotImplementedError

    def body(self, codelet: Codelet, body: Sequence[Node], state: S) -> None:
        """Nodes in order."""
        for node in body:
            self.steps += 1
            check_steps(codelet, self.steps)
            match node:
                case Loop():
                    self._loop(codelet, node, state)
                case Part(_, start):
                    self._within(codelet, node, Range(start, node.step), state)
                case Span(_, form):
                    reach = Range(form_low(form, state.ranges), form_span(form, state.ranges) + 1)
                    self._within(codelet, node, reach, state)
                case Fill():
                    self.fill(codelet, node, state)
                case Define(local):
                    _define(codelet, local, state)
                case Transfer():
                    if node.destination not in state.present:
                        self.transfer(codelet, node, state)
                case Issue():
                    self.issue(codelet, node, state)

    def _within(self, codelet: Codelet, node: Part | Span, part: Range, state: S) -> None:
        whole = state.ranges[node.dim]
        state.ranges[node.dim] = part
        self.body(codelet, node.body, state)
        state.ranges[node.dim] = whole

    def _loop(self, codelet: Codelet, loop: Loop, state: S) -> None:
        whole = state.ranges[loop.dim]
        end = whole.start + whole.extent
        pieces = [Range(start, min(loop.step, end - start)) for start in range(whole.start, end, loop.step)]
        if loop.alternating and state.count(id(loop)) % 2:
            pieces.reverse()
        if loop.ahead:
            self._ahead(codelet, loop, pieces, state)
        else:
            for piece in pieces:
                state.ranges[loop.dim] = piece
                self.body(codelet, loop.body, state)
        state.ranges[loop.dim] = whole

    def _ahead(self, codelet: Codelet, loop: Loop, pieces: Sequence[Range], state: S) -> None:
        """The loop with the head of each piece before the rest of the piece before it."""

        def head(piece: Range) -> tuple[list[int], list[tuple[int, ...]]]:
            state.ranges[loop.dim] = piece
            self.body(codelet, loop.body[: loop.ahead], state)
            return state.addresses.copy(), state.origins.copy()

        following = head(pieces[0])
        for piece, after in zip(pieces, (*pieces[1:], None), strict=True):
            here = following
            if after is not None:
                following = head(after)
            state.ranges[loop.dim] = piece
            state.addresses[:], state.origins[:] = here
            self.body(codelet, loop.body[loop.ahead :], state)


def _define(codelet: Codelet, local: int, state: State) -> None:
    """The local's next copy, or the one that has its window."""
    surrogate = codelet.surrogates[local]
    assert surrogate.axes is not None
    state.origins[local] = tuple(axis.low(state.ranges) for axis in surrogate.axes)
    if surrogate.stays:
        slots = state.slots.setdefault(local, Slots(len(surrogate.addresses)))
        window = state.origins[local], tuple(axis.count(state.ranges) for axis in surrogate.axes)
        copy, is_there = slots.use(window)
        (state.present.add if is_there else state.present.discard)(local)
    else:
        copy = state.count(local)
    state.addresses[local] = surrogate.addresses[copy % len(surrogate.addresses)]
