"""Buffers chosen with the partition: Cocco's tables 1 to 3 and figures 12 to 14.

    python bench/fusion_explore.py --networks resnet50,googlenet --samples 50000

writes `explore.json`, tables as markdown (`table1.md` to `table3.md`) and the plots to `out/fusion`; what is in
`explore.json` already is kept.  Ours prices at most a tenth as many groups as the others score points.  The exit code
tells whether ours is at or below every other method.  `--quick` is one network with few points.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusion_plot import bars, lines, markdown
from measure import Report

from tilewright.costs.fusion import Buffers
from tilewright.costs.fusion.of_machine import platform_of
from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.driver.partitions import find_work
from tilewright.frontends.acg import load_target
from tilewright.search.fusion import EXPLORERS, ExploreOptions, ExploreResult, explore
from tilewright.search.fusion.scene import scene_of

NETWORKS = ("resnet50", "googlenet", "randwire_a", "nasnet")
"""The networks of tables 1 to 3 (RandWire-A stands for RandWire there)."""

ALPHA = 0.002
ALPHAS = (0.0005, 0.001, 0.002, 0.005, 0.01)
KIB = 1024

FIXED = {"S": (512, 576), "M": (1024, 1152), "L": (2048, 2304)}
"""Fixed hardware of table 1: KiB of the buffers for maps and for weights."""

SHARED_FIXED = {"S": 576, "M": 1152, "L": 2304}
"""Fixed hardware of table 2, in KiB."""

Rows = dict[str, dict[str, Any]]

PAPER = {
    "resnet50 separate": (10.4, 10.7, 12.4, 10.4, 10.7, 10.6, 10.4),
    "googlenet separate": (4.07, 5.06, 7.18, 3.88, 3.80, 3.78, 3.75),
    "randwire_a separate": (3.23, 3.92, 6.00, 3.31, 3.02, 3.00, 2.98),
    "nasnet separate": (61.4, 58.3, 56.6, 56.0, 56.6, 56.1, 55.9),
    "resnet50 shared": (10.1, 10.0, 10.4, 9.8, 9.8, 10.0, 9.8),
    "googlenet shared": (3.66, 4.04, 5.09, 3.65, 3.65, 3.75, 3.60),
    "randwire_a shared": (2.83, 3.03, 3.90, 2.85, 2.86, 2.92, 2.83),
    "nasnet shared": (63.6, 57.3, 55.1, 54.7, 54.2, 55.6, 53.7),
}
"""Cost / 1e6 in tables 1 and 2, in the order of `ORDER`."""

PAPER_3 = {
    "resnet50": (
        (4.21, 4.59, 1344),
        (6.32, 8.98, 1728),
        (11.88, 35.93, 2880),
        (4.38, 2.48, 768),
        (6.46, 4.78, 1088),
        (13.01, 19.12, 1664),
        (4.29, 1.39, 448),
        (6.58, 2.68, 640),
        (11.50, 10.71, 1664),
    ),
    "googlenet": (
        (1.61, 2.05, 384),
        (2.18, 3.91, 896),
        (5.64, 15.53, 1472),
        (1.66, 1.04, 192),
        (2.34, 1.99, 384),
        (5.84, 7.97, 960),
        (1.34, 0.54, 192),
        (2.20, 1.07, 192),
        (6.24, 4.30, 448),
    ),
    "randwire_a": (
        (1.26, 1.47, 384),
        (2.25, 2.74, 704),
        (8.66, 10.85, 1664),
        (1.41, 0.95, 192),
        (2.37, 1.80, 384),
        (8.39, 7.16, 1280),
        (1.39, 0.71, 192),
        (2.91, 1.40, 192),
        (9.24, 5.55, 960),
    ),
    "nasnet": (
        (28.57, 49.92, 2624),
        (47.68, 99.87, 3072),
        (133.03, 396.90, 3072),
        (29.18, 24.93, 1728),
        (48.80, 49.73, 2624),
        (153.25, 227.19, 3072),
        (28.00, 14.56, 960),
        (45.03, 28.58, 1664),
        (131.98, 133.38, 2816),
    ),
}
"""Table 3: mJ, ms and KiB for 1, 2 and 4 cores, each with 1, 2 and 8 samples."""

ORDER = ("fixed S", "fixed M", "fixed L", "random+genetic", "grid+genetic", "annealing", "genetic", "ours")


@dataclass(frozen=True)
class Effort:
    """Points to score (ours prices a tenth as many groups), and CPU seconds after which ours ends."""

    samples: int
    seconds: float

    def options(self, method: str, *, shared: bool = True, alpha: float = ALPHA) -> ExploreOptions:
        """How one method searches."""
        limit = self.seconds if method == "ours" else None
        each = max(1, self.samples // 10)
        return ExploreOptions(
            method, alpha=alpha, shared=shared, samples=self.samples, per_candidate=each, time_limit_s=limit
        )


def pricer_of(name: str, batch: int = 1, cores: int = 1) -> SubgraphPricer:
    """Prices by energy on Cocco's machine."""
    platform = platform_of(load_target("cocco_npu"))
    return SubgraphPricer(find_work(name).graph, platform, batch=batch, cores=cores, metric="energy")


