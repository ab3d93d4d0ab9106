"""Partition a network into groups of layers that run tile by tile on chip, so that DRAM moves little.

The answer has the groups in an order of execution, what each moves, their totals, and how far the partition may be
above the best one (`gap`; `proven` says that none is better).

NETWORK is a name (`tilewright networks` lists them), an .onnx file, or a .mlir file in the graph dialect.
METHOD is ours (exact where it can be, else windows solved exactly), genetic (Cocco), annealing, enumeration, depth-dp
(Irregular-NN), greedy (Halide), per-layer, chain-3 or chain-5.

examples:
  tilewright partition googlenet
  tilewright partition resnet50 --metric energy --batch 8 --global-kib 512 --weight-kib 576
  tilewright partition model.onnx --method genetic --samples 20000 --seed 1 --state search.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command_line import UsageError
from .model_options import add_model_options, model_shapes
from .tables import energy, number, print_table, size

if TYPE_CHECKING:
    from ..costs.fusion.platform import Platform

DEFAULT_TARGET = "cocco_npu"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", metavar="NETWORK", help="a name, an .onnx or a .mlir file")
    add_machine(parser)
    parser.add_argument("--method", metavar="METHOD", default="ours", help="see above (default: ours)")
    add_search(parser)
    parser.add_argument("--samples", type=int, metavar="N", help="partitions that genetic and annealing score (50000)")
    parser.add_argument(
        "--tile-rows", type=int, metavar="N", help="price a file's groups as `run --partition` runs them, by full rows"
    )
    parser.add_argument(
        "--tile-columns", type=int, default=0, metavar="N", help="with it, where full rows do not fit: columns at most"
    )
    parser.add_argument(
        "--alpha", type=float, metavar="A", help="tell also bytes of buffers + A * metric (see `tilewright explore`)"
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="go on from FILE where it exists; leave the state there"
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """What runs the groups."""
    group = parser.add_argument_group("machine")
    group.add_argument("--target", metavar="T", default=DEFAULT_TARGET, help=f"the machine (default: {DEFAULT_TARGET})")
    group.add_argument("--global-kib", type=int, metavar="K", help="another global buffer, in KiB")
    group.add_argument("--weight-kib", type=int, metavar="K", help="another weight buffer, in KiB")
    group.add_argument("--cores", type=int, default=1, metavar="N", help="cores that share weights (default: 1)")
    add_model_options(parser)


def add_search(parser: argparse.ArgumentParser) -> None:
    """What is searched, and how long."""
    group = parser.add_argument_group("search")
    group.add_argument(
        "--metric",
        choices=["ema", "energy", "latency"],
        default="ema",
        help="what is made small: bytes of external memory access, energy, or latency (default: ema)",
    )
    group.add_argument("--seed", type=int, default=0, help="of random choices (default: 0)")
    group.add_argument("--time-limit", type=float, metavar="SECONDS", help="CPU seconds; the best so far is answered")
    group.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, one seed each (default: 1)")


def find_platform(arguments: argparse.Namespace) -> Platform:
    """The machine with the capacities that were asked for."""
    from dataclasses import replace

    from ..costs.fusion.of_machine import platform_of
    from ..costs.fusion.values import KIB, Buffers
    from ..frontends.acg import load_target

    for name in ("global_kib", "weight_kib", "cores", "jobs"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError("usage", f"--{name.replace('_', '-')}", "at least 1", str(value))
    if arguments.time_limit is not None and not arguments.time_limit > 0:
        raise UsageError("usage", "--time-limit", "more than 0 seconds", str(arguments.time_limit))
    platform = platform_of(load_target(arguments.target))
    buffers = platform.buffers
    chosen = Buffers(
        arguments.global_kib * KIB if arguments.global_kib else buffers.global_bytes,
        arguments.weight_kib * KIB if arguments.weight_kib else buffers.weight_bytes,
    )
    return replace(platform, buffers=chosen)


@contextmanager
def search_report(quiet: bool) -> Generator[Callable[[int, float, float], None] | None]:
    """A line on stderr, where that is a terminal, with the best cost and the bound."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    def tell(done: int, best: float, bound: float) -> None:
        gap = f", at most {best / bound - 1:.2%} above the best" if bound > 0 else ""
        print(f"\r\033[K{done} samples, best {number(best)}{gap}", end="", file=sys.stderr, flush=True)

    yield tell
    print("\r\033[K", end="", file=sys.stderr)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.fusion.pricer import SubgraphPricer
    from ..driver.partitions import find_work, partition_work, program_partition
    from ..search.fusion import METHODS, PartitionOptions

    if arguments.method not in METHODS:
        raise UsageError("usage", "--method", f"one of {', '.join(METHODS)}", repr(arguments.method))
    if arguments.alpha is not None and not arguments.alpha > 0:
        raise UsageError("usage", "--alpha", "more than 0", str(arguments.alpha))
    platform, shapes = find_platform(arguments), model_shapes(arguments, arguments.network)
    options = PartitionOptions(
        arguments.method, arguments.metric, arguments.seed, arguments.time_limit, arguments.samples, arguments.state
    )
    with search_report(arguments.json) as report:
        if arguments.tile_rows is None:
            work = find_work(arguments.network, shapes)
            pricer = SubgraphPricer(
                work.graph, platform, batch=work.batch, cores=arguments.cores, metric=arguments.metric
            )
            answer = partition_work(work, pricer, options, report, arguments.jobs)
        else:
            _check_program(arguments)
            tile = arguments.tile_rows, arguments.tile_columns
            answer = program_partition(arguments.network, arguments.target, tile, options, report, shapes)
    if arguments.alpha is not None:
        answer["alpha"] = arguments.alpha
        answer["cost_with_buffers"] = platform.buffers.total_bytes + arguments.alpha * answer["cost"]
    return answer


