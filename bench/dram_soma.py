"""Our schedules against SoMa's stored ones: energy x latency in SoMa's model and in the exact one, gaps, CPU time.

SoMa's results (its public code, one thread, legal buffers) lie in soma_results.json: give its path, or have it in
../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import json
from math import exp, log
from pathlib import Path
from typing import Any

from measure import Report, cpu_seconds

from tilewright.costs.dram import Model
from tilewright.costs.dram.bound import least_product, lower_bound
from tilewright.costs.notation import Choices, Move, check_capacity, check_schedule, parse, times_of, transfer_cycles
from tilewright.costs.notation.price_file import (
    ARGUMENTS,
    parse_fusion,
    parse_request,
    parse_transfers,
    price_transfers,
    setting,
    soma_parsed,
)
from tilewright.search.dram import Effort, schedule

FASTER, BETTER, BETTER_EXACT, FAR, NEAR = 50, 0.96, 1.10, 0.05, 0.015
WARM, REPEATS = Effort(rounds=5), 3


def soma_row(run: dict[str, Any], report: Report) -> tuple[float, bool]:
    """Energy x latency of ours over SoMa's in its model; whether SoMa stands far above its own cycles.

    SoMa's gap over its own compute and DRAM cycles should be halved, or the bound of all schedules be within 1.5 % of
    what is left.
    """
    network, machine, batch = setting(parse_request(run["args"], ARGUMENTS, ""), "")
    model = Model(machine.array, machine.buffer_bytes, machine.dram_bandwidth, 0, machine.array.read_port, 0)
    schedule(network, model, batch, effort=WARM)
    seconds, found = cpu_seconds(lambda: schedule(network, model, batch), REPEATS)
    table, second = found.timetable, run["stage2"]
    made = parse(network, Choices(table.fusion, batch), model)
    moves = [Move(made.number[t.kind, t.layer, t.tile, t.source], t.start, t.end) for t in table.transfers]
    check_schedule(made, moves)
    check_capacity(made, moves, machine.buffer_bytes)
    latency = times_of(made, moves, transfer_cycles(made, machine.dram_bandwidth, 0)).latency_cycles
    assert latency == table.latency_cycles
    ratio = made.energy_pj * latency / (second["energy"] * second["latency"])
    gap = second["latency"] / max(run["ideal"]["sum_compute"], run["ideal"]["sum_dram"]) - 1
    own = table.latency_cycles / max(table.compute_cycles, table.dram_cycles) - 1
    bound = lower_bound(network, model, batch)
    name = f"{network.name} x{batch} {machine.buffer_bytes >> 20} MiB"
    print(f"\n{name}: {table.latency_cycles} cycles ({second['latency']}), {table.energy_pj:.4g} pJ ", end="")
    print(f"({second['energy']:.4g}), gap to own cycles {own:.1%} ({gap:.1%}), ", end="")
    floor = bound.latency_cycles / max(bound.compute_cycles, bound.dram_bytes / machine.dram_bandwidth) - 1
    print(f"no schedule below {bound.latency_cycles} ({floor:.1%} above all work and all traffic): {bound.binding}")
    if gap > FAR:
        report.add(f"{name}: gap halved, or floor reached", own, max(gap / 2, floor + NEAR))
    report.add(f"{name}: energy x latency", ratio, 1 + 1e-12)
    report.add(f"{name}: CPU time", seconds, run["cpu_user_s"] / FASTER, "s")
    return ratio, gap > FAR


HEADER = ("network", "ours", "theirs", "better", "most", "own gap", "bound gap", "buffer that theirs lacks")
"""Columns of the exact model's table: cycles, energy x latency and the most that a bound allows, gaps of ours."""


def exact_row(run: dict[str, Any]) -> tuple[float, float, tuple[str, ...]]:
    """Energy x latency of SoMa's schedule over ours in the exact model, the most that a bound allows, a table's row."""
    network, machine, batch = setting(parse_request(run["args"], ARGUMENTS, ""), "")
    model = Model(machine.array, machine.buffer_bytes, machine.dram_bandwidth, 0, machine.array.read_port, 1)
    made = soma_parsed(network, machine, parse_fusion(run["stage1"]["enc"]), batch, exact=1)
    transfers = parse_transfers(run["stage2"]["enc"], made)
    theirs: Any = price_transfers(made, transfers, machine)
    product = made.energy_pj * theirs["latency_cycles"]
    table, bound = schedule(network, model, batch).timetable, lower_bound(network, model, batch)
    ratio = product / (table.energy_pj * table.latency_cycles)
    most = product / least_product(network, model, batch, bound)
    own = table.latency_cycles / max(table.compute_cycles, table.dram_cycles) - 1
    lacks = ", ".join(theirs["violations"]) or "none"
    name = f"{network.name} x{batch} {machine.buffer_bytes >> 20} MiB"
    gaps = f"{own:.1%}", f"{table.latency_cycles / bound.latency_cycles - 1:.1%}"
    cycles = str(table.latency_cycles), str(theirs["latency_cycles"])
    return ratio, most, (name, *cycles, f"{ratio:.3f}x", f"{most:.3f}x", *gaps, lacks)


def print_rows(rows: list[tuple[str, ...]]) -> None:
    """Columns side by side."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def mean(values: list[float]) -> float:
    """The geometric one."""
    return exp(sum(map(log, values)) / len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).parents[2] / "shared/data/soma_results.json"
    parser.add_argument("results", nargs="?", type=Path, default=default, help="(default: %(default)s)")
    path: Path = parser.parse_args().results
    if not path.is_file():
        parser.error(f"{path}: no such file")
    document = json.loads(path.read_text())
    report = Report()
    rows = [soma_row(run, report) for run in document["runs"]]
    print()
    report.add("geometric mean where SoMa is far", mean([ratio for ratio, above in rows if above]), BETTER)
    exact = [exact_row(run) for run in document["runs"]]
    print("\nexact model:")
    print_rows([HEADER, *(row for _, _, row in exact)])
    ours, most = mean([ratio for ratio, _, _ in exact]), mean([most for _, most, _ in exact])
    print(f"ours {ours:.4f}x better in the geometric mean; no schedules are more than {most:.4f}x better")
    report.add(
        f"exact: {BETTER_EXACT}x better, or proven out of reach", min(BETTER_EXACT / ours, most / BETTER_EXACT), 1.0
    )
    report.finish()


if __name__ == "__main__":
    main()
