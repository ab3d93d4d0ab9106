"""Partition a network into groups of layers that run tile by tile on chip, so that DRAM moves little.

The answer has the groups in an order of execution, what each moves, their totals, and how far the partition may be
above the best one (`gap`; `proven` says that none is better).  Latency and energy are of Cocco's model, in which layers
run one after another, and so are their bounds; with --tile-rows the DRAM traffic is that of programs.

NETWORK is a name (`tilewright networks` lists them), an .onnx or .tflite file, or a .mlir file.  A name with
a precision, resnet50:i8 or resnet50:f32, is the graph that `tilewright run` takes; without, the table of its paper.
METHOD is ours (exact where it can be, else windows solved exactly), genetic (Cocco), annealing, enumeration, depth-dp
(Irregular-NN), greedy (Halide), per-layer, chain-3 or chain-5.

examples:
  tilewright partition googlenet
  tilewright partition resnet50 --objective energy --batch 8 --global-kib 512 --weight-kib 576
  tilewright partition model.onnx --method genetic --samples 20000 --seed 1 --state search.json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..interruption import answer_with_best
from .command_line import Unused, UsageError
from .options import (
    Group,
    Number,
    add_count,
    add_effort,
    add_model_options,
    add_objective,
    add_target,
    add_tiles,
    model_shapes,
    unused_tokens,
)
from .tables import energy, number, print_table, progress_bar, search_progress, size

if TYPE_CHECKING:
    from ..costs.fusion.values import Metric, Platform


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", metavar="NETWORK", help="a name, an .onnx, .tflite or .mlir file")
    group = add_machine(parser)
    add_count(group, "--global-kib", "another global buffer, in KiB", metavar="K")
    add_count(group, "--weight-kib", "another weight buffer, in KiB", metavar="K")
    parser.add_argument("--method", metavar="METHOD", default="ours", help="see above (default: ours)")
    add_search(parser, "dram")
    add_count(parser, "--samples", "partitions that genetic, annealing and enumeration score (default: by method)")
    add_tiles(parser, None)
    check = Number("--alpha", float, 0, 1e300, above=True)
    told = "tell also bytes of buffers + A * objective (see `tilewright explore`)"
    parser.add_argument("--alpha", type=check, metavar="A", help=told)
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="go on from FILE where it exists; leave the state there"
    )


def add_machine(parser: argparse.ArgumentParser) -> Group:
    """What runs the groups; the options of the machine."""
    group = parser.add_argument_group("machine")
    add_target(group, "cocco_npu")
    add_count(group, "--cores", "cores that share weights (default: 1)", default=1)
    add_model_options(parser)
    return group


def add_search(parser: argparse.ArgumentParser, objective: str) -> None:
    """What is searched, and how long."""
    group = parser.add_argument_group("search")
    add_objective(group, ("dram", "energy", "latency"), objective, "--metric")
    add_effort(group, jobs="processes, one seed each")


def metric_of(arguments: argparse.Namespace) -> Metric:
    """What Cocco calls the objective."""
    return "ema" if arguments.objective == "dram" else arguments.objective


def find_platform(arguments: argparse.Namespace) -> Platform:
    """The machine with the capacities that were asked for."""
    from dataclasses import replace

    from ..costs.fusion.of_machine import platform_of
    from ..costs.fusion.values import KIB, Buffers
    from ..frontends.acg import load_target

    platform = platform_of(load_target(arguments.target))
    buffers = platform.buffers
    chosen = Buffers(
        arguments.global_kib * KIB if arguments.global_kib else buffers.global_bytes,
        arguments.weight_kib * KIB if arguments.weight_kib else buffers.weight_bytes,
    )
    return replace(platform, buffers=chosen)


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    from ..search.fusion import CONSTRUCTED, SEEDED

    yield from unused_tokens(arguments, arguments.network)
    if arguments.tile_rows is None:
        yield Unused(("tile_columns",), "without --tile-rows")
    else:
        yield Unused(("global_kib", "weight_kib", "cores", "jobs"), "with --tile-rows")
    if arguments.method in ("ours", *CONSTRUCTED):
        yield Unused(("samples",), f"with --method {arguments.method}")
    if arguments.method not in SEEDED:
        yield Unused(("state", "gap", "seed", "jobs"), f"with --method {arguments.method}")
    if arguments.method in CONSTRUCTED:
        yield Unused(("time_limit",), f"with --method {arguments.method}, which does not search")


def kernels(_: argparse.Namespace) -> str:
    """The search whose kernels are called."""
    return "search for partitions"


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.fusion.pricer import SubgraphPricer
    from ..driver.partitions import find_work, partition_work, program_partition
    from ..search.fusion import METHODS, SAMPLES, PartitionOptions

    if arguments.method not in METHODS:
        raise UsageError("usage", "--method", f"one of {', '.join(METHODS)}", repr(arguments.method))
    metric = metric_of(arguments)
    platform, shapes = find_platform(arguments), model_shapes(arguments, arguments.network)
    options = PartitionOptions(
        arguments.method,
        metric,
        arguments.seed,
        arguments.time_limit,
        arguments.samples,
        arguments.state,
        arguments.gap,
    )
    answer_with_best()
    with progress_bar() as progress:
        report = search_progress(progress, (arguments.samples or SAMPLES.get(arguments.method, 0)) * arguments.jobs)
        if arguments.tile_rows is None:
            work = find_work(arguments.network, shapes)
            pricer = SubgraphPricer(work.graph, platform, batch=work.batch, cores=arguments.cores, metric=metric)
            answer = partition_work(work, pricer, options, report, arguments.jobs)
        else:
            tile = arguments.tile_rows, arguments.tile_columns
            answer = program_partition(arguments.network, arguments.target, tile, options, report, shapes)
    if arguments.alpha is not None:
        answer["alpha"] = arguments.alpha
        answer["cost_with_buffers"] = platform.buffers.total_bytes + arguments.alpha * answer["cost"]
    return answer


def show(answer: dict[str, Any]) -> None:
    show_groups(answer)
    if "alpha" in answer:
        print(f"with buffers            {answer['cost_with_buffers']:.6g} (bytes + {answer['alpha']:g} * metric)")
    least = answer.get("program_lower_bound")
    model = "" if least and answer["metric"] == "ema" else " in Cocco's model"
    if answer["proven"]:
        print(f"no partition has less {answer['metric']}{model} (proven)")
    else:
        print(f"at most {answer['gap']:.2%} above the least {answer['metric']} of any partition{model}")
    if least:
        moved, cycles = number(least["dram_bytes"], "B"), number(least["cycles"])
        print(f"programs that keep maps between groups may move less: at least {moved}, in {cycles} cycles")


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
