"""Schedules against exhaustive search on tiny bodies."""

import random
from itertools import product

from tilewright.machine.packet_program import Instruction, Isa
from tilewright.passes.nest_to_packets.scheduling import Edge, dependences, lowest_of, schedule_loop, schedule_straight

from .machines import isa_of


def random_body(rng: random.Random, count: int) -> list[Instruction]:
    """Vector instructions, loads and stores on four vectors and two addresses."""
    body: list[Instruction] = []
    for _ in range(count):
        kind = rng.choice(["VADD", "VMAX", "MOVE", "LOAD", "LOADNEXT", "STORE"])
        x, y, z = (rng.randrange(4) for _ in range(3))
        r = rng.randrange(1, 3)
        match kind:
            case "VADD" | "VMAX":
                body.append(Instruction(kind, (("O", x), ("A", y), ("B", z))))
            case "MOVE":
                body.append(Instruction(kind, (("O", x), ("A", y))))
            case "STORE":
                body.append(Instruction(kind, (("A", x), ("B", r), ("I", 0)), writes=("m",)))
            case _:
                body.append(Instruction(kind, (("O", x), ("B", r), ("I", 1)), reads=("m",)))
    return body


def right(times: tuple[int, ...], edges: list[Edge], interval: int) -> bool:
    return all(times[e.target] + interval * e.distance >= times[e.source] + e.latency for e in edges)


def packed(isa: Isa, body: list[Instruction], times: tuple[int, ...], interval: int) -> bool:
    rows = [[b.mnemonic for b, t in zip(body, times, strict=True) if t % interval == row] for row in range(interval)]
    return all(isa.fits(row) for row in rows)


def test_intervals_are_the_shortest_there_are():
    isa, rng = isa_of("pair"), random.Random(3)
    shortest = 0
    for _ in range(40):
        body = random_body(rng, 3)
        edges = dependences(isa, body, loop=True)
        found = schedule_loop(isa, body)
        assert found is not None
        assert right(found.times, edges, found.interval)
        assert packed(isa, body, found.times, found.interval)
        for interval in range(lowest_of(isa, [b.mnemonic for b in body]), found.interval):
            spans = product(range(2 * interval + 8), repeat=len(body))
            assert not any(right(t, edges, interval) and packed(isa, body, t, interval) for t in spans)
        shortest += found.interval == lowest_of(isa, [b.mnemonic for b in body])
    assert shortest >= 10


def test_straight_code_keeps_its_order_where_it_matters():
    isa, rng = isa_of("pair"), random.Random(4)
    shorter = 0
    for _ in range(60):
        body = random_body(rng, 8)
        packets = schedule_straight(isa, body)
        assert sorted(map(id, (i for packet in packets for i in packet))) == sorted(map(id, body))
        at = {id(instruction): n for n, packet in enumerate(packets) for instruction in packet}
        for edge in dependences(isa, body):
            gap = at[id(body[edge.target])] - at[id(body[edge.source])]
            assert gap >= min(edge.latency, 1)
        assert all(isa.fits(i.mnemonic for i in packet) for packet in packets)
        shorter += len(packets) < len(body)
    assert shorter >= 40


def test_the_ends_of_a_pipeline_complete_it():
    """Before, steady state and after hold each instruction once for each trip."""
    isa, rng = isa_of("pair"), random.Random(5)
    for _ in range(20):
        body = random_body(rng, 4)
        pipeline = schedule_loop(isa, body)
        assert pipeline is not None
        trips = pipeline.stages + 2
        before, after = pipeline.ends(trips)
        rounds = trips - pipeline.stages + 1
        assert len(before) + len(after) + rounds * len(body) == trips * len(body)
        assert sum(map(len, pipeline.kernel())) == len(body)
