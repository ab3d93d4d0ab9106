"""The loop over packets, compiled: state is bytes, register memories first, then the off-chip memory.

Rows of integers describe everything; their columns are named here and filled by `encode`.  All instructions of a packet
compute into `stage` from the state before the packet; then their results are written.  Values are int64 and wrap when
they are stored.
"""

from enum import IntEnum

from ....algebra.element import Array
from ....costs.compiled import compiled, inner

MOST_OPERANDS, MOST_DIMS, MOST_VALUES, MOST_WORDS, WIDEST_BYTES = 4, 3, 16, 64, 4096

# items of the code
PACKET, BEGIN, END, COUNTED = range(4)

# columns of a kind (a mnemonic): how it is computed, then per operand its type and strides
MODE, REDUCE, FRESH, FIRST_OP, OPS, OPERANDS, EXTENTS, ALIGN = 0, 1, 2, 3, 4, 5, 6, 9
OPERAND, OPERAND_COLUMNS = 10, 5  # type, three strides, bytes reached
KIND_COLUMNS = OPERAND + MOST_OPERANDS * OPERAND_COLUMNS
COPY, PRODUCT, GENERAL = range(3)

# columns of an instruction: its kind, then per operand where it is
KIND, IMMEDIATE, ADVANCED, AMOUNT, GIVEN, HOLDS = 0, 1, 2, 3, 4, 5
PLACE, PLACE_COLUMNS = 6, 4  # offset, base, rotated by, register's bytes
INSTRUCTION_COLUMNS = PLACE + MOST_OPERANDS * PLACE_COLUMNS

# operations of values on a stack
Op = IntEnum(
    "Op",
    "PUSH NUMBER SCALAR CAST SAT "
    "ADD SUB MUL MAX MIN NEG ABS RSHIFT_ROUND RSHIFT LSHIFT EQ LT LE GT GE SELECT",  # as functions are called
    start=0,
)

RAN, OUTSIDE, UNALIGNED, TOO_LONG, NOT_GIVEN = range(5)


@inner
def load(state: Array, at: int, code: int) -> int:
    """The element of a type at a byte; the type is its bytes, negative if it has a sign."""
    if code == 1:
        return int(state[at])
    if code == -1:
        return (int(state[at]) ^ 128) - 128
    if code == -4:
        low = int(state[at]) | int(state[at + 1]) << 8 | int(state[at + 2]) << 16 | int(state[at + 3]) << 24
        return (low ^ 0x80000000) - 0x80000000
    size = abs(code)
    value = 0
    for i in range(size):
        value |= int(state[at + i]) << (8 * i)
    return wrapped(value, code)


@inner
def put(state: Array, at: int, size: int, value: int) -> None:
    """An element's low bytes."""
    for i in range(size):
        state[at + i] = (value >> (8 * i)) & 255


@inner
def wrapped(value: int, code: int) -> int:
    """A value as a type holds it."""
    bits = 8 * abs(code)
    if bits == 64:
        return value
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if code < 0 and low >> (bits - 1) else low


@inner
def clamped(value: int, code: int) -> int:
    """The nearest value that a type holds."""
    bits = 8 * abs(code)
    low = -(1 << (bits - 1)) if code < 0 else 0
    high = (1 << (bits - 1)) - 1 if code < 0 else (1 << bits) - 1
    return min(max(value, low), high)


@inner
def apply(op: int, a: int, b: int) -> int:
    """A function of two values."""
    if op == Op.ADD:
        return a + b
    if op == Op.SUB:
        return a - b
    if op == Op.MUL:
        return a * b
    if op == Op.MAX:
        return max(a, b)
    if op == Op.MIN:
        return min(a, b)
    if op == Op.RSHIFT_ROUND:
        return a if b == 0 else (a + (1 << (b - 1))) >> b
    if op == Op.RSHIFT:
        return a >> min(max(b, 0), 63)
    if op == Op.LSHIFT:
        return a << min(max(b, 0), 63)
    if op == Op.EQ:
        return int(a == b)
    if op == Op.LT:
        return int(a < b)
    if op == Op.LE:
        return int(a <= b)
    if op == Op.GT:
        return int(a > b)
    return int(a >= b)


