"""When tensors and locals of a program are on chip: lives that count in its operations.

An operation of the program, a codelet or a fused group, is a moment.  A tensor on chip lives from the first operation
that touches it to the last; the locals of an operation's codelets live with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest

from xdsl.ir import Operation, SSAValue

from ...algebra.allocation import LiveRange, align_up
from ...dialects.codelet import CodeletOp, LocalOp, LoopOp, ProgramOp, TensorOp, TransferOp
from ...dialects.codelet_fused import FillOp, FusedOp
from ...dialects.codelet_rules import surrogate
from ...machine import Machine, Memory
from ...remembered import remembered
from ..codelet_to_queues.locals import place_locals
from ..codelet_to_queues.read import Tensors, locals_of, read_codelet, read_tensors, tensor_bytes


@dataclass(frozen=True)
class Load:
    """A codelet that only loads what nothing writes, or sets borders, once, in operation `moment`.

    It fills the tensors `targets`; `dims` are those of samples and rows, of which its `turn` says what they range over.
    """

    codelet: CodeletOp
    moment: int
    targets: tuple[TensorOp, ...]
    dims: tuple[str, str]
    turn: tuple[int, int, int]


@dataclass(frozen=True)
class Scratch:
    """Locals of a codelet, or of all of an operation, in one memory: offsets of their copies, and the bytes of all."""

    offsets: Mapping[LocalOp, tuple[int, ...]]
    size_bytes: int


@dataclass
class Lives:
    """A program's operations in order, and what is on chip at each of them."""

    machine: Machine
    program: ProgramOp
    tensors: Tensors = field(init=False)
    moments: list[Operation] = field(init=False)
    lives: dict[TensorOp, tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.tensors = read_tensors(self.program)
        self.moments = [op for op in self.program.body.block.ops if isinstance(op, CodeletOp | FusedOp)]
        self.lives = {}
        for moment, op in enumerate(self.moments):
            for codelet in codelets_of(op):
                for value in codelet.tensors:
                    root = self.tensors.roots[value]
                    self.lives[root] = self.lives.get(root, (moment, moment))[0], moment

    @remembered
    def open_tensors(self, memory: Memory) -> list[TensorOp]:
        """Tensors of a memory on chip without an address."""
        return [op for op in self.lives if op.address is None and surrogate(op.result).memory == memory.name]

    @remembered
    def size_bytes(self, op: TensorOp) -> int:
        """Bytes of what is kept of a tensor."""
        return tensor_bytes(op)

    @remembered
    def loads(self) -> list[Load]:
        """Codelets that only load, once, into tensors of their own, in order."""
        return [
            load
            for moment, op in enumerate(self.moments)
            if isinstance(op, FusedOp)
            for number, codelet in enumerate(codelets_of(op))
            if (load := self._load(moment, op, number, codelet)) is not None
        ]

    def _load(self, moment: int, op: FusedOp, number: int, codelet: CodeletOp) -> Load | None:
        targets = self._loaded(codelet)
        turns = [turn for turn in op.turns if turn[0] == number] if targets else []
        if len(turns) != 1 or (op.columns is not None and op.columns.data[number].data):
            return None
        dims = op.samples.data[number].data, op.rows.data[number].data
        sample, row, rows = turns[0][1:4]
        return Load(codelet, moment, tuple(targets), dims, (sample, row, rows))

    def _loaded(self, codelet: CodeletOp) -> list[TensorOp]:
        """What a codelet fills with what nothing writes, or numbers; nothing where it does something else."""
        inside: dict[SSAValue, SSAValue] = dict(zip(codelet.body.block.args, codelet.tensors, strict=True))
        found: list[TensorOp] = []
        for op in codelet.walk():
            if op is codelet or isinstance(op, LoopOp):
                continue
            if isinstance(op, FillOp) and op.target in inside:
                found.append(self.tensors.roots[inside[op.target]])
                continue
            if not isinstance(op, TransferOp) or op.source not in inside or op.destination not in inside:
                return []
            target = self.tensors.roots[inside[op.destination]]
            if not self.tensors.given(inside[op.source]) or target.address is not None:
                return []
            found.append(target)
        return found

    @remembered
    def stored(self) -> frozenset[TensorOp]:
        """Tensors on chip that some codelet stores off chip."""
        found: set[TensorOp] = set()
        for codelet in (codelet for op in self.moments for codelet in codelets_of(op)):
            stores = (op for op in codelet.walk() if isinstance(op, TransferOp))
            sources = {op.source for op in stores if surrogate(op.destination).memory in self.machine.offchip}
            values = zip(codelet.body.block.args, codelet.tensors, strict=True)
            found |= {self.tensors.roots[value] for inside, value in values if inside in sources}
        return frozenset(found)

    @remembered
    def scratch(self, memory: Memory, turns: int) -> list[Scratch]:
        """The locals of each operation; those of its codelets take `turns` in so many sets of bytes."""
        found: list[Scratch] = []
        for op in self.moments:
            own = [self._scratch(codelet, memory) for codelet in codelets_of(op)]
            own = [item for item in own if item.size_bytes]
            sizes = [
                max((item.size_bytes for item in own[turn::turns]), default=0) for turn in range(min(turns, len(own)))
            ]
            bases = [0, *accumulate(align_up(size, memory.align_bytes) for size in sizes)]
            offsets = {
                local: tuple(bases[number % turns] + at for at in slots)
                for number, item in enumerate(own)
                for local, slots in item.offsets.items()
            }
            found.append(Scratch(offsets, bases[-1]))
        return found

    @remembered
    def used_bytes(self, memory: Memory) -> list[int]:
        """Bytes of a memory that are in use at each operation, the locals of the next one included."""
        own = [item.size_bytes for item in self.scratch(memory, 1)]
        used = [size + following for size, following in zip_longest(own, own[1:], fillvalue=0)]
        for op in self.open_tensors(memory):
            (first, last), size = self.lives[op], self.size_bytes(op)
            for moment in range(first, last + 1):
                used[moment] += size
        return used

    @remembered
    def _scratch(self, op: CodeletOp, memory: Memory) -> Scratch:
        """The locals of a codelet."""
        if not any(isinstance(inner, LocalOp) for inner in op.walk()):
            return Scratch({}, 0)
        codelet = read_codelet(op, self.tensors, allocated=False)
        placed = place_locals(codelet, memory.name, memory.capacity_bytes, memory.align_bytes)
        if isinstance(placed, int):
            return Scratch({}, placed)
        locals_ = locals_of(op, codelet)
        ends = (slots[-1] + codelet.surrogates[index].size_bytes for index, slots in placed.items())
        return Scratch({locals_[index]: slots for index, slots in placed.items()}, max(ends, default=0))


def codelets_of(op: Operation) -> list[CodeletOp]:
    """The codelets of an operation of a program."""
    inner: Sequence[Operation] = op.codelets if isinstance(op, FusedOp) else [op]
    return [codelet for codelet in inner if isinstance(codelet, CodeletOp)]


def life_of(lives: Lives, op: TensorOp, early: Mapping[TensorOp, int], slack: int) -> LiveRange:
    """When a tensor has its bytes, with `slack` operations after its last use."""
    first, last = lives.lives[op]
    return LiveRange(min(first, early.get(op, first)), last + 1 + slack, lives.size_bytes(op))
