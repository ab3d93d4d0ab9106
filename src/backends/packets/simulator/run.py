"""A program of packets in simulation: outputs and packets, traps told with the packet's text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....algebra.element import ELEMENT_TYPES, Array
from ....algebra.expr import Call, Expr, Name, Num, Strided, factors_of
from ....errors import TilewrightError
from ....machine.packet_program import Code, Instruction, Isa, Loop, PacketProgram, packets_of
from ....machine.packet_storage import initial_memory, outputs_of
from ....machine.packets import PackedMnemonic, Place
from ..text import packet_text
from . import execute as x

FUNCTIONS: dict[str, int] = {op.name.lower(): op for op in x.Op if op >= x.Op.ADD}
REDUCTIONS = {"=": -1, "+=": x.Op.ADD, "max=": x.Op.MAX, "min=": x.Op.MIN}


@dataclass(frozen=True)
class Encoded:
    """Arrays of int64, and where the off-chip memory begins in the state."""

    code: Array
    instructions: Array
    kinds: Array
    ops: Array
    memory: int


class Encoder:
    """Gathers rows; kinds by mnemonic."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.code: list[tuple[int, int, int]] = []
        self.instructions: list[list[int]] = []
        self.kinds: dict[str, int] = {}
        self.rows: list[list[int]] = []
        self.ops: list[tuple[int, int]] = []
        self.begins: dict[str, int] = {}
        end = 0
        for file in isa.packets.files:
            if file.memory not in self.begins:
                sizes = (f.width_bytes * f.count for f in isa.packets.files if f.memory == file.memory)
                self.begins[file.memory] = end
                end += -(-max(sizes) // 128) * 128
        self.memory = end

    def encoded(self, code: Code) -> Encoded:
        self.walk(code)
        arrays = (self.code, self.instructions, self.rows, self.ops or [(0, 0)])
        columns = (3, x.INSTRUCTION_COLUMNS, x.KIND_COLUMNS, 2)
        tables = (np.array(rows, np.int64).reshape(-1, n) for rows, n in zip(arrays, columns, strict=True))
        one, two, three, four = tables
        return Encoded(one, two, three, four, self.memory)

    def walk(self, code: Code) -> None:
        for item in code:
            if isinstance(item, Loop):
                self.code.append((x.BEGIN, item.trips, 0))
                begin = len(self.code) - 1
                self.walk(item.body)
                self.code.append((x.COUNTED if item.end is not None else x.END, begin, 0))
            else:
                kept = [instruction for instruction in item if self.isa.mnemonics[instruction.mnemonic].loop is None]
                self.code.append((x.PACKET, len(self.instructions), len(kept)))
                self.instructions += [self.instruction(instruction) for instruction in kept]

    def instruction(self, instruction: Instruction) -> list[int]:
        item = self.isa.mnemonics[instruction.mnemonic]
        row = [self.kind(item), 0, -1, 0, -1, 0]
        if item.immediates:
            row[x.IMMEDIATE] = instruction.value(item.immediates[0][1])
        if item.advance is not None:
            row[x.ADVANCED] = self.register(item, item.advance.base, instruction)
            row[x.AMOUNT] = item.advance.scale * instruction.value(item.advance.offset)
        for name, number in item.given:
            row[x.GIVEN], row[x.HOLDS] = self.register(item, name, instruction), int(number)
        for place in self.places(item):
            row += self.place(item, place, instruction)
        return row + [0] * (x.INSTRUCTION_COLUMNS - len(row))

    def places(self, item: PackedMnemonic) -> list[Place]:
        """In the order of the capability's operands."""
        capability = self.isa.capability(item)
        by_name = {place.operand: place for place in item.places}
        return [by_name[operand] for operand in capability.operands] if capability is not None else []

    def place(self, item: PackedMnemonic, place: Place, instruction: Instruction) -> list[int]:
        at = self.register(item, place.base, instruction)
        if place.memory == self.isa.memory:
            offset = place.scale * instruction.value(place.offset) if place.offset else 0
            return [self.memory + offset, at, -1, 1]
        width = self.isa.files[dict(item.registers)[place.base]].width_bytes
        return [at, -1, self.register(item, place.rotated, instruction) if place.rotated else -1, width]

    def register(self, item: PackedMnemonic, field: str, instruction: Instruction) -> int:
        file = self.isa.files[dict(item.registers)[field]]
        return self.begins[file.memory] + instruction.value(field) * file.width_bytes

    def kind(self, item: PackedMnemonic) -> int:
        if item.name not in self.kinds:
            self.kinds[item.name] = len(self.rows)
            self.rows.append(self.kind_row(item))
        return self.kinds[item.name]

    def kind_row(self, item: PackedMnemonic) -> list[int]:
        capability = self.isa.capability(item)
        if capability is None:
            return [0] * x.KIND_COLUMNS
        statement = capability.statement
        dims = [dim.name for dim in capability.dims]
        if len(dims) > x.MOST_DIMS or len(item.places) > x.MOST_OPERANDS or len(item.given) > 1:
            found = f"{len(dims)} dims, {len(item.places)} operands, {len(item.given)} registers"
            limit = f"at most {x.MOST_DIMS} dims, {x.MOST_OPERANDS} operands and 1 given register to execute"
            raise TilewrightError("unsupported", f"mnemonic {item.name}", limit, found)
        value = replaced(statement.value, dict(item.functions))
        first = len(self.ops)
        operands = capability.operands
        self.ops += _postfix(value, operands)
        extents = {**dict.fromkeys(dims, 1), **{dim: int(extent) for dim, extent in item.extents}}
        aligned = [""] * (x.MOST_DIMS - len(dims)) + dims
        sizes = [extents.get(dim, 1) for dim in aligned]
        mode = self.mode(item, value, statement.reduce, dims)
        fresh = int(item.from_identity and statement.reduce == "+=")
        row = [mode, REDUCTIONS[statement.reduce], fresh, first, len(self.ops) - first]
        row += [len(operands), *sizes, item.align_bytes]
        for place in self.places(item):
            row += _operand(place, aligned, sizes)
        return row + [0] * (x.KIND_COLUMNS - len(row))

    def mode(self, item: PackedMnemonic, value: Expr, reduce: str, dims: Sequence[str]) -> int:
        dense = all(p.type_name in ("u8", "i8") and [s for _, s in p.strides] == ["1"] for p in item.places)
        if reduce == "=" and isinstance(value, Strided) and dense and len(item.extents) == 1:
            return x.COPY
        places = self.places(item)
        sizes = [abs(type_code(place.type_name)) for place in places]
        if reduce == "+=" and len(factors_of(value)) == 2 and sizes == [4, 1, 1] and len(item.extents) == 2:
            inner = dims[-1]
            if dict(places[0].strides).get(inner, "0") == "0":
                return x.PRODUCT
        return x.GENERAL


def replaced(expr: Expr, functions: dict[str, str]) -> Expr:
    """The expression with its function variables replaced."""
    if isinstance(expr, Call):
        return Call(functions.get(expr.fn, expr.fn), tuple(replaced(arg, functions) for arg in expr.args))
    return expr


def _operand(place: Place, dims: Sequence[str], sizes: Sequence[int]) -> list[int]:
    strides = {dim: int(stride) for dim, stride in place.strides}
    steps = [strides.get(dim, 0) for dim in dims]
    code = type_code(place.type_name)
    return [code, *steps, abs(code) + sum(step * (size - 1) for step, size in zip(steps, sizes, strict=True))]


def type_code(name: str) -> int:
    """Bytes of an integer type, negative if it has a sign."""
    dtype = ELEMENT_TYPES[name]
    if dtype.kind not in "iu":
        raise TilewrightError("unsupported", name, "integers in packets that are simulated", name)
    return -dtype.itemsize if dtype.kind == "i" else dtype.itemsize


def _postfix(expr: Expr, operands: Sequence[str]) -> Iterator[tuple[int, int]]:
    match expr:
        case Num(number):
            yield x.Op.NUMBER, int(number)
        case Name(_):
            yield x.Op.SCALAR, 0
        case Strided(tensor, _):
            yield x.Op.PUSH, operands.index(tensor)
        case Call(fn, args):
            for arg in args:
                yield from _postfix(arg, operands)
            if fn != "identity":
                yield _function(fn)
        case _:
            raise TilewrightError("unsupported", "an access with indices", "free strides in capabilities", "indices")


def _function(name: str) -> tuple[int, int]:
    if name in FUNCTIONS:
        return FUNCTIONS[name], 0
    if name.removeprefix("sat_") in ELEMENT_TYPES:
        return (x.Op.SAT if name.startswith("sat_") else x.Op.CAST), type_code(name.removeprefix("sat_"))
    raise TilewrightError("unsupported", name, f"functions {', '.join(FUNCTIONS)} in packets that are simulated", name)


LIMIT_PACKETS = 1 << 33


@dataclass(frozen=True)
class PacketRun:
    """Outputs by name, and how many packets were issued."""

    outputs: dict[str, Array]
    packets: int


def simulate_packets(
    isa: Isa, program: PacketProgram, inputs: Mapping[str, Array], limit_packets: int = LIMIT_PACKETS
) -> PacketRun:
    """Runs the program on inputs by name.

    `TilewrightError` (kind `trap`) for an address outside the memory, one that is not aligned as the instruction wants
    it, and more than `limit_packets` packets.
    """
    encoded = Encoder(isa).encoded(program.code)
    state = np.zeros(encoded.memory + program.memory_bytes, np.uint8)
    state[encoded.memory :] = initial_memory(program, inputs)
    work = np.zeros(512, np.int64)
    stage = np.zeros(x.MOST_WORDS * x.WIDEST_BYTES, np.uint8)
    tables = (encoded.code, encoded.instructions, encoded.kinds, encoded.ops)
    ended, packets, at = x.execute(state, *tables, encoded.memory, limit_packets, work, stage)
    if ended != x.RAN:
        issued = sum(1 for item in encoded.code[: at + 1] if item[0] in (x.PACKET, x.COUNTED)) - 1
        packet = list(packets_of(program.code))[issued]
        found = {
            x.OUTSIDE: "one outside it",
            x.UNALIGNED: "one that is not",
            x.TOO_LONG: "more",
            x.NOT_GIVEN: "another",
        }[ended]
        expected = {
            x.OUTSIDE: f"addresses in the {program.memory_bytes} bytes of memory",
            x.UNALIGNED: "an address aligned as the instruction wants it",
            x.TOO_LONG: f"at most {limit_packets} packets",
            x.NOT_GIVEN: "the number in a register that the instruction needs",
        }[ended]
        raise TilewrightError("trap", packet_text(isa, packet), expected, found)
    return PacketRun(outputs_of(program, state[encoded.memory :]), int(packets))
