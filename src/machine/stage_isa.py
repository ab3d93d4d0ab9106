"""The instructions of a machine of stages by what they do, and programs of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import TilewrightError
from .model import Machine, Memory, Mnemonic
from .stages import CONSTANT, ELEMENTWISE, PRODUCTS, TokenQueue, kind_of, row_bytes


@dataclass
class Instruction:
    """A mnemonic and the values of its fields."""

    mnemonic: Mnemonic
    fields: dict[str, int]


class StageIsa:
    """What code generation asks of a machine; `TilewrightError` (kind `target`) where it lacks an instruction.

    `rows`, `blocks` and `sums` are the memories of a product's factors and of its result, `results` the shadow of the
    last; `lanes` and `depth` the rows and columns of a block.
    """

    def __init__(self, machine: Machine) -> None:
        if machine.stages is None:
            raise TilewrightError("target", machine.name, "control model `stages`", f"`{machine.control}`")
        self.machine, self.stages = machine, machine.stages
        self.products, self.clear = self._walk(PRODUCTS, 3), self._walk(CONSTANT, 1)
        self.immediate, self.vectors = self._walk(ELEMENTWISE, 1), self._walk(ELEMENTWISE, 2)
        capability = machine.executed(self.products)
        assert capability is not None
        self.lanes, self.depth = (dim.limit for dim in capability.dims)
        target, rows, blocks = (self._memory(self.products, name) for name in capability.operands)
        self.sums, self.rows, self.blocks = target, rows, blocks
        self.micro = machine.memory_by_name[self.stages.microops]
        shadows = {original: narrow for narrow, original in self.stages.shadows}
        if target.name not in shadows:
            raise TilewrightError("target", machine.name, f"a shadow of {target.name} to store", "none")
        self.results = machine.memory_by_name[shadows[target.name]]
        self.store = self._copy(self.results, False)
        self.loads = {memory.name: self._copy(memory, True) for memory in (rows, blocks, self.micro, target)}
        self.loading, self.computing, self.storing = (self.loads[rows.name].unit, self.products.unit, self.store.unit)
        units = {self.loads[blocks.name].unit, self.loading}, {self.loads[self.micro.name].unit, self.computing}
        if any(len(pair) > 1 for pair in units) or len({self.loading, self.computing, self.storing}) < 3:
            expected = "a stage that loads both factors, one that computes and loads micro-ops, one that stores"
            raise TilewrightError("target", machine.name, expected, "others")
        self.finish = next((m for m in machine.mnemonics if m.action and m.action.kind == "finish"), None)

    def _walk(self, kind: str, operands: int) -> Mnemonic:
        for mnemonic in self.machine.mnemonics:
            capability = self.machine.executed(mnemonic)
            if capability is not None and mnemonic.action is not None and mnemonic.action.kind == "walk":
                if kind_of(capability) == kind and len(capability.operands) == operands:
                    return mnemonic
        raise TilewrightError("target", self.machine.name, f"an instruction of {operands} operands: {kind}", "none")

    def _memory(self, mnemonic: Mnemonic, operand: str) -> Memory:
        name = next(binding.memory for binding in mnemonic.operands if binding.operand == operand)
        return self.machine.memory_by_name[name]

    def _copy(self, memory: Memory, inward: bool) -> Mnemonic:
        """The instruction that copies elements as they are."""
        for mnemonic in self.machine.mnemonics:
            capability = self.machine.executed(mnemonic)
            if capability is None or mnemonic.action is None or mnemonic.action.kind != "copy":
                continue
            _, arrow, inner = mnemonic.node.partition("->")
            end = inner if inward else mnemonic.node.partition(arrow)[0]
            same = len(set(row_bytes(capability).values())) == 1
            if end == memory.name and same:
                return mnemonic
        way = "into" if inward else "from"
        raise TilewrightError("target", self.machine.name, f"an instruction that copies {way} {memory.name}", "none")

    def token(self, src: str, dst: str) -> TokenQueue | None:
        """The queue from a unit to another, if there is one."""
        return next((queue for queue in self.stages.tokens if (queue.src, queue.dst) == (src, dst)), None)

    def micro_op(self, fields: Mapping[str, int]) -> int:
        """A micro-op of these fields; `TilewrightError` (kind `program`) where one does not hold its value."""
        shifts, code = self.stages.field_shifts(), 0
        for word, value in fields.items():
            first, width = shifts[word]
            if not 0 <= value < 1 << width:
                raise TilewrightError("program", "micro-op", f"{word} of {width} bits", str(value))
            code |= value << first
        return code


@dataclass
class StageWriter:
    """A program, instruction after instruction, without tokens."""

    isa: StageIsa
    code: list[Instruction] = field(default_factory=list[Instruction])

    def nothing(self, unit: str) -> Instruction:
        """An instruction of a unit that moves no bytes; it is not appended."""
        mnemonics = (*self.isa.loads.values(), self.isa.store)
        return Instruction(next(mnemonic for mnemonic in mnemonics if mnemonic.unit == unit), {})

    def add(self, mnemonic: Mnemonic, fields: Mapping[str, int]) -> Instruction:
        """Appends an instruction."""
        made = Instruction(mnemonic, dict(fields))
        self.code.append(made)
        return made

    def copy(self, mnemonic: Mnemonic, sizes: Mapping[str, int]) -> Instruction:
        """A copy, by the roles of its action (`stage_rules.ACTIONS`)."""
        action = mnemonic.action
        assert action is not None
        words = dict(action.roles)
        return self.add(mnemonic, {words[role]: value for role, value in sizes.items() if value or role in words})

    def walk(
        self,
        mnemonic: Mnemonic,
        micro: tuple[int, int],
        trips: tuple[int, int],
        strides: Sequence[tuple[int, int]],
        fields: Mapping[str, int],
    ) -> Instruction:
        """Micro-ops from a first to before an end, in two loops; strides of each operand over these."""
        assert mnemonic.action is not None
        roles, extents = dict(mnemonic.action.roles), dict(mnemonic.extents)
        values = {roles["first"]: micro[0], roles["end"]: micro[1]}
        values |= {extents["outer"]: trips[0], extents["inner"]: trips[1]}
        for operand, (outer, inner) in zip(mnemonic.operands, strides, strict=True):
            words = dict(operand.strides)
            values |= {words["outer"]: outer if trips[0] > 1 else 0, words["inner"]: inner if trips[1] > 1 else 0}
        return self.add(mnemonic, {**values, **fields})
