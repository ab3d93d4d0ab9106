"""Schedule a network's tiles and DRAM transfers: what is fused, how it is tiled, when every byte moves.

The answer has latency, energy, DRAM traffic and buffer use; a bound below every schedule of the network with the
argument that gives it; and what the same fusion costs when loads come only one tile ahead (`stage1`).  All are of the
model: one tile after another, on SoMa's cores.  Programs may take less; `tilewright compile` has their own bound.

NETWORK is a name (`tilewright networks` lists them), an .onnx or .tflite file, or a .mlir file.  A name with
a precision, resnet50:i8 or resnet50:f32, is the graph that `tilewright run` takes; without, the table of its paper.
METHOD is ours (every fusion is scored with its transfers decided), soma (its two stages of annealing) or cocco (its
baseline: groups between DRAM cuts only, double buffering).
MODEL is exact, or soma for that tool's own arithmetic.

examples:
  tilewright schedule resnet50 --target edge16 --batch 4
  tilewright schedule gpt2_small_prefill --target edge16 --model soma --method soma --seed 1
  tilewright schedule randwire_small --target edge16 -o schedule.svg --trace schedule.json
  tilewright schedule model.onnx --batch 4 --json
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import write_file
from ..interruption import answer_with_best
from .command_line import Unused
from .options import (
    Number,
    add_alias,
    add_count,
    add_effort,
    add_model_options,
    add_objective,
    add_target,
    check_written,
    model_shapes,
    unused_tokens,
)
from .tables import energy, number, print_table, progress_bar, size

OBJECTIVES = "edp", "energy", "latency"
METHODS = "ours", "soma", "cocco"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", metavar="NETWORK", help="a name, an .onnx, .tflite or .mlir file")
    add_target(parser)
    parser.add_argument("--model", choices=["exact", "soma"], default="exact", help="what prices (default: exact)")
    parser.add_argument("--method", choices=METHODS, default="ours", help="what searches (default: ours)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="draw the schedule to FILE (.svg), or write it as IR (.mlir)"
    )
    add_alias(parser, "--svg", "--output", type=Path)
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write a trace for Perfetto to FILE (.json)")
    add_model_options(parser)
    group = parser.add_argument_group("search")
    add_objective(group, OBJECTIVES, "edp")
    for option, metavar, power in (("--energy-power", "N", "E^N x D^M"), ("--latency-power", "M", "as above")):
        check = Number(option, float, 0, 10)
        group.add_argument(option, type=check, metavar=metavar, help=f"instead of --objective: minimise {power}")
    add_count(group, "--rounds", "candidates of each walk (default: by batch)", metavar="R")
    add_effort(group, jobs="threads; the answer is the same")


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    if arguments.energy_power is not None or arguments.latency_power is not None:
        yield Unused(("objective",), "with --energy-power or --latency-power")
    yield from unused_tokens(arguments, arguments.network)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver.schedules import ScheduleOptions, schedule_network_for
    from ..search.dram import POWERS, Effort, Objective

    check_written(arguments.output)
    shapes = model_shapes(arguments, arguments.network)
    effort = Effort(
        seed=arguments.seed,
        rounds=arguments.rounds,
        jobs=arguments.jobs,
        time_limit_s=arguments.time_limit,
        gap=arguments.gap,
    )
    energy_power, latency_power = POWERS[arguments.objective]
    if arguments.energy_power is not None or arguments.latency_power is not None:
        energy_power = arguments.energy_power if arguments.energy_power is not None else 1.0
        latency_power = arguments.latency_power if arguments.latency_power is not None else 1.0
    objective = Objective(energy_power, latency_power)
    options = ScheduleOptions(arguments.model, arguments.method, shapes, objective=objective, effort=effort)
    answer_with_best()
    with progress_bar() as progress:
        tell = None if progress is None else lambda done, total: progress("walks", done, total)
        answer, found = schedule_network_for(arguments.network, arguments.target, options, tell)
    if arguments.output is not None and arguments.output.suffix == ".mlir":
        from ..driver.schedule_files import write_schedule
        from ..frontends.acg import load_target

        machine = load_target(arguments.target)
        write_schedule(arguments.output, found.timetable, answer["batch"], machine, exact=arguments.model == "exact")
        answer["ir"] = str(arguments.output)
    elif arguments.output is not None:
        from ..backends.report.schedule_svg import schedule_svg

        plain = found.double_buffered
        panels = {"without prefetch": plain} if plain is not None and plain is not found.timetable else {}
        text = schedule_svg(panels | {arguments.method: found.timetable}, answer["buffer_bytes"])
        write_file(arguments.output, text)
        answer["picture"] = str(arguments.output)
    if arguments.trace is not None:
        from ..backends.report.schedule_trace import schedule_trace

        text = schedule_trace(found.timetable, answer["frequency_hz"])
        write_file(arguments.trace, text)
        answer["trace"] = str(arguments.trace)
    return answer


def show(answer: dict[str, Any]) -> None:
    plain, bound = answer["stage1"], answer["lower_bound"]

    def row(what: str, key: str, tell: Any) -> list[str]:
        return [
            what,
            tell(answer[key]),
            tell(plain[key]) if key in plain else "-",
            tell(bound[key]) if key in bound else "-",
        ]

    rows = [
        row("latency in cycles", "latency_cycles", number),
        row("energy", "energy_pj", energy),
        row("DRAM traffic", "dram_bytes", lambda value: number(value, "B")),
        row("all tiles in cycles", "compute_cycles", number),
        row("all transfers in cycles", "dram_cycles", number),
        row("largest buffer use", "max_buffer_bytes", size),
        row("tiles", "tiles", number),
        row("layer groups", "layer_groups", number),
        row("fused groups", "fused_groups", number),
    ]
    title = f"{answer['network']}, batch {answer['batch']}"
    print_table(title, ["what", "schedule", "without prefetch", "no schedule of the model below"], rows)
    print(
        f"latency at most {answer['gap']:.2%} above the least of any schedule of the model; binding: {bound['binding']}"
    )
    print(f"objective at most {answer['objective_gap']:.2%} above the least of any schedule of the model")
    print(f"{answer['evaluations']} fusions scored in {answer['cpu_s']:.2f} s of CPU time")
    print("in the model tiles run one after another on SoMa's cores, and an element is a byte: programs may take less;")
    print("`tilewright compile --schedule` has the program's figures, and what no program goes below")
    if "ir" in answer:
        print(f"written to {answer['ir']}")
    if "picture" in answer:
        print(f"drawn to {answer['picture']}")
    if "trace" in answer:
        print(f"trace for ui.perfetto.dev in {answer['trace']}")
