"""Compiled: cycles of single instructions by their formulas, and the chunks that a tile's sums are made in."""

from __future__ import annotations

from math import ceil, floor, inf

from .compiled import compiled, inner
from .instructions import (
    CEIL,
    CEIL_OVER,
    CONSTANT,
    EQUAL,
    FIRST_STEP,
    FLOOR,
    FLOOR_OVER,
    IDENTITY,
    LARGER,
    LESS,
    MAC,
    MINUS,
    MODULO,
    MOST_DIMS,
    NEGATED,
    OPS,
    OVER,
    PLUS,
    REQUANT,
    SELECT,
    SMALLER,
    TIMES,
    TRUNCATED,
    Issue,
)
from .tables import Floats, Ints

PARTS = 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128
"""Into how many equal parts the extents of a tile are cut for chunks; beside one part for each place."""

GRAIN, SMALL_GROUP = 16, 64
"""Chunks have a multiple of so many output channels, or whole groups of up to so many."""

EXTENT_BITS, TAP_BITS = 21, 10


@inner
def _step(function: int, a: float, b: float, c: float) -> float:
    """The value of one step."""
    if function == TIMES:
        return a * b
    if function == CEIL_OVER:
        return float(ceil(a / b))
    if function == LARGER:
        return max(a, b)
    if function == SMALLER:
        return min(a, b)
    if function == PLUS:
        return a + b
    if function == FLOOR_OVER:
        return float(floor(a / b))
    if function == MINUS:
        return a - b
    if function == IDENTITY:
        return a
    if function == OVER:
        return a / b
    if function == TRUNCATED:
        return float(int(a / b))
    if function == SELECT:
        return b if a != 0.0 else c
    return _rare_step(function, a, b)


@inner
def _rare_step(function: int, a: float, b: float) -> float:
    if function == MODULO:
        return a - b * floor(a / b)
    if function == NEGATED:
        return -a
    if function == FLOOR:
        return float(floor(a))
    if function == CEIL:
        return float(ceil(a))
    if function == EQUAL:
        return 1.0 if a == b else 0.0
    if function == LESS:
        return 1.0 if a < b else 0.0
    return 1.0 if a <= b else 0.0


@inner
def evaluate(issue: Issue, formula: int, values: Floats) -> int:
    """Cycles by formula number `formula` with dims, ways and their product in `values`."""
    place = FIRST_STEP
    for row in range(issue.ends[formula], issue.ends[formula + 1]):
        function, a = issue.steps[row, 0], issue.steps[row, 1]
        if function == CONSTANT:
            values[place] = issue.constants[a]
        else:
            b, c = issue.steps[row, 2], issue.steps[row, 3]
            values[place] = _step(function, float(values[a]), float(values[b]), float(values[c]))
        place += 1
    return max(0, ceil(values[place - 1]))


@inner
def vector_cycles(issue: Issue, formula: int, values: Floats, extents: tuple[int, int, int, int, int, int]) -> int:
    """Cycles of one instruction of the vector unit over `extents`."""
    values[OPS] = 1.0
    for dim in range(MOST_DIMS):
        values[dim] = values[MOST_DIMS + dim] = 1.0
    for dim in range(len(extents)):
        values[dim] = extents[dim]
        values[OPS] *= extents[dim]
    return evaluate(issue, formula, values)


@inner
def product_cycles(issue: Issue, known: Ints, values: Floats, extents: tuple[int, int, int, int, int, int, int]) -> int:
    """Cycles of one product over `extents` (g, k, p, q, c, r, s), spread over the cores in the best way.

    `known` (M, 3) is a table of those already worked out: two keys, and cycles.
    """
    g, k, p, q, c, r, s = extents
    first = (((g << EXTENT_BITS) | k) << EXTENT_BITS) | p
    second = (((((q << EXTENT_BITS) | c) << TAP_BITS) | r) << TAP_BITS) | s
    place = ((first * 0x9E3779B1) ^ (second * 0x85EBCA6B) ^ (first >> 20) ^ (second >> 19)) & (len(known) - 1)
    short = max(r, s) < 1 << TAP_BITS and max(g, k, p, q, c) < 1 << EXTENT_BITS
    if short and known[place, 0] == first and known[place, 1] == second:
        return known[place, 2]
    values[OPS] = 1.0
    for dim in range(MOST_DIMS):
        values[dim] = extents[dim]
        values[OPS] *= extents[dim]
    best = -1
    for spread in range(len(issue.spreads)):
        for dim in range(MOST_DIMS):
            values[MOST_DIMS + dim] = issue.spreads[spread, dim]
        cycles = evaluate(issue, MAC, values)
        if best < 0 or cycles < best:
            best = cycles
    if short:
        known[place, 0], known[place, 1], known[place, 2] = first, second, best
    return best