def _check_program(arguments: argparse.Namespace) -> None:
    """Refuse what a program does not know."""
    if arguments.tile_rows < 1:
        raise UsageError("usage", "--tile-rows", "at least 1", str(arguments.tile_rows))
    if arguments.tile_columns < 0:
        raise UsageError("usage", "--tile-columns", "at least 0", str(arguments.tile_columns))
    if Path(arguments.network).suffix not in (".onnx", ".mlir"):
        raise UsageError("usage", "--tile-rows", "an .onnx or .mlir file", repr(arguments.network))
    others = {"global_kib": None, "weight_kib": None, "cores": 1, "jobs": 1}
    for name, usual in others.items():
        if getattr(arguments, name) != usual:
            raise UsageError("usage", f"--{name.replace('_', '-')}", "no such option with --tile-rows", "one")


def show(answer: dict[str, Any]) -> None:
    show_groups(answer)
    if "alpha" in answer:
        print(f"with buffers            {answer['cost_with_buffers']:.6g} (bytes + {answer['alpha']:g} * metric)")
    if answer["proven"]:
        print(f"no partition has less {answer['metric']} (proven)")
    else:
        print(f"at most {answer['gap']:.2%} above the least {answer['metric']} of any partition")


def span(names: list[str]) -> str:
    """Layers in short."""
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"


def show_groups(answer: dict[str, Any]) -> None:
    """The groups and their totals."""
    rows = [
        [
            str(place),
            span(group["layers"]),
            number(group["weight_bytes"], "B"),
            number(group["input_bytes"], "B"),
            number(group["output_bytes"], "B"),
            size(group["global_demand_bytes"]),
            f"{group['tile'][0]}x{group['tile'][1] or 'all'}",
        ]
        for place, group in enumerate(answer["groups"])
    ]
    header = ["group", "layers", "weights", "loads", "stores", "regions", "tile"]
    print_table(f"{answer['network']}: {len(rows)} groups", header, rows)
    speed = answer["bandwidth"]
    print(f"external memory access  {number(answer['ema_bytes'], 'B')}")
    print(f"energy                  {energy(answer['energy_pj'])}")
    print(f"latency                 {number(answer['latency_cycles'])} cycles")
    print(
        f"bandwidth               {speed['average_bytes_per_cycle']:.2f} B/cycle on average, "
        f"{speed['peak_bytes_per_cycle']:.2f} at most"
    )
