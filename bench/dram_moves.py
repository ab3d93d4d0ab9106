"""Moves of a transfer's place and life per second, on one core, and how a move's time grows with the transfers."""

from __future__ import annotations

import argparse

import numpy as np
from measure import Report, cpu_seconds

from tilewright.costs.dram import Model, net_tables, score, workspace
from tilewright.costs.dram.tables import FUSED_GROUP, Stages
from tilewright.costs.soma import hardware
from tilewright.costs.soma.blocks import splits
from tilewright.search.dram.living import Living, anneal_lives, latency_of, living
from tilewright.search.dram.starts import uniform_state
from tilewright.search.random_numbers import seeded
from tilewright.zoo.schedule_networks import schedule_network

MOVES_PER_SECOND = 1e5
ROUNDS = 100_000
SLACK = 1.5


def transfers_of(name: str, batch: int, tiles: int) -> Living:
    """The transfers of a network whose layers run one after the other in `tiles` tiles each."""
    machine = hardware(64, 1, 4, 256, 512)
    model = Model(machine.array, machine.buffer_bytes, 16, 0, 256, 0)
    network = schedule_network(name)
    net, state = net_tables(network), uniform_state(len(network.layers), FUSED_GROUP, tiles)
    state[1, ::4] = 2
    work = workspace(net, 1 << 15)
    score(net, model, splits(4), batch, state, work, 0, 0)
    stages = work.stages
    last = stages[Stages.FIRST] + (stages[Stages.TILES] - 1) * stages[Stages.STEP] + 1
    ends = np.array([last[stages[Stages.GROUP] == group].max() for group in stages[Stages.GROUP]])
    return living(work, ends)


def seconds_per_move(given: Living) -> tuple[float, float]:
    """CPU seconds of a draw, and the part of the draws that are legal."""
    cumulative = np.cumsum(np.maximum(given.table[0], 1))
    costs = np.full(2, float(latency_of(given)))
    legal = [0]

    def run() -> None:
        best = given.table.copy()
        rounds, undo = (0, ROUNDS, ROUNDS), np.zeros(4, np.int64)
        legal[0] = anneal_lives(given, best, cumulative, 64 << 20, 1, rounds, seeded(0), costs.copy(), undo)

    run()
    return cpu_seconds(run, 2)[0] / ROUNDS, legal[0] / ROUNDS


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    report = Report()
    cases = [("resnet50", 4, 1), ("resnet50", 4, 4), ("resnet101", 4, 4), ("inception_resnet_v1", 4, 4)]
    times: list[tuple[int, float]] = []
    for name, batch, tiles in cases:
        given = transfers_of(name, batch, tiles)
        seconds, legal = seconds_per_move(given)
        times.append((len(given.order), seconds))
        print(
            f"{name} x{batch} in {tiles} tiles: {len(given.order)} transfers, {len(given.tile_cycles)} tiles, ", end=""
        )
        print(f"{1 / seconds:.3g} moves a second, {legal:.0%} of them legal")
        if len(times) == 1:
            report.add("resnet50, batch 4: 1e5 moves", 1e5 * seconds, 1e5 / MOVES_PER_SECOND, "s")
            report.add("resnet50, batch 4: 1e5 legal moves", 1e5 * seconds / legal, 1e5 / MOVES_PER_SECOND, "s")
    least, most = min(times), max(times)
    report.add("growth of time over growth of transfers", most[1] / least[1] / (most[0] / least[0]), SLACK)
    report.finish()


if __name__ == "__main__":
    main()
