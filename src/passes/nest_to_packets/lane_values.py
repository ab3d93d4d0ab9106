"""Expressions on vectors: instructions for the values of some lanes, in registers of 32 bits or of the tensors' type.

Values are exact integers; registers wrap.  Sums, differences and products may wrap on the way to something that is
stored in so many bits, as they agree with the exact values in those; whatever else takes a value needs it whole, which
its range shows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...algebra.element import ELEMENT_TYPES, Array
from ...algebra.expr import Access, Call, Expr, Num, Statement, print_expr
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine.packet_program import Instruction
from ...machine.packets import PackedMnemonic
from .emit import Emitter
from .forms import Buffer, Memory
from .quotients import divided, quotient
from .ranges import Range, range_of, range_of_type, within
from .virtual import Groups, Section

WORD = range_of_type("i32")
WORD_BITS = 32
LOW = parse_statement("O{i} += A{i} * B{i}")
ACROSS = parse_statement("O{i} = A{i} * rshift(B{i}, 16) * 65536")
HIGH = parse_statement("O{i} = rshift(A{i} * B{i}, 16)")
HIGHEST = parse_statement("O{i} = sat_i32(rshift(C{i} + A{i} * rshift(B{i}, 16), 15))")
HALF_RANGE = (0, (1 << 16) - 1)
HIGH_BITS = 31
RING = ("add", "sub", "rsub", "mul", "neg", "square")
"""Functions whose values' low bits need no more than the arguments' low bits."""


@dataclass
class Values:
    """Makes the instructions of values; `load(access, sub)` gives the register of an operand's lanes.

    `type_name` is that of the registers' elements.  `before` holds what is made once, `made` what each row needs.
    """

    emitter: Emitter
    memory: Memory
    groups: Groups
    type_name: str
    buffers: dict[str, Buffer]
    load: Callable[[Access, int], int]
    scratch: int
    before: Section = field(default_factory=Section)
    made: Section = field(default_factory=Section)
    known: dict[tuple[Expr, int], int] = field(default_factory=dict[tuple[Expr, int], int])
    numbers: dict[int, int] = field(default_factory=dict[int, int])

    def range(self, expr: Expr) -> Range:
        """What values an expression has."""
        return range_of(expr, {name: buffer.limits for name, buffer in self.buffers.items()})

    def value(self, expr: Expr, sub: int, dest: int = -1) -> int:
        """The register with an expression's values in lanes `sub`; in `dest` if one is given."""
        if isinstance(expr, Access) and expr.tensor in self.buffers:
            known = self.buffers[expr.tensor].values
            if known is not None and known.size and (known == known.flat[0]).all():
                expr = Num(int(known.flat[0]))
        match expr:
            case Num(number):
                found = self.number(int(number))
            case Access():
                found = self.load(expr, sub)
            case Call(fn, args):
                if (expr, sub) not in self.known:
                    self.known[expr, sub] = self.call(fn, args, sub, dest)
                found = self.known[expr, sub]
            case _:
                raise TilewrightError("unsupported", print_expr(expr), "tensors, numbers and functions", "a name")
        if dest not in (-1, found):
            self.emit(self.emitter.move(), dest, found)
            return dest
        return found

    def whole(self, expr: Expr, sub: int) -> int:
        """As `value`, where the registers must hold the exact value."""
        limits = self.range(expr)
        if not within(limits, range_of_type(self.type_name)):
            found = f"{limits[0]} to {limits[1]}"
            what = f"values that {self.type_name} holds"
            raise TilewrightError("unsupported", print_expr(expr), what, found, "scale it down")
        return self.value(expr, sub)

    def call(self, fn: str, args: tuple[Expr, ...], sub: int, dest: int) -> int:
        """A function's values."""
        match fn, args:
            case ("identity", (x,)) | (("add" | "sub"), (x, Num(0))) | ("add", (Num(0), x)):
                return self.value(x, sub, dest)
            case "neg", (x,):
                return self.value(Call("sub", (Num(0), x)), sub, dest)
            case "rsub", (x, y):
                return self.value(Call("sub", (y, x)), sub, dest)
            case "relu", (x,):
                return self.value(Call("max", (x, Num(0))), sub, dest)
            case "abs", (x,):
                return self.value(Call("max", (x, Call("sub", (Num(0), x)))), sub, dest)
            case "square", (x,):
                return self.value(Call("mul", (x, x)), sub, dest)
            case "clip", (x, low, high):
                return self.clipped(x, low, high, sub, dest)
            case "mul", (x, y):
                return self.product(x, y, sub, dest)
            case "high_product", (x, y):
                return self.high_product(x, y, sub, dest)
            case "rshift_round", (x, amount):
                return self.rounded(x, amount, sub, dest)
            case (("div" | "floordiv"), (x, y)):
                return self.quotient(fn, x, y, sub, dest)
            case "select", (condition, x, y):
                return self.value(selected(condition, x, y, self.range(condition)), sub, dest)
            case (("lt" | "gt" | "le" | "ge" | "eq" | "ne"), (x, y)):
                return self.value(compared(fn, x, y), sub, dest)
            case _, (x,) if fn.removeprefix("sat_") in ELEMENT_TYPES:
                return self.converted(fn, x, sub, dest)
            case _:
                return self.plain(fn, args, sub, dest)

    def plain(self, fn: str, args: tuple[Expr, ...], sub: int, dest: int) -> int:
        """A function that one instruction does."""
        item = self.emitter.function(fn, self.type_name, len(args))
        if item is None:
            what = f"{fn} of {len(args)} {self.type_name}"
            raise TilewrightError("unsupported", what, "a vector instruction for it", "none")
        if fn in ("rshift", "lshift") and not within(self.range(args[1]), (0, WORD_BITS - 1)):
            found = print_expr(args[1])
            raise TilewrightError("unsupported", found, f"amounts of 0 to {WORD_BITS - 1}", f"{self.range(args[1])}")
        takes = [self.value if fn in RING or (fn, i) == ("lshift", 0) else self.whole for i in range(len(args))]
        registers = [take(arg, sub) for take, arg in zip(takes, args, strict=True)]
        return self.emit(item, self.dest(dest), *registers)

    def clipped(self, x: Expr, low: Expr, high: Expr, sub: int, dest: int) -> int:
        """Limits that a value keeps to anyway are left out."""
        limits = self.range(x)
        result = x
        if limits[0] < self.range(low)[1]:
            result = Call("max", (result, low))
        if limits[1] > self.range(high)[0]:
            result = Call("min", (result, high))
        return self.value(result, sub, dest)

    def product(self, x: Expr, y: Expr, sub: int, dest: int) -> int:
        """The product's low bits: one instruction where a factor has 16 bits, else two."""
        if self.type_name != "i32":
            return self.plain("mul", (x, y), sub, dest)
        if within(self.range(x), HALF_RANGE) and not within(self.range(y), HALF_RANGE):
            x, y = y, x
        one, other = self.value(x, sub), self.value(y, sub)
        dest = self.dest(dest)
        low = self.choose("products of words", LOW, False)
        if within(self.range(y), HALF_RANGE):
            return self.emit(self.low_product(), dest, one, other)
        self.emit(self.choose("products across halves of words", ACROSS), dest, one, other)
        return self.emit(low, dest, one, other)

    def accumulated(self, total: int, value: Expr, sub: int) -> bool:
        """Adds a product to `total` in one instruction, where there is one for its factors."""
        if self.type_name != "i32" or not (isinstance(value, Call) and value.fn == "mul"):
            return False
        x, y = value.args
        if within(self.range(x), HALF_RANGE) and not within(self.range(y), HALF_RANGE):
            x, y = y, x
        if not within(self.range(y), HALF_RANGE):
            return False
        self.emit(self.choose("products of words", LOW, False), total, self.value(x, sub), self.value(y, sub))
        return True

    def quotient(self, fn: str, x: Expr, y: Expr, sub: int, dest: int) -> int:
        """A quotient, rounded toward 0 or down."""
        if self.type_name != "i32":
            return self.plain(fn, (x, y), sub, dest)
        limits = self.range(x), self.range(y)
        other = quotient(fn, x, y, limits)
        if other is not None:
            return self.value(other, sub, dest)
        return divided(self, self.whole(x, sub), self.whole(y, sub), limits, self.dest(dest))

    def low_product(self) -> PackedMnemonic:
        """The instruction for a product with a factor of 16 bits."""
        return self.choose("products of words", LOW, True)

    def rounded(self, x: Expr, amount: Expr, sub: int, dest: int) -> int:
        """`rshift_round`: with half added, or in two steps where that leaves the word."""
        if isinstance(x, Call) and x.fn == "mul" and not within(self.range(x), WORD):
            return self.rounded_product(x.args[0], x.args[1], amount, sub, dest)
        least, most = self.range(amount)
        if (least, most) == (0, 0):
            return self.value(x, sub, dest)
        if least < 1 or most >= WORD_BITS:
            found = f"{least} to {most}"
            raise TilewrightError("unsupported", print_expr(amount), f"amounts of 1 to {WORD_BITS - 1}", found)
        half = Call("lshift", (Num(1), Call("sub", (amount, Num(1)))))
        if isinstance(amount, Num):
            half = Num(1 << int(amount.value) - 1)
        elif isinstance(amount, Access) and (buffer := self.buffers[amount.tensor]).values is not None:
            return self.rounded_by(x, amount, buffer, sub, dest)
        total = Call("add", (x, half))
        if within(self.range(total), WORD):
            return self.value(Call("rshift", (total, amount)), sub, dest)
        first = Call("add", (Call("rshift", (x, Call("sub", (amount, Num(1))))), Num(1)))
        return self.value(Call("rshift", (first, Num(1))), sub, dest)

    def rounded_by(self, x: Expr, amount: Access, buffer: Buffer, sub: int, dest: int) -> int:
        """Amounts that are known: the halves are constants too."""
        assert buffer.values is not None
        shifts = buffer.values.astype(np.int64)
        half = self.derived(amount, "half", np.left_shift(1, shifts - 1))
        low, high = self.range(x)
        if low >= WORD[0] and high + (1 << int(shifts.max()) - 1) <= WORD[1]:
            return self.value(Call("rshift", (Call("add", (x, half)), amount)), sub, dest)
        less = self.derived(amount, "less", shifts - 1)
        first = Call("add", (Call("rshift", (x, less)), Num(1)))
        return self.value(Call("rshift", (first, Num(1))), sub, dest)

    def rounded_product(self, x: Expr, y: Expr, amount: Expr, sub: int, dest: int) -> int:
        """The upper part of a product: its floor by 2^31 in two instructions, then what is left to shift.

        floor(floor(x y / 2^31) / 2^(s - 31)) is floor(x y / 2^s), and halves at 2^(s - 1) are whole after 2^31 where s
        is 32 at least; smaller amounts move x to the left first.
        """
        least, most = self.range(amount)
        moved, rest = self.split_amount(amount, least)
        if moved != Num(0):
            x = Call("lshift", (x, moved))
        if most > 2 * HIGH_BITS:
            raise TilewrightError("unsupported", print_expr(amount), f"amounts up to {2 * HIGH_BITS}", f"{most}")
        return self.value(Call("rshift_round", (Call("high_product", (x, y)), rest)), sub, dest)

    def split_amount(self, amount: Expr, least: int) -> tuple[Expr, Expr]:
        """How far to the left first, and how far to the right after 31 bits."""
        if isinstance(amount, Num):
            by = int(amount.value)
            return Num(max(0, WORD_BITS - by)), Num(max(by, WORD_BITS) - HIGH_BITS)
        known = self.buffers[amount.tensor].values if isinstance(amount, Access) else None
        if isinstance(amount, Access) and known is not None:
            by = known.astype(np.int64)
            left = self.derived(amount, "left", np.maximum(WORD_BITS - by, 0)) if least < WORD_BITS else Num(0)
            return left, self.derived(amount, "rest", np.maximum(by, WORD_BITS) - HIGH_BITS)
        if least < WORD_BITS:
            raise TilewrightError("unsupported", print_expr(amount), "amounts that are known", "others")
        return Num(0), Call("sub", (amount, Num(HIGH_BITS)))

    def high_product(self, x: Expr, y: Expr, sub: int, dest: int) -> int:
        """floor(x y / 2^31): the low halves' part, and then the high halves' with it."""
        one, other = self.whole(x, sub), self.whole(y, sub)
        dest = self.emit(self.choose("upper parts of products", HIGH), self.dest(dest), one, other)
        return self.emit(self.choose("upper parts of products", HIGHEST), dest, dest, one, other)

    def converted(self, fn: str, x: Expr, sub: int, dest: int) -> int:
        """Limits, or the low bits alone, moved to the upper end and back."""
        wanted = fn.removeprefix("sat_")
        limits = range_of_type(wanted)
        if within(self.range(x), limits):
            return self.value(x, sub, dest)
        if fn != wanted:
            return self.value(Call("clip", (x, Num(limits[0]), Num(limits[1]))), sub, dest)
        if not wanted.startswith("i") or self.type_name != "i32":
            raise TilewrightError("unsupported", fn, "a signed type for values to wrap in", wanted)
        by = self.number(WORD_BITS - 8 * ELEMENT_TYPES[wanted].itemsize)
        moved = self.emit(self.function("lshift"), self.dest(), self.value(x, sub), by)
        return self.emit(self.function("rshift"), self.dest(dest), moved, by)

    def derived(self, access: Access, what: str, values: Array) -> Access:
        """Constants made of those of an access, read at its place."""
        name = f"{access.tensor}.{what}"
        self.buffers[name] = self.memory.derive(self.buffers[access.tensor], what, values)
        return Access(name, access.indices)

    def number(self, value: int) -> int:
        """A register with a number in all lanes, made once."""
        if value not in self.numbers:
            itemsize = ELEMENT_TYPES[self.type_name].itemsize
            bits = value & (1 << 8 * itemsize) - 1
            word = sum(bits << 8 * itemsize * i for i in range(4 // itemsize))
            self.numbers[value] = self.groups.take(lasting=True)
            self.before.append(self.emitter.constant(self.scratch, word - (word >> 31 << 32)))
            self.before.append(self.emitter.broadcast(self.numbers[value], self.scratch))
        return self.numbers[value]

    def dest(self, dest: int = -1) -> int:
        """A given register, or a new one."""
        return dest if dest != -1 else self.groups.take()

    def emit(self, item: PackedMnemonic, dest: int, *registers: int) -> int:
        """An instruction on registers in the order of its capability's operands."""
        made = self.emitter.place(item, (dest, *registers))
        self.made.append(Instruction(item.name, tuple(dict(made.values).items())))
        return dest

    def function(self, fn: str) -> PackedMnemonic:
        """The instruction of a function of two vectors."""
        return self.emitter.binary(fn, self.type_name)

    def choose(self, what: str, statement: Statement, fresh: bool = False) -> PackedMnemonic:
        """The instruction on vectors of a meaning; `fresh`: that starts a reduction anew."""
        found = self.emitter.on_vectors(statement)
        return self.emitter.isa.choose(what, [m for m in found if m.from_identity == fresh])


def compared(fn: str, x: Expr, y: Expr) -> Expr:
    """A comparison as 0 or 1: the sign of a difference."""
    more = Call("add", (y, Num(1)))
    less, most = sign(x, y), sign(x, more)
    match fn:
        case "lt":
            return less
        case "le":
            return most
        case "gt":
            return sign(y, x)
        case "ge":
            return sign(y, Call("add", (x, Num(1))))
        case "eq":
            return Call("sub", (most, less))
        case _:
            return Call("sub", (Num(1), Call("sub", (most, less))))


def sign(x: Expr, y: Expr) -> Expr:
    """1 where x < y, else 0."""
    return Call("sub", (Num(0), Call("rshift", (Call("sub", (x, y)), Num(WORD_BITS - 1)))))


def selected(condition: Expr, x: Expr, y: Expr, limits: Range) -> Expr:
    """`select` as y + c (x - y) with c 0 or 1."""
    chosen = condition if within(limits, (0, 1)) else compared("ne", condition, Num(0))
    return Call("add", (y, Call("mul", (chosen, Call("sub", (x, y))))))