@inner
def evaluate(ops: Array, first: int, count: int, immediate: int, values: Array) -> int:
    """The value of postfix operations on an element of each operand, which are the last of `values`."""
    if count == 3 and ops[first, 0] == Op.PUSH and ops[first + 1, 0] == Op.PUSH:
        one, other = values[MOST_VALUES + ops[first, 1]], values[MOST_VALUES + ops[first + 1, 1]]
        return apply(ops[first + 2, 0], int(one), int(other))
    top = -1
    for i in range(first, first + count):
        op, argument = ops[i, 0], ops[i, 1]
        if op <= Op.SCALAR:
            top += 1
            values[top] = (
                values[MOST_VALUES + argument] if op == Op.PUSH else (argument if op == Op.NUMBER else immediate)
            )
        elif op == Op.NEG:
            values[top] = -values[top]
        elif op == Op.ABS:
            values[top] = abs(values[top])
        elif op == Op.CAST:
            values[top] = wrapped(values[top], argument)
        elif op == Op.SAT:
            values[top] = clamped(values[top], argument)
        elif op == Op.SELECT:
            top -= 2
            values[top] = values[top + 1] if values[top] != 0 else values[top + 2]
        else:
            top -= 1
            values[top] = apply(op, values[top], values[top + 1])
    return values[0]


@inner
def multiply_bytes(state: Array, kinds: Array, k: int, places: Array, stage: Array, base: int) -> None:
    """Sums of products of bytes: the innermost dims alone, the target in 4 bytes."""
    t, p, q = OPERAND + 2, OPERAND + OPERAND_COLUMNS + 2, OPERAND + 2 * OPERAND_COLUMNS + 2
    signed_p, signed_q = kinds[k, p - 2] < 0, kinds[k, q - 2] < 0
    one, other = places[1, 0], places[2, 0]
    step_t, step_p, step_q = kinds[k, t], kinds[k, p], kinds[k, q]
    inner_p, inner_q = kinds[k, p + 1], kinds[k, q + 1]
    for i in range(kinds[k, EXTENTS + 1]):
        at = base + i * step_t
        total = load(stage, at, -4)
        for j in range(kinds[k, EXTENTS + 2]):
            a = int(state[one + i * step_p + j * inner_p])
            b = int(state[other + i * step_q + j * inner_q])
            total += ((a ^ 128) - 128 if signed_p else a) * ((b ^ 128) - 128 if signed_q else b)
        put(stage, at, 4, total)


@inner
def compute(
    state: Array, kinds: Array, k: int, ops: Array, places: Array, immediate: int, stage: Array, base: int,
    values: Array,
) -> None:  # fmt: skip
    """An instruction's result into the stage from `base` on, which holds the target's bytes."""
    if kinds[k, MODE] == COPY and places[1, 1] < 0:
        at = places[1, 0]
        for i in range(kinds[k, EXTENTS + MOST_DIMS - 1]):
            stage[base + i] = state[at + i]
        return
    if kinds[k, MODE] == PRODUCT:
        multiply_bytes(state, kinds, k, places, stage, base)
        return
    code, count = kinds[k, OPERAND], kinds[k, OPERANDS]
    for i in range(kinds[k, EXTENTS]):
        for j in range(kinds[k, EXTENTS + 1]):
            for n in range(kinds[k, EXTENTS + 2]):
                for x in range(1, count):
                    c = OPERAND + x * OPERAND_COLUMNS
                    inside = i * kinds[k, c + 1] + j * kinds[k, c + 2] + n * kinds[k, c + 3]
                    if places[x, 1] >= 0:
                        inside = (inside + places[x, 1]) % places[x, 2]
                    values[MOST_VALUES + x] = load(state, places[x, 0] + inside, kinds[k, c])
                at = base + i * kinds[k, OPERAND + 1] + j * kinds[k, OPERAND + 2] + n * kinds[k, OPERAND + 3]
                value = evaluate(ops, kinds[k, FIRST_OP], kinds[k, OPS], immediate, values)
                if kinds[k, REDUCE] >= 0:
                    value = apply(kinds[k, REDUCE], load(stage, at, code), value)
                put(stage, at, abs(code), value)


