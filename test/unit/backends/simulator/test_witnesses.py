"""The simulator against slow and simple ones: point by point, cycle by cycle, pair by pair."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.backends.simulator import Trap

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
WHOLE = np.random.default_rng(5).integers(0, 256, 4096).astype(np.uint8)


def on_chip(bench: Any) -> tuple[Any, ...]:
    """Both memories hold values from the beginning, and SPAD is the output."""
    size = bench.tensor("x", "input", WHOLE, 0)
    return (
        size,
        bench.tensor("y", "input", WHOLE, 0, "SPAD"),
        bench.tensor("spad", "output", WHOLE, 0, "SPAD"),
        bench.tensor("dram", "output", WHOLE, 0),
    )


def final(bench: Any, text: str, **options: Any) -> np.ndarray:
    return bench.run(text, on_chip(bench), {"x": WHOLE, "y": WHOLE}, **options).outputs["spad"]


strides = st.integers(-9, 9)


@SETTINGS
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    st.tuples(*[strides] * 6),
    st.tuples(*[st.integers(100, 300)] * 3),
    st.booleans(),
)
def test_products_point_by_point(bench: Any, extents: Any, steps: Any, addresses: Any, accumulate: bool):
    (m, n, k), (om, on, am, ak, bk, bn), (o, a, b) = extents, steps, addresses
    text = f"MAC ACC={int(accumulate)}, O={1000 + o}, A={a}, B={500 + b}, M={m}, N={n}, K={k}"
    text += f", OM={om}, ON={on}, AM={am}, AK={ak}, BK={bk}, BN={bn}"
    expected = bytearray(WHOLE.tobytes())
    cells = [1000 + o + i * om + j * on for i, j in itertools.product(range(m), range(n))]
    for cell in cells if not accumulate else ():
        expected[cell : cell + 4] = bytes(4)
    if any(0 < abs(x - y) < 4 for x in cells for y in cells):
        return  # elements that overlap in part: no order of their bytes is promised
    for i, j, t in itertools.product(range(m), range(n), range(k)):
        cell = 1000 + o + i * om + j * on
        left = int.from_bytes(WHOLE[a + i * am + t * ak].tobytes(), "little", signed=True)
        right = int.from_bytes(WHOLE[500 + b + t * bk + j * bn].tobytes(), "little", signed=True)
        old = int.from_bytes(expected[cell : cell + 4], "little", signed=True)
        expected[cell : cell + 4] = ((old + left * right) % (1 << 32)).to_bytes(4, "little")
    assert final(bench, text).tobytes() == bytes(expected)


@SETTINGS
@given(st.integers(1, 5), st.integers(1, 5), st.tuples(*[strides] * 2), st.sampled_from([0, 1]))
def test_maxima_point_by_point(bench: Any, a: int, r: int, steps: tuple[int, int], accumulate: int):
    text = f"PEAK ACC={accumulate}, O=1000, A=500, NA={a}, NR={r}, OA=3, AA={steps[0]}, AR={steps[1]}"
    memory = WHOLE.view(np.int8)
    expected = memory.copy()
    for i in range(a):
        values = [int(memory[500 + i * steps[0] + j * steps[1]]) for j in range(r)]
        expected[1000 + 3 * i] = max(values + ([int(memory[1000 + 3 * i])] if accumulate else []))
    assert np.array_equal(final(bench, text).view(np.int8), expected)


@dataclass(frozen=True)
class Row:
    """An instruction: its text, unit, cycles and resource, by hand."""

    text: str
    unit: str
    cycles: int
    resource: str
    writes: tuple[int, int]
    reads: tuple[int, int]


UNITS = ("LD", "ST", "VP")
DEPTHS = {"LD": 2, "ST": 0, "VP": 0}
TAGS = {"LD": 1, "ST": 2, "VP": 3}


def make_row(unit: str, place: int, size: int, waits: tuple[tuple[str, int], ...]) -> Row:
    fields = [f"TAG={TAGS[unit]}"]
    for number, (other, count) in enumerate(waits):
        fields += [f"WT{number}={TAGS[other]}, WC{number}={count}"] if count else []
    header = ", ".join(fields)
    if unit == "LD":
        text = f"LOAD {header}, D={place}, S=0, N={size}, NB=1"
        return Row(text, unit, 5 + -(-size // 8), "link", (place, size), (0, 0))
    if unit == "ST":
        text = f"STORE {header}, D=8192, S={place}, N={size}, NB=1"
        return Row(text, unit, 5 + -(-size // 8), "link", (0, 0), (place, size))
    return Row(f"FILL {header}, T=i8, O={place}, N={size}, OA=1", unit, size, "VPU", (place, size), (0, 0))


waits = st.lists(st.tuples(st.sampled_from(UNITS), st.integers(0, 4)), max_size=2).map(tuple)

programs = st.lists(st.tuples(st.sampled_from(UNITS), st.integers(0, 40), st.integers(0, 20), waits), max_size=12)


def cycle_by_cycle(program: list[Row], waits: list[tuple[tuple[str, int], ...]]) -> list[int] | None:
    """Start cycles; None for a deadlock."""
    starts: dict[int, int] = {}
    dispatched = 0
    for cycle in range(2000):
        changed = True
        while changed:
            changed = False
            done = {i for i, s in starts.items() if s + program[i].cycles <= cycle}
            counts = {unit: sum(1 for i in done if program[i].unit == unit) for unit in UNITS}
            while dispatched < len(program):
                unit = program[dispatched].unit
                waiting = sum(1 for i in range(dispatched) if program[i].unit == unit and i not in starts)
                if DEPTHS[unit] and waiting >= DEPTHS[unit]:
                    break
                dispatched += 1
            for i in range(dispatched):
                earlier = [j for j in range(i) if program[j].unit == program[i].unit]
                busy = [j for j in starts if j not in done and program[j].resource == program[i].resource]
                ready = all(counts[unit] >= count for unit, count in waits[i])
                if i not in starts and ready and not busy and all(j in done for j in earlier):
                    starts[i] = cycle
                    changed = True
                    break
        if len(starts) == len(program):
            return [starts[i] for i in range(len(program))]
    return None


@SETTINGS
@given(programs)
def test_cycle_by_cycle(bench: Any, program: list[Any]):
    made = [make_row(*item) for item in program]
    expected = cycle_by_cycle(made, [item[3] for item in program])
    text = "\n".join(row.text for row in made)
    if expected is None:
        with pytest.raises(Trap, match="deadlock"):
            bench.run(text, on_chip(bench), functional=False, checks=False)
        return
    result = bench.run(text, on_chip(bench), functional=False, checks=False)
    ends = [start + row.cycles for start, row in zip(expected, made, strict=True)]
    assert result.cycles == max(ends, default=0)
    assert [issue.start_cycle for issue in sorted(result.issues, key=lambda issue: issue.index)] == expected


def pair_by_pair(made: list[Row], waits: list[tuple[tuple[str, int], ...]]) -> bool:
    """Whether two instructions touch a byte that one of them writes, and no chain of waits orders them."""
    before = [[False] * len(made) for _ in made]
    places = {unit: [i for i, row in enumerate(made) if row.unit == unit] for unit in UNITS}
    for queue in places.values():
        for i, j in itertools.pairwise(queue):
            before[i][j] = True
    for j, pairs in enumerate(waits):
        for unit, count in pairs:
            if count:
                before[places[unit][count - 1]][j] = True
    for k, i, j in itertools.product(range(len(made)), repeat=3):
        before[i][j] |= before[i][k] and before[k][j]

    def meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
        return max(a[0], b[0]) < min(a[0] + a[1], b[0] + b[1])

    for (i, a), (j, b) in itertools.combinations(enumerate(made), 2):
        conflict = meet(a.writes, b.writes) or meet(a.writes, b.reads) or meet(a.reads, b.writes)
        if conflict and a.unit != b.unit and not before[i][j] and not before[j][i]:
            return True
    return False


@SETTINGS
@given(programs)
def test_hazards_pair_by_pair(bench: Any, program: list[Any]):
    made = [make_row(*item) for item in program]
    pairs = [item[3] for item in program]
    if cycle_by_cycle(made, pairs) is None:
        return
    text = "\n".join(row.text for row in made)
    if pair_by_pair(made, pairs):
        with pytest.raises(Trap, match="hazard"):
            bench.run(text, on_chip(bench), functional=False)
    else:
        bench.run(text, on_chip(bench), functional=False)
