"""Choose buffers together with the partition: bytes of buffers plus ALPHA times the metric become small.

The cost is formula 2 of Cocco.  Ours looks at all capacities in one search and answers with the whole front of size
against metric; the other methods are those of Cocco's evaluation.

examples:
  tilewright explore resnet50
  tilewright explore googlenet --separate --alpha 0.005 --objective energy
  tilewright explore randwire_a --method genetic --samples 10000
"""

import argparse
from typing import Any

from ..interruption import answer_with_best
from .command_line import UsageError
from .options import Number, add_count, model_shapes
from .partition import add_machine, add_search, metric_of, show_groups
from .tables import number, print_table, progress_bar, search_progress, size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", metavar="NETWORK", help="a name, an .onnx, .tflite or .mlir file")
    add_machine(parser)
    parser.add_argument(
        "--method", metavar="METHOD", default="ours", help="ours, genetic, annealing, random+genetic or grid+genetic"
    )
    add_search(parser, "energy")
    check = Number("--alpha", float, 0, 1e300, above=True)
    told = "bytes that a unit of the objective is worth (default: 0.002)"
    parser.add_argument("--alpha", type=check, default=0.002, metavar="A", help=told)
    parser.add_argument(
        "--separate", action="store_true", help="one buffer for maps, one for weights (default: shared)"
    )
    add_count(parser, "--samples", "points to score (default: 50000)", default=50_000)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.fusion.of_machine import platform_of
    from ..costs.fusion.pricer import SubgraphPricer
    from ..driver.partitions import explore_work, find_work
    from ..frontends.acg import load_target
    from ..search.fusion import EXPLORERS, ExploreOptions

    if arguments.method not in EXPLORERS:
        raise UsageError("usage", "--method", f"one of {', '.join(EXPLORERS)}", repr(arguments.method))
    platform = platform_of(load_target(arguments.target))
    work = find_work(arguments.network, model_shapes(arguments, arguments.network))
    pricer = SubgraphPricer(work.graph, platform, batch=work.batch, cores=arguments.cores, metric=metric_of(arguments))
    options = ExploreOptions(
        arguments.method,
        metric_of(arguments),
        arguments.alpha,
        not arguments.separate,
        arguments.seed,
        arguments.samples,
        max(1, arguments.samples // 10),
        arguments.time_limit,
        arguments.gap,
    )
    answer_with_best()
    with progress_bar() as progress:
        return explore_work(work, pricer, options, arguments.jobs, search_progress(progress))


def show(answer: dict[str, Any]) -> None:
    if answer["front"]:
        rows = [
            [
                size(point["global_bytes"]),
                size(point["weight_bytes"]) if point["weight_bytes"] else "shared",
                number(point["metric"]),
            ]
            for point in answer["front"]
        ]
        print_table("What no smaller buffers do as well", ["global buffer", "weight buffer", answer["metric"]], rows)
    show_groups(answer)
    buffers = answer["buffers"]
    weight = f" and {size(buffers['weight_bytes'])} for weights" if buffers["weight_bytes"] else ", shared"
    print(f"buffers                 {size(buffers['global_bytes'])}{weight}")
    above = "proven least" if answer["proven"] else f"at most {answer['gap']:.2%} above the least"
    print(f"cost (formula 2)        {number(answer['cost'])}, {above}")