@inner
def locate(state: Array, instructions: Array, n: int, kinds: Array, k: int, places: Array, memory: int) -> int:
    """The first byte of each operand into `places`, with rotations; a trap where memory does not have it.

    Also where a register does not hold what the instruction's meaning asks for.
    """
    if instructions[n, GIVEN] >= 0 and load(state, instructions[n, GIVEN], -4) != instructions[n, HOLDS]:
        return NOT_GIVEN
    for x in range(kinds[k, OPERANDS]):
        c = PLACE + x * PLACE_COLUMNS
        at = instructions[n, c]
        base, turn = instructions[n, c + 1], instructions[n, c + 2]
        if base >= 0:
            at += load(state, base, -4)
            if at < memory or at + kinds[k, OPERAND + x * OPERAND_COLUMNS + 4] > len(state):
                return OUTSIDE
            if (at - memory) % kinds[k, ALIGN]:
                return UNALIGNED
        places[x, 0] = at
        places[x, 1] = load(state, turn, -4) % instructions[n, c + 3] if turn >= 0 else -1
        places[x, 2] = instructions[n, c + 3]
    return RAN


@inner
def prepare(state: Array, kinds: Array, k: int, at: int, stage: Array, base: int) -> None:
    """The target's old bytes, or those of a reduction that starts anew, into the stage from `base` on."""
    if kinds[k, FRESH]:
        for i in range(kinds[k, OPERAND + 4]):
            stage[base + i] = 0
    elif kinds[k, REDUCE] >= 0:
        for i in range(kinds[k, OPERAND + 4]):
            stage[base + i] = state[at + i]


@inner
def issue(
    state: Array, kinds: Array, ops: Array, instructions: Array, first: int, count: int, memory: int, stage: Array,
    targets: Array, values: Array, places: Array,
) -> int:  # fmt: skip
    """One packet."""
    for row in range(count):
        n = first + row
        k = instructions[n, KIND]
        if kinds[k, OPERANDS]:
            trap = locate(state, instructions, n, kinds, k, places, memory)
            if trap:
                return trap
            base = row * WIDEST_BYTES
            prepare(state, kinds, k, places[0, 0], stage, base)
            compute(state, kinds, k, ops, places, instructions[n, IMMEDIATE], stage, base, values)
            targets[row, 0] = places[0, 0]
        if instructions[n, ADVANCED] >= 0:
            targets[row, 1] = load(state, instructions[n, ADVANCED], -4) + instructions[n, AMOUNT]
    for row in range(count):
        n = first + row
        k = instructions[n, KIND]
        if kinds[k, OPERANDS]:
            at, base = targets[row, 0], row * WIDEST_BYTES
            for i in range(kinds[k, OPERAND + 4]):
                state[at + i] = stage[base + i]
        if instructions[n, ADVANCED] >= 0:
            put(state, instructions[n, ADVANCED], 4, targets[row, 1])
    return RAN


@compiled
def execute(
    state: Array, code: Array, instructions: Array, kinds: Array, ops: Array, memory: int, limit: int, work: Array,
    stage: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """Runs the code; how it ended, the packets issued, and the item of the code where it ended."""
    targets = work[: 2 * MOST_WORDS].reshape(MOST_WORDS, 2)
    values = work[128 : 128 + 2 * MOST_VALUES]
    places = work[192 : 192 + 4 * MOST_OPERANDS].reshape(MOST_OPERANDS, 4)
    trips = work[256:]
    packets, depth, at = 0, -1, 0
    while at < len(code):
        what, first, count = code[at, 0], code[at, 1], code[at, 2]
        if what == PACKET:
            packets += 1
            if packets > limit:
                return TOO_LONG, packets, at
            trap = issue(state, kinds, ops, instructions, first, count, memory, stage, targets, values, places)
            if trap:
                return trap, packets, at
        elif what == BEGIN:
            depth += 1
            trips[depth] = first
        else:
            packets += what == COUNTED
            trips[depth] -= 1
            if trips[depth] > 0:
                at = first
            else:
                depth -= 1
        at += 1
    return RAN, packets, at