def row_of(result: ExploreResult, alpha: float) -> dict[str, Any]:
    """What is kept of a result."""
    return {
        "global_kib": result.buffers.global_bytes // KIB,
        "weight_kib": (result.buffers.weight_bytes or 0) // KIB,
        "total_bytes": result.buffers.total_bytes,
        "cost": result.cost,
        "energy_pj": (result.cost - result.buffers.total_bytes) / alpha,
        "latency_cycles": sum(cost.latency_cycles for cost in result.costs),
        "samples": result.samples,
        "evaluations": result.evaluations,
        "distinct": result.distinct,
        "proven": result.proven,
        "cpu_s": result.cpu_s,
        "history": [list(entry) for entry in result.history],
        "points": [list(point) for point in result.points[:: max(1, len(result.points) // 2000)]],
        "front": [[point.buffers.total_bytes, point.metric] for point in result.front],
    }


def found(
    pricer: SubgraphPricer, options: ExploreOptions, buffers: tuple[Buffers, ...] | None = None
) -> dict[str, Any]:
    """What a search answers."""
    return row_of(explore(scene_of(pricer), pricer, options, buffers), options.alpha)


def fixed(name: str, shared: bool, size: str, effort: Effort) -> dict[str, Any]:
    """The best partition for given buffers."""
    buffers = Buffers(SHARED_FIXED[size] * KIB) if shared else Buffers(*(kib * KIB for kib in FIXED[size]))
    return found(pricer_of(name), effort.options("ours"), (buffers,))


def table(name: str, shared: bool, effort: Effort, rows: Rows, methods: list[str], save: Callable[[], object]) -> None:
    """A network's part of table 1 (separate) or 2 (shared)."""
    for method in methods:
        if method not in rows:
            size = method.removeprefix("fixed ")
            limit = fixed(name, shared, size, effort) if size in FIXED else None
            rows[method] = limit or found(pricer_of(name), effort.options(method, shared=shared))
            save()
    print(f"{name}, {'shared (table 2)' if shared else 'separate (table 1)'}")
    for method in sorted(rows, key=ORDER.index):
        row = rows[method]
        print(
            f"  {method:16} {size_of(row):22} cost {row['cost'] / 1e6:8.4f}e6  points {row['samples']:6} "
            f"groups {row['distinct']:6} priced {row['evaluations']:6} CPU {row['cpu_s']:6.1f} s"
            f"{'  proven' if row['proven'] else ''}",
            flush=True,
        )


def size_of(row: dict[str, Any]) -> str:
    """Buffers in words."""
    return f"{row['global_kib']} KiB" + (f" + {row['weight_kib']} KiB" if row["weight_kib"] else "")


def sweep(name: str, effort: Effort, rows: Rows, save: Callable[[], object]) -> None:
    """Figure 14: shared buffers for several alphas; table 3: cores and batches."""
    for alpha in ALPHAS:
        key = f"alpha {alpha}"
        if key not in rows:
            rows[key] = found(pricer_of(name), effort.options("ours", alpha=alpha))
            save()
    for cores in (1, 2, 4):
        for batch in (1, 2, 8):
            key = f"cores {cores} batch {batch}"
            if key not in rows:
                rows[key] = found(pricer_of(name, batch, cores), effort.options("ours"))
                save()
    print(f"{name}: alphas (figure 14), cores and batches (table 3)")
    for key, row in rows.items():
        print(
            f"  {key:16} {row['energy_pj'] / 1e9:8.3f} mJ {row['latency_cycles'] / 1e6:8.3f} ms at 1 GHz "
            f"{row['global_kib']:5} KiB",
            flush=True,
        )


def plot(results: dict[str, Rows], folder: Path) -> None:
    """Figures 12 (convergence), 13 (points on their way) and 14 (size against energy)."""
    for name in NETWORKS:
        rows = results.get(f"{name} shared", {})
        curves = {m: [(x, y / 1e6) for x, y in rows[m]["history"]] for m in EXPLORERS if m in rows}
        if curves:
            title = f"{name}: best cost (Cocco, figure 12)"
            lines(folder / f"figure12_{name}.svg", title, ("points", "cost / 1e6"), curves, log_x=True)
        points = rows.get("genetic", {}).get("points", [])
        if points:
            tenth = max(1, max(point[0] for point in points) // 10 + 1)
            tenths = {
                f"{i + 1}/10": [(size / KIB, e / 1e9) for n, size, e in points if n // tenth == i] for i in range(10)
            }
            tenths = {key: values for key, values in tenths.items() if values}
            title = f"{name}: genetic points (Cocco, figure 13)"
            lines(folder / f"figure13_{name}.svg", title, ("KiB", "energy in mJ"), tenths, joined=False)
    names = [name for name in NETWORKS if all(f"alpha {a}" in results.get(f"{name} sweep", {}) for a in ALPHAS)]
    if names:
        series = {
            f"alpha {a}": [results[f"{n} sweep"][f"alpha {a}"]["total_bytes"] / KIB for n in names] for a in ALPHAS
        }
        bars(folder / "figure14_size.svg", "Buffer in KiB by alpha (Cocco, figure 14)", names, series)
        base = {n: results[f"{n} sweep"][f"alpha {ALPHAS[0]}"]["energy_pj"] for n in names}
        series = {
            f"alpha {a}": [results[f"{n} sweep"][f"alpha {a}"]["energy_pj"] / base[n] for n in names] for a in ALPHAS
        }
        bars(folder / "figure14_energy.svg", "Energy by alpha, relative to the first (Cocco, figure 14)", names, series)


def write_tables(results: dict[str, Rows], folder: Path) -> None:
    """Tables 1 to 3 as markdown, in parentheses what the paper has."""
    for number, part in ((1, "separate"), (2, "shared")):
        keys = [f"{name} {part}" for name in NETWORKS if f"{name} {part}" in results]
        lines = [[method, *(_cost(results[key].get(method), PAPER[key], method) for key in keys)] for method in ORDER]
        head = [f"{key.split()[0]}: KiB; cost / 1e6" for key in keys]
        markdown(folder / f"table{number}.md", ["method", *head], lines)
    write_counts(results, folder)
    names = [name for name in NETWORKS if f"{name} sweep" in results]
    settings = [(cores, batch) for cores in (1, 2, 4) for batch in (1, 2, 8)]
    lines = [
        [str(cores), str(batch)]
        + [_sensitivity(results[f"{n} sweep"].get(f"cores {cores} batch {batch}"), PAPER_3[n][place]) for n in names]
        for place, (cores, batch) in enumerate(settings)
    ]
    markdown(folder / "table3.md", ["cores", "batch", *(f"{name}: mJ; ms; KiB" for name in names)], lines)


def _cost(row: dict[str, Any] | None, paper: tuple[float, ...], method: str) -> str:
    """A network's part of a line of tables 1 and 2."""
    place = ORDER.index(method)
    told = f" ({paper[place]:.3g})" if place < len(paper) else ""
    return f"{size_of(row).replace(' KiB', '')}; {row['cost'] / 1e6:.3f}{told}" if row else told.strip()


def _sensitivity(row: dict[str, Any] | None, paper: tuple[float, float, int]) -> str:
    """A network's part of a line of table 3."""
    if row is None:
        return ""
    values = f"{row['energy_pj'] / 1e9:.2f}", f"{row['latency_cycles'] / 1e6:.2f}", str(row["global_kib"])
    return "; ".join(f"{value} ({told})" for value, told in zip(values, paper, strict=True))


def write_counts(results: dict[str, Rows], folder: Path) -> None:
    """What each method of tables 1 and 2 has asked for, as markdown."""
    keys = [f"{name} {part}" for part in ("separate", "shared") for name in NETWORKS]
    keys = [key for key in keys if key in results]
    lines = [
        [key, *(f"{row['samples']}; {row['distinct']}; {row['evaluations']}" if row else "" for row in rows)]
        for key in keys
        for rows in ([results[key].get(method) for method in ORDER[3:]],)
    ]
    markdown(folder / "counts.md", ["points; groups; priced", *ORDER[3:]], lines)


def judge(results: dict[str, Rows]) -> None:
    """Ours against the rest."""
    report = Report()
    for key, rows in results.items():
        if "ours" in rows and "sweep" not in key:
            others = {name: row for name, row in rows.items() if name != "ours" and not name.startswith("fixed")}
            if others:
                least = min(row["cost"] for row in others.values())
                report.add(f"{key}: ours over the best other", rows["ours"]["cost"], least)
                most = max(row["samples"] for row in others.values())
                report.add(f"{key}: groups priced by ours", rows["ours"]["evaluations"], most / 10 * 1.05)
    report.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--methods", default=",".join(ORDER))
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU limit of each search of ours")
    parser.add_argument("--parts", default="separate,shared,sweep")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("out/fusion"))
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.networks, arguments.samples, arguments.seconds, arguments.parts = "resnet50", 1000, 2.0, "shared"
        arguments.out /= "quick"
    arguments.out.mkdir(parents=True, exist_ok=True)
    effort = Effort(arguments.samples, arguments.seconds)
    path = arguments.out / "explore.json"
    results: dict[str, Rows] = json.loads(path.read_text()) if path.is_file() else {}

    def save() -> None:
        path.write_text(json.dumps(results) + "\n")

    for name in arguments.networks.split(","):
        for part in arguments.parts.split(","):
            rows = results.setdefault(f"{name} {part}", {})
            if part == "sweep":
                sweep(name, effort, rows, save)
            else:
                table(name, part == "shared", effort, rows, arguments.methods.split(","), save)
    write_tables(results, arguments.out)
    plot(results, arguments.out)
    judge(results)


if __name__ == "__main__":
    main()
