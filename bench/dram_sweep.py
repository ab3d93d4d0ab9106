"""Buffer size against DRAM bandwidth, as Figure 7 of J. Cai et al., "SoMa", HPCA 2025, with our scheduler.

28 machines of 16 TOPS x ResNet-50 and a block of GPT-2 (512 tokens) x batch 1, 4, 16.  Writes a table (JSON) and heat
maps (SVG); a table that is there already is drawn, and networks and batches that it lacks are searched.

  python bench/dram_sweep.py [TABLE.json [PICTURE.svg]] [--jobs N] [--model soma|exact]
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from measure import Report

from tilewright.backends.report.heat_svg import HeatMap, heat_svg
from tilewright.costs.dram import Model, Timetable
from tilewright.costs.dram.bound import lower_bound
from tilewright.costs.soma import hardware
from tilewright.search.dram import Effort, Objective, schedule
from tilewright.zoo.schedule_networks import schedule_network

NETWORKS, BATCHES = ("resnet50", "gpt2_small_prefill"), (1, 4, 16)
BUFFERS_MIB, RATIOS = (4, 8, 16, 32), (0.125, 0.25, 0.5, 1, 2, 4, 8)
GBPS = tuple(int(16 * ratio) for ratio in RATIOS)
MOST_CPU_S = 2 * 30 * 60
"""Half an hour on two cores."""

ROUNDS = 3_000
"""Candidates of each walk."""

LATENCY = Objective(energy_power=0.0)
"""What is searched for: with energy, which grows with the buffer, a larger one is at times slower."""


class Point(NamedTuple):
    """A machine and what runs on it."""

    network: str
    batch: int
    buffer_mib: int
    ratio: float
    model: str

    @property
    def key(self) -> str:
        return f"{self.network} x{self.batch}, {self.buffer_mib} MiB, {int(16 * self.ratio)} GB/s"


def row_of(network: str, batch: int, model: str) -> dict[str, dict[str, float]]:
    """All machines for a network and batch: each begins with what is found for the next smaller buffer and bandwidth.

    A schedule runs with more buffer too, so latency falls from one to the next.
    """
    found: dict[tuple[int, int], Timetable] = {}
    rows: dict[str, dict[str, float]] = {}
    for i, j in product(range(len(BUFFERS_MIB)), range(len(RATIOS))):
        point = Point(network, batch, BUFFERS_MIB[i], RATIOS[j], model)
        known = [found[key] for key in ((i - 1, j), (i, j - 1)) if key in found]
        found[i, j], rows[point.key] = measured(point, known)
    return rows


def measured(point: Point, known: list[Timetable]) -> tuple[Timetable, dict[str, float]]:
    """The schedule found: latency, energy, the bound of all schedules, CPU seconds."""
    machine = hardware(point.buffer_mib, point.ratio, 4, 256, 512)
    exact = point.model == "exact"
    model = Model(machine.array, machine.buffer_bytes, machine.dram_bandwidth, 0, machine.array.read_port, int(exact))
    network, effort = schedule_network(point.network), Effort(rounds=ROUNDS, chains=2 if exact else 1)
    start = time.process_time()
    table = schedule(network, model, point.batch, LATENCY, effort, known=known).timetable
    seconds = time.process_time() - start
    bound = lower_bound(network, model, point.batch)
    return table, {
        "latency_cycles": table.latency_cycles,
        "energy_pj": round(table.energy_pj),
        "compute_cycles": table.compute_cycles,
        "dram_cycles": table.dram_cycles,
        "bound_cycles": bound.latency_cycles,
        "cpu_s": round(seconds, 2),
    }


def maps(table: dict[str, dict[str, float]], model: str) -> list[HeatMap]:
    """Latency of a sample in cycles, by network and batch."""
    found: list[HeatMap] = []
    for network, batch in product(NETWORKS, BATCHES):
        values = tuple(
            tuple(table[Point(network, batch, size, ratio, model).key]["latency_cycles"] / batch for ratio in RATIOS)
            for size in BUFFERS_MIB
        )
        rows, columns = tuple(f"{size} MiB" for size in BUFFERS_MIB), tuple(map(str, GBPS))
        found.append(HeatMap(f"{network}, batch {batch}", rows, columns, values))
    return found


def mean(values: list[float]) -> float:
    """The geometric one."""
    return exp(sum(map(log, values)) / len(values))


def gains(item: HeatMap) -> tuple[float, float]:
    """Speed-up of an eightfold buffer, mean over bandwidths, and of an eightfold bandwidth (2 to 16, 16 to 128)."""
    by_size = [item.values[0][j] / item.values[-1][j] for j in range(len(item.columns))]
    by_rate = [row[j] / row[j + 3] for row in item.values for j in (0, 3)]
    return mean(by_size), mean(by_rate)


def enough(item: HeatMap) -> list[str]:
    """For each buffer the bandwidth from which on more of it gains less than 5 % in all."""
    found: list[str] = []
    for row in item.values:
        found.append(next(name for name, value in zip(item.columns, row, strict=True) if value <= 1.05 * row[-1]))
    return found


def slower(drawn: list[HeatMap]) -> int:
    """Points that take longer than one with less buffer or less bandwidth."""
    found = 0
    for item in drawn:
        for i, row in enumerate(item.values):
            found += sum(row[j] > row[j - 1] for j in range(1, len(row)))
            found += sum(value > above for value, above in zip(row, item.values[i - 1], strict=True)) if i else 0
    return found


def tell(drawn: list[HeatMap]) -> None:
    """The numbers behind the two insights."""
    for item in drawn:
        size, rate = gains(item)
        flat = sum(value <= 1.05 * min(map(min, item.values)) for row in item.values for value in row)
        print(f"{item.title:32} buffer x8: {size:5.2f}x faster, bandwidth x8: {rate:5.2f}x", end="; ")
        print(f"enough GB/s at {', '.join(item.rows)}: {', '.join(enough(item))}; {flat} of 28 within 5 % of the best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", type=Path, default=Path("dram_sweep.json"))
    parser.add_argument("picture", nargs="?", type=Path, default=Path("dram_sweep.svg"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--model", choices=["soma", "exact"], default="soma")
    asked = parser.parse_args()
    table: dict[str, dict[str, float]] = json.loads(asked.table.read_text()) if asked.table.exists() else {}
    cases = [(network, batch) for batch, network in product(BATCHES, NETWORKS)]
    missing = [case for case in cases if Point(*case, BUFFERS_MIB[-1], RATIOS[-1], asked.model).key not in table]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for found in pool.map(row_of, *zip(*missing, strict=True), [asked.model] * len(missing)) if missing else ():
            table |= found
            rows = ",\n".join(f'  "{key}": {json.dumps(row)}' for key, row in table.items())
            asked.table.write_text("{\n" + rows + "\n}\n")
    drawn = maps(table, asked.model)
    title = f"Cycles for each sample, model {asked.model} (red: within 5 % of the least)"
    asked.picture.write_text(heat_svg(drawn, 3, ("buffer", "DRAM bandwidth in GB/s"), title))
    tell(drawn)
    report = Report()
    report.add("CPU time of all points", sum(row["cpu_s"] for row in table.values()), MOST_CPU_S, "s")
    above = mean([row["latency_cycles"] / row["bound_cycles"] for row in table.values()])
    report.add("points slower than one with less", slower(drawn), 0.5)
    report.add("mean latency over the bound of all schedules", above, 1.10)
    report.finish()


if __name__ == "__main__":
    main()