@inner
def part_of(extent: int, number: int) -> int:
    """Size of the parts of `extent`, by choice `number` up to the length of `PARTS`."""
    return -(-extent // PARTS[number]) if number < len(PARTS) else 1


@inner
def _channel_part(channels: int, number: int, groups: int, filters: int) -> int:
    """Channels of a part: lanes stay full, and groups whole where they are small; the last choice is one channel."""
    if number == len(PARTS):
        return 1
    grain = GRAIN if groups == 1 or filters > SMALL_GROUP else filters
    return min(-(-part_of(channels, number) // grain) * grain, channels)


@inner
def chunk_of(
    issue: Issue,
    known: Ints,
    values: Floats,
    shape: tuple[int, int, int, int, int, int],
    box: tuple[int, int, int, int],
    whole: bool,
) -> tuple[int, int, int]:
    """Samples, channels and rows of the chunks of `box` whose products and scaling end first; (0, 0, 0) for none.

    `shape` has groups, filters and channels of each, kernel, and whether samples share weights; windows are read by one
    instruction where `whole`, otherwise tap by tap.  Chunk by chunk is scaled while the next is made.
    """
    groups, filters, channels, tall, wide, shared = shape
    samples, depth, rows, columns = box
    best, fewest, found = -1, 0, (0, 0, 0)
    taps, window = (1, (tall, wide)) if whole else (tall * wide, (1, 1))
    for a in range(len(PARTS) + 1):
        nb = part_of(samples, a)
        if a and nb == part_of(samples, a - 1):
            continue
        for b in range(len(PARTS) + 1):
            nk = _channel_part(depth, b, groups, filters)
            if b and nk == _channel_part(depth, b - 1, groups, filters):
                continue
            for c in range(len(PARTS) + 1):
                nr = part_of(rows, c)
                if (c and nr == part_of(rows, c - 1)) or nb * nk * nr * columns > issue.sums:
                    continue
                count = -(-samples // nb) * -(-depth // nk) * -(-rows // nr)
                times, extents = taps, (nb, nk, nr, columns, channels, window[0], window[1])
                if not shared:
                    each = (nk // filters, filters) if nk >= filters else (1, nk)
                    times, extents = taps * nb, (each[0], each[1], nr, columns, channels, window[0], window[1])
                made = times * product_cycles(issue, known, values, extents)
                scaled = vector_cycles(issue, REQUANT, values, (nb, nk, nr, columns, 1, 1))
                total = max(made * count + scaled, made + scaled * count)
                if best < 0 or total < best or (total == best and count < fewest):
                    best, fewest, found = total, count, (nb, nk, nr)
    return found


@compiled
def least_product(
    issue: Issue,
    known: Ints,
    values: Floats,
    groups: Ints,
    filters: Ints,
    rows: Ints,
    columns: Ints,
    rest: tuple[int, int, int],
) -> float:
    """Cycles for each result and tap of an instruction at its best, over the extents given along g, k, p and q.

    `rest` has channels and taps along either axis; `known` (1, 3) is for the choice of chunks.
    """
    channels, tall, wide = rest
    best = inf
    for g in groups:
        for k in filters:
            for p in rows:
                for q in columns:
                    known[0, 0] = -1
                    cycles = product_cycles(issue, known, values, (g, k, p, q, channels, tall, wide))
                    best = min(best, cycles / (float(g) * k * p * q * tall * wide))
    return best


@compiled
def least_vector(issue: Issue, values: Floats, formula: int, many: int) -> float:
    """Cycles for each element of an instruction of the vector unit over `many`."""
    return vector_cycles(issue, formula, values, (1, 1, 1, many, 1, 1)) / many
