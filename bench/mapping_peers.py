"""Our mappers beside the mappings that other mappers found.

Each comparison prices both mappings with the exact model on the peer's machine; a mapping of ours is `valid` if that
model, alone, says that it fits and costs what the mapper said.  `gain` is the peer's EDP over ours, `most` the peer's
EDP over the bound that the mapper proved: what any mapper could gain at most (`limit`: over the bound that is known
without a search).  `floor` is the part of our energy that multiplications and the operands' reads at the innermost
memories take, whatever the mapping (memories that are bypassed set it lower).  Awkward layers have a bound with a prime
factor of 13 or more.

Rows are added to a table of JSON lines as soon as they are there, and rows that are there are not made again.  All 160
rows take less than ten processor minutes:

    python bench/mapping_peers.py --jobs 2
    python bench/mapping_peers.py sunstone --only resnet18 --time-limit 5 --method refine
    python bench/mapping_peers.py --summary
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import peers
import rows

from tilewright.algebra.factors import primes_of
from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.costs.model import evaluate_with
from tilewright.errors import TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Mapped, Request, Space

ROOT = Path(__file__).parents[1]
PARTS = ("sunstone", "cosa", "timeloop")
AWKWARD = 13

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    parts: tuple[str, ...]
    data: Path
    only: str
    limit_s: float
    mapper: str

    def wants(self, *names: str) -> bool:
        """Whether `--only` matches."""
        return re.search(self.only, "/".join(names)) is not None

    def has(self, row: Row) -> bool:
        """Whether a row is one of those asked for."""
        same = row["mapper"] == self.mapper and row["limit_s"] == self.limit_s
        return same and row["part"] in self.parts and self.wants(row["machine"], row["layer"])


@dataclass(frozen=True)
class Task:
    """A row to make: what a peer found for a problem, and its figures."""

    part: str
    machine: Architecture
    problem: Problem
    layer: str
    mapper: str
    request: Request
    peer: Row

    @property
    def key(self) -> tuple[str, ...]:
        return self.part, self.machine.name, self.layer


def main() -> None:
    options, jobs, out = _options()
    done = [row for row in rows.read(out) if options.has(row)]
    if jobs:
        known = {(row["part"], row["machine"], row["layer"]) for row in done}
        tasks = [task for part in options.parts for task in _tasks(part, options) if task.key not in known]
        for row in rows.make(out, tasks, _row, jobs):
            done.append(row)
            print(_line(row), flush=True)
    for part in options.parts:
        for line in _summary(part, [row for row in done if row["part"] == part]):
            print(line)


def _options() -> tuple[Options, int, Path]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"which tables: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder of the reference data")
    parser.add_argument("--only", default="", metavar="REGEX", help="machine/layer must match")
    parser.add_argument("--time-limit", type=float, default=2.0, help="processor seconds per layer (default 2)")
    parser.add_argument(
        "--method", "--mapper", dest="mapper", default="exact", help="the mapper to compare (default exact)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mapping_peers.jsonl", help="the table")
    parser.add_argument("--summary", action="store_true", help="make no rows; sum up what is there")
    found = parser.parse_args()
    for part in found.parts:
        if part not in PARTS:
            parser.error(f"{part}: not one of {', '.join(PARTS)}")
    parts = tuple(found.parts) or PARTS
    options = Options(parts, found.data, found.only, found.time_limit, found.mapper)
    return options, 0 if found.summary else found.jobs, found.out


def _tasks(part: str, options: Options) -> Iterator[Task]:
    match part:
        case "sunstone":
            return _against(part, peers.sunstone(options.data / "sunstone_results.json"), options)
        case "cosa":
            machine = find_architecture("cosa_simba")
            return _against(part, peers.cosa(options.data / "cosa_results.json", machine), options)
        case _:
            return _against_timeloop(options)


def _against(part: str, found: Iterable[peers.Found], options: Options) -> Iterator[Task]:
    """Each layer once, beside the best valid mapping that the peer found for it."""
    best: dict[tuple[Architecture, Problem], tuple[float, peers.Found]] = {}
    for peer in found:
        if not options.wants(peer.machine.name, peer.name):
            continue
        prices = evaluate(peer.machine, peer.problem, peer.mapping)
        key = peer.machine, peer.problem
        if prices.valid and prices.edp_j_cycle < best.get(key, (float("inf"), peer))[0]:
            best[key] = prices.edp_j_cycle, peer
    request = Request(time_limit_s=options.limit_s)
    for (machine, problem), (edp, peer) in best.items():
        figures: Row = {"peer": peer.peer, "peer_edp": edp, "limit": edp / bounds_of(machine, problem).edp_j_cycle}
        yield Task(part, machine, problem, peer.name, options.mapper, request, figures)


def _against_timeloop(options: Options) -> Iterator[Task]:
    """timeloop-mapper's own figures beside ours in its model and space: perfect factors, no bypass; `refine` on more
    than three memories."""
    request = Request("edp", "timeloop", Space(bypass=False, split_axes=False), time_limit_s=options.limit_s)
    for peer in peers.timeloop(options.data / "timeloop_ref.json"):
        if options.wants(peer.machine.name, peer.problem.name):
            figures: Row = {"peer": "timeloop-mapper", "peer_edp": peer.edp_j_cycle, "peer_cpu_s": peer.cpu_s}
            name = peer.problem.name
            yield Task("timeloop", peer.machine, peer.problem, name, options.mapper, request, figures)


def _row(task: Task) -> Row:
    machine, problem, request = task.machine, task.problem, task.request
    row: Row = dict(zip(("part", "machine", "layer"), task.key, strict=True))
    row |= {"mapper": task.mapper, "limit_s": request.time_limit_s, "awkward": _awkward(problem)}
    try:
        found = map_problem(machine, problem, task.mapper, request)
    except TilewrightError as error:
        return row | {"error": error.paragraph()}
    row |= _figures(machine, problem, found, request) | task.peer
    if found.lower_bound:
        row["most"] = row["peer_edp"] / found.lower_bound
    return row | {"gain": row["peer_edp"] / row["edp"]}


def _figures(machine: Architecture, problem: Problem, found: Mapped, request: Request) -> Row:
    prices = evaluate_with(request.model, machine, problem, found.mapping)
    gap = found.edp / found.lower_bound if found.lower_bound else None
    return {
        "edp": found.edp,
        "energy_pj": found.energy,
        "cycles": found.cycles,
        "cpu_s": found.cpu_s,
        "proven": found.proven,
        "valid": prices.valid and abs(prices.edp_j_cycle - found.edp) <= 1e-9 * found.edp,
        "gap": gap,
        "floor": floor_pj(machine, problem) / found.energy,
    }


def floor_pj(machine: Architecture, problem: Problem) -> float:
    """Energy of all multiplications, each with its operands and its sum at the innermost memories.

    The units below one instance of a memory are taken to share every word.
    """
    total = machine.mac_energy_pj
    for index, tensor in enumerate(problem.tensors):
        inner = [i for i in range(len(machine.levels)) if machine.may_hold(i, problem)[index]]
        level = machine.levels[min(inner, default=-1)]
        write = level.energy_pj if level.write_energy_pj is None else level.write_energy_pj
        words = level.instances / machine.mac_instances / level.block_size
        total += (level.energy_pj + (write if tensor.is_output else 0.0)) * words
    return total * problem.macs


def _awkward(problem: Problem) -> bool:
    return any(primes_of(bound)[-1][0] >= AWKWARD for bound in problem.bounds if bound > 1)


def _line(row: Row) -> str:
    where = f"{row['machine']:15} {row['layer'][-32:]:32}"
    if "error" in row:
        return f"{where} {row['error']}"
    gap = "-" if row["gap"] is None else f"{row['gap']:.3f}"
    text = f"{where} {row['edp']:11.4g} {row['energy_pj']:10.4g} {row['cycles']:10.4g} {row['cpu_s']:6.2f}"
    text += "" if row["valid"] else " INVALID"
    text += f" {'yes' if row['proven'] else 'no':6} {gap:>7} {row['floor']:5.2f}"
    if "peer" in row:
        text += f"  {row['peer']} {row['peer_edp']:.4g} gain {row['gain']:.3f}"
        text += f" of at most {row['most']:.3f}" if "most" in row else ""
    return text


def _summary(part: str, found: list[Row]) -> Iterator[str]:
    """Geometric means by machine, where peers were worse or better, and what took how long."""
    solved = [row for row in found if "edp" in row]
    proven, valid = (sum(row[key] for row in solved) for key in ("proven", "valid"))
    yield f"\n{part}: {len(solved)} of {len(found)} layers mapped, {proven} proven, {valid} valid"
    if solved:
        times = sorted(row["cpu_s"] for row in solved)
        middle, most = times[len(times) // 2], times[-1]
        yield f"  processor seconds per layer: median {middle:.2f}, most {most:.2f}; of all {sum(times):.0f}"
    gained = [row for row in solved if "gain" in row]
    machines = dict.fromkeys(row["machine"] for row in gained)
    for machine in [*machines, "all"] if len(machines) > 1 else machines:
        own = [row for row in gained if machine in (row["machine"], "all")]
        for kind, some in (("all", own), ("awkward", [row for row in own if row["awkward"]])):
            if some:
                worse = sum(row["gain"] < 1 - 1e-9 for row in some)
                text = f"  {machine:15} {kind:8} {len(some):3} layers: gain {_mean(row['gain'] for row in some):.3f}"
                if all("most" in row for row in some):
                    text += f" of at most {_mean(row['most'] for row in some):.3f}"
                yield f"{text}, worse on {worse}"


def _mean(values: Iterable[float]) -> float:
    logs = [log(value) for value in values]
    return exp(sum(logs) / len(logs))


if __name__ == "__main__":
    main()
