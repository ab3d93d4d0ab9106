"""Partitions by every method: Cocco's figure 11 (traffic and bandwidth relative to greedy) and figure 3 (L = 1, 3, 5).

    python bench/fusion_partition.py --networks vgg16,resnet50 --samples 20000 --seconds 60

writes `partition.json`, tables as markdown and the plots to `out/fusion`; results that are in `partition.json` already
are kept, so that networks can be measured one after another (`--again` measures anew; `--quick`: two networks, few
samples).  The exit code tells whether genetic equals enumeration on the four networks where that ends, and whether ours
is proven there, never worse than another method elsewhere, and within its time and gap.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from fusion_plot import bars, markdown
from measure import Report

from tilewright.costs.fusion.of_machine import platform_of
from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.driver.partitions import find_work, partition_work
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.search.fusion import METHODS, PartitionOptions
from tilewright.zoo.paper_networks import COCCO_NAMES

EXACT = ("vgg16", "resnet50", "resnet152", "googlenet")
"""Networks whose enumeration ends (section 5.2)."""

GAPS = {"transformer": 0.02, "gpt": 0.02, "randwire_a": 0.02, "randwire_b": 0.02, "nasnet": 0.05}
EXACT_CPU_S, WIDE_CPU_S = 5.0, 60.0

Table = dict[str, dict[str, dict[str, Any]]]


def measure(name: str, method: str, samples: int, seconds: float) -> dict[str, Any] | None:
    """One partition in numbers; None where the enumeration is given up."""
    work = find_work(name)
    pricer = SubgraphPricer(work.graph, platform_of(load_target("cocco_npu")))
    limit = seconds if method in ("ours", "genetic", "annealing") else None
    options = PartitionOptions(
        method, time_limit_s=limit, samples=samples if method in ("genetic", "annealing") else None
    )
    if method == "enumeration":
        if name not in EXACT:
            return None
        options = PartitionOptions(method)
    try:
        answer = partition_work(work, pricer, options)
    except TilewrightError as error:
        print(error)
        return None
    answer["groups"] = len(answer["groups"])
    del answer["history"]
    return answer


def show(name: str, rows: dict[str, dict[str, Any]]) -> None:
    """A table of one network."""
    print(f"{name:12} {'method':12} {'EMA in MB':>10} {'to greedy':>9} {'B/cycle':>8} {'gap':>7} {'CPU s':>7}")
    for method, row in rows.items():
        share = row["ema_bytes"] / rows["greedy"]["ema_bytes"] if "greedy" in rows else float("nan")
        speed = row["bandwidth"]["average_bytes_per_cycle"]
        print(
            f"{'':12} {method:12} {row['ema_bytes'] / 1e6:10.4f} {share:9.4f} {speed:8.3f} {row['gap']:7.2%} "
            f"{row['cpu_s']:7.2f}",
            flush=True,
        )


SEARCHES = ("greedy", "depth-dp", "annealing", "genetic", "ours", "enumeration")
"""Methods of figure 11."""

CHAINS = {"L = 1": "per-layer", "L = 3": "chain-3", "L = 5": "chain-5", "ours": "ours"}
"""Methods of figure 3."""


def values_of(row: dict[str, Any], value: str) -> float:
    """EMA, or a bandwidth, of one row."""
    return row[value] if value in row else row["bandwidth"][value]


def relative(table: Table, names: list[str], method: str, base: str, value: str) -> list[float | None]:
    """A method's value for each network, relative to the method `base`."""
    pairs = [(table[name].get(method), table[name].get(base)) for name in names]
    return [None if a is None or b is None else values_of(a, value) / values_of(b, value) for a, b in pairs]


def write_tables(table: Table, names: list[str], folder: Path) -> None:
    """Figures 11 and 3 as markdown: EMA in MB, what it is of that of greedy (of single layers), bytes a cycle."""
    for number, methods, base in ((11, SEARCHES, "greedy"), (3, tuple(CHAINS.values()), "per-layer")):
        lines: list[list[str]] = []
        for name in names:
            cells = [name]
            for method in methods:
                row = table[name].get(method)
                (share,) = relative(table, [name], method, base, "ema_bytes")
                speed = "" if row is None else f"{row['bandwidth']['average_bytes_per_cycle']:.2f}"
                cells.append("" if row is None else f"{row['ema_bytes'] / 1e6:.2f} ({share or 0:.3f}; {speed})")
            lines.append([*cells, f"{table[name]['ours']['gap']:.1%}" if "ours" in table[name] else ""])
        markdown(folder / f"figure{number}.md", ["network", *methods, "gap of ours"], lines)


def plot(table: Table, folder: Path) -> None:
    """Figures 11 and 3."""
    names = [name for name in COCCO_NAMES if "greedy" in table.get(name, {})]
    if not names:
        return
    write_tables(table, names, folder)
    for value, words in (("ema_bytes", "External memory access"), ("average_bytes_per_cycle", "Bandwidth")):
        series = {method: relative(table, names, method, "greedy", value) for method in SEARCHES}
        bars(folder / f"figure11_{value}.svg", f"{words} relative to greedy (Cocco, figure 11)", names, series)
    for value, words in (("ema_bytes", "EMA"), ("average_bytes_per_cycle", "Bandwidth")):
        series = {label: relative(table, names, method, "per-layer", value) for label, method in CHAINS.items()}
        bars(folder / f"figure3_{value}.svg", f"{words} relative to single layers (Cocco, figure 3)", names, series)


def judge(table: Table) -> None:
    """Targets."""
    report = Report()
    for name, rows in table.items():
        if "ours" not in rows:
            continue
        ours = rows["ours"]
        least = min(row["ema_bytes"] for row in rows.values())
        report.add(f"{name}: ours over the best of all methods", ours["ema_bytes"], least)
        report.add(f"{name}: ours, CPU", ours["cpu_s"], (EXACT_CPU_S if name in EXACT else WIDE_CPU_S) * 1.05, "s")
        if name in EXACT and "genetic" in rows and "enumeration" in rows:
            report.add(
                f"{name}: genetic over enumeration", rows["genetic"]["ema_bytes"], rows["enumeration"]["ema_bytes"]
            )
            report.add(f"{name}: ours proven", 1 - int(ours["proven"]), 0.5)
        elif name in GAPS:
            report.add(f"{name}: certified gap", ours["gap"], GAPS[name])
    report.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(COCCO_NAMES))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--samples", type=int, default=400_000, help="of genetic and annealing (the paper: 400000)")
    parser.add_argument("--seconds", type=float, default=55.0, help="CPU limit of ours, genetic and annealing")
    parser.add_argument("--out", type=Path, default=Path("out/fusion"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.networks, arguments.samples, arguments.seconds = "vgg16,resnet50", 1000, 5.0
        arguments.out /= "quick"
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "partition.json"
    table: Table = json.loads(path.read_text()) if path.is_file() else {}
    for name in arguments.networks.split(","):
        rows = table.setdefault(name, {})
        for method in arguments.methods.split(","):
            if method in rows and not arguments.again:
                continue
            found = measure(name, method, arguments.samples, arguments.seconds)
            if found is not None:
                rows[method] = found
                path.write_text(json.dumps(table, indent=1) + "\n")
        show(name, rows)
    plot(table, arguments.out)
    judge(table)


if __name__ == "__main__":
    main()
