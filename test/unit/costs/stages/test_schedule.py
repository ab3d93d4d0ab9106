"""When instructions of stages run: by a plain event loop of its own, on programs drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import load_target
from tilewright.costs.stages.code import Row, StageCode, read_code
from tilewright.costs.stages.schedule import clocks, run_stages
from tilewright.machine.encoding import encode

MACHINE = load_target("vta")
QUEUES = {0: (0, 1), 1: (1, 0), 2: (1, 2), 3: (2, 1)}  # queue -> units that push and pop


def drawn(seed: int) -> StageCode:
    """A program whose tokens are pushed before they are popped in program order, so that it always runs to its end."""
    rng = np.random.default_rng(seed)
    names = {0: ("LOAD_INP", "LOAD_WGT"), 1: ("LOAD_UOP", "RESET"), 2: ("STORE",)}
    bits = {(0, "pop"): {1: "POP_NEXT"}, (0, "push"): {0: "PUSH_NEXT"}, (2, "pop"): {2: "POP_PREV"}}
    bits |= {(2, "push"): {3: "PUSH_PREV"}, (1, "pop"): {0: "POP_PREV", 3: "POP_NEXT"}}
    bits[1, "push"] = {1: "PUSH_PREV", 2: "PUSH_NEXT"}
    held = dict.fromkeys(QUEUES, 0)
    words: list[bytes] = []
    for _ in range(60):
        unit = int(rng.integers(0, 3))
        name = names[unit][int(rng.integers(0, len(names[unit])))]
        fields = {"UE": 1, "OUTER": 1, "INNER": int(rng.integers(1, 90))} if name == "RESET" else {}
        if not fields:
            fields = {"Y": 1, "X": int(rng.integers(0, 60)), "STRIDE": 1}
        for queue, field in bits[unit, "pop"].items():
            if held[queue] and rng.random() < 0.5:
                fields[field], held[queue] = 1, held[queue] - 1
        for queue, field in bits[unit, "push"].items():
            if rng.random() < 0.4:
                fields[field], held[queue] = 1, held[queue] + 1
        words.append(encode(MACHINE, name, fields))
    return read_code(MACHINE, b"".join(words))


def plain(code: StageCode) -> tuple[list[int], list[int]]:
    """Cycle by cycle: the bus serves one request at a time, fetching first, then by age and unit."""
    rows, count = code.rows, len(code.rows)
    start, end = [-1] * count, [-1] * count
    arrived: list[int] = []
    left = [[i for i in range(count) if rows[i, Row.UNIT] == unit] for unit in range(3)]
    running: dict[int, int] = {}
    tokens = dict.fromkeys(QUEUES, 0)
    bus_until, asked, fetching, cycle = 0, [], None, 0
    while min(end) < 0:
        for unit, index in list(running.items()):
            if end[index] == cycle:
                for queue in QUEUES:
                    tokens[queue] += int(rows[index, Row.PUSHES]) >> queue & 1
                del running[unit]
        if fetching == cycle:
            arrived.append(cycle)
            fetching = None
        if fetching is None and len(arrived) < count:
            fetching = -1
            asked.append((cycle, -1, -1))
        for unit in range(3):
            if unit in running or not left[unit] or left[unit][0] >= len(arrived):
                continue
            index = left[unit][0]
            if any(int(rows[index, Row.POPS]) >> queue & 1 and not tokens[queue] for queue in QUEUES):
                continue
            for queue in QUEUES:
                tokens[queue] -= int(rows[index, Row.POPS]) >> queue & 1
            left[unit].pop(0)
            running[unit], start[index] = index, cycle
            if rows[index, Row.BEATS]:
                asked.append((cycle, unit, index))
            else:
                end[index] = cycle + int(rows[index, Row.CYCLES])
        while asked and bus_until <= cycle:
            _, unit, index = asked.pop(asked.index(min(asked)))
            bus_until = cycle + (2 if unit < 0 else int(rows[index, Row.BEATS]))
            if unit < 0:
                fetching = bus_until
            else:
                end[index] = bus_until + int(rows[index, Row.CYCLES])
        cycle += 1
    return start, end


@pytest.mark.parametrize("seed", range(12))
def test_times_are_those_of_a_plain_event_loop(seed: int) -> None:
    code = drawn(seed)
    start, end, order, _ = run_stages(code)
    assert len(order) == len(code.rows)
    assert (start.tolist(), end.tolist()) == plain(code)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_ordered_is_ordered_in_every_run(seed: int) -> None:
    """Other times of instructions never turn round what the tokens order."""
    code = drawn(seed)
    order = run_stages(code)[2]
    known = clocks(code.rows, 3, 4, order)
    rng = np.random.default_rng(seed)
    places = [np.flatnonzero(code.rows[:, Row.UNIT] == unit) for unit in range(3)]
    for _ in range(20):
        code.rows[:, Row.CYCLES] = rng.integers(1, 500, len(code.rows))
        start, end, again, _ = run_stages(code)
        assert (clocks(code.rows, 3, 4, again) == known).all()
        for index in range(len(code.rows)):
            for unit in range(3):
                before = places[unit][: known[index, unit] - (code.rows[index, Row.UNIT] == unit)]
                assert len(before) == 0 or end[before].max() <= start[index]
