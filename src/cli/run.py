"""Compile a model (or take a compiled one), simulate it, and compare its outputs.

Inputs are made from --seed where no file gives them.  Without --expect the outputs of a model are compared with its
own layers computed by NumPy; where they differ beyond the tolerance, the exit code is 1.
Writes DIR/outputs.npz and DIR/trace.json (for Perfetto or chrome://tracing).
A kernel is einsum text with bounds: 'O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=6'.

On a target without instructions a kernel, or a layer of a network (resnet18:conv2_1), is mapped (see `tilewright map`)
and the mapping runs; a .mlir file of `map -o` runs as it stands.  What each memory moves is counted, and compared with
the cost model.

With --binary a program of others runs on an image of the memory off chip instead (docs/programs.md).
"""

import argparse
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from ..targets import DEFAULT_TARGET
from .assemble import FORMATS, format_name
from .command_line import Unused, UsageError
from .compile import (
    WAYS_TO_COMPILE,
    add_compile_options,
    bound_rows,
    compile_options,
    default_folder,
    show_candidates,
    unused_compile_options,
)
from .hosted import NOT_TAKEN, add_host_option, execute_hosted, is_hosted_folder, show_hosted
from .options import Number, add_model_options, add_types, element_types, model_shapes, unused_for_kernel
from .run_tables import (
    add_dram_option,
    add_layer_options,
    cost_rows,
    end_rows,
    error_rows,
    show_dram,
    show_layers,
    show_mapped,
    write_layers,
)
from .tables import energy, number, print_table, progress_bar, share, size


def add_binary_options(parser: argparse.ArgumentParser) -> None:
    """What a run of a program of others takes."""
    group = parser.add_argument_group("programs of others, instead of MODEL (see `tilewright assemble`)")
    group.add_argument("--binary", type=Path, metavar="FILE", help="a program: bytes, or lines of bits, hex or decimal")
    group.add_argument(
        "--image",
        type=Path,
        metavar="FILE",
        help="the memory off chip: bytes, or an .npz of arrays named [NAME@]ADDRESS",
    )
    group.add_argument(
        "--read",
        action="append",
        metavar="NAME=ADDRESS:TYPE:SHAPE",
        help="an output, as y=0x400:int32:12x64 (may be repeated)",
    )
    group.add_argument("--format", metavar=FORMATS, default="", help="how FILE holds words (default: by content)")


def is_binary_run(arguments: argparse.Namespace) -> bool:
    """Whether a program of others is to run; `UsageError` for arguments that do not go together."""
    if arguments.binary is None:
        if arguments.model is None:
            raise UsageError("usage", "tilewright run", "MODEL or --binary FILE", "neither")
        return False
    if arguments.model is not None:
        raise UsageError("usage", "tilewright run", "MODEL or --binary FILE", "both")
    if arguments.image is None:
        raise UsageError("usage", "--binary", "--image FILE, the memory that the program reads", "none")
    return True


def execute_binary(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the program."""
    from ..driver.binaries import run_binary
    from ..frontends.acg import load_target

    machine = load_target(arguments.target)
    folder = arguments.output or Path("out") / arguments.binary.stem
    ranges, name = arguments.read or [], format_name(arguments.format)
    try:
        return run_binary(arguments.binary, machine, arguments.image, ranges, folder, name, not arguments.no_trace)
    except TilewrightError as error:
        if error.kind != "usage":
            raise
        raise UsageError("usage", error.subject, error.expected, error.found) from None


def show_binary(answer: dict[str, Any]) -> None:
    """The run as a whole."""
    rows = [
        *cost_rows(answer),
        ["instructions", number(answer["instructions"])],
        ["program's format", answer["format"]],
        ["memory after the run", answer["image"]],
        *end_rows(answer),
    ]
    print_table("Run", ["what", "value"], rows)


Counts = dict[str, dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        help="an .onnx, .tflite or .mlir file, einsum text with bounds, a layer by name, or a folder of `compile`",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder to write (default: out/MODEL)")
    parser.add_argument("--inputs", type=Path, metavar="X.npz", help="inputs by name (.npz, or .npy/.pb for one)")
    parser.add_argument("--expect", type=Path, metavar="Y.npz", help="expected outputs by name (.npz, or .npy/.pb)")
    parser.add_argument(
        "--tolerance",
        type=Number("--tolerance", float, 0, 1e300),
        metavar="X",
        help="errors relative to the largest value of an output that agree (default: 0.001 for floats, 0.01 for those "
        "of 16 bits, 0 for integers)",
    )
    parser.add_argument("--no-check", action="store_true", help="compare with nothing when --expect is not given")
    parser.add_argument("--no-trace", action="store_true", help="write no trace")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write a page about the run (see `tilewright report`)"
    )
    add_model_options(parser)
    add_layer_options(parser)
    parser.add_argument(
        "--target",
        metavar="T",
        help="target name or .acg file, instead of the machine in a .mlir file (default: the machine that such a file "
        "has, as those of --dump-ir, or names, as those of `map -o`; else " + DEFAULT_TARGET + ")",
    )
    add_compile_options(parser, "of made inputs, and of random choices")
    add_types(parser, "f32; on a target without instructions")
    add_binary_options(parser)
    add_dram_option(parser)
    add_host_option(parser)
    parser.add_argument(
        "--platform", choices=["noc"], help="noc: a mapping also runs on the machine's mesh, flit by flit (docs/noc.md)"
    )


INTERPRETED_POINTS = 1 << 20
"""Points of a mapping's run, at some 15 microseconds each, that interpreted kernels are through with before kernels are
compiled."""


def _choose_target(arguments: argparse.Namespace) -> None:
    """The target that the model names where none is given."""
    from ..mapping import target_of

    if arguments.target is None:
        arguments.target = target_of(arguments.model or "")


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    from ..backends.control_models import control_model
    from ..backends.program import is_program
    from ..frontends.acg import load_target
    from ..frontends.einsum import is_kernel
    from ..mapping import runs_mapping

    _choose_target(arguments)
    if arguments.binary is not None:
        searched = "time_limit", "seed", "batch", "shape", "dim", "tokens"
        given = "inputs", "expect", "tolerance", "no_check", "csv", "report", "types"
        yield Unused((*WAYS_TO_COMPILE, *searched, *given, "dram", "platform", "host"), "with --binary")
        return
    yield Unused(("image", "read", "format"), "without --binary")
    if arguments.expect is not None:
        yield Unused(("no_check",), "with --expect")
    if arguments.model is None:
        return
    if arguments.host:
        yield Unused((*WAYS_TO_COMPILE, *NOT_TAKEN), "with --host")
    if not is_kernel(arguments.model) and Path(arguments.model).is_dir():
        taken = "target", "types", "time_limit", "batch", "shape", "dim", "tokens", "no_check", "platform"
        is_hosted = is_hosted_folder(arguments.model)
        if not is_hosted and not is_program(arguments.model):
            return  # the run says what the folder is
        yield Unused((*WAYS_TO_COMPILE, *taken), "with a folder that `compile` wrote")
        if is_hosted:
            yield Unused(("host", *(name for name in NOT_TAKEN if name not in taken)), "with a folder of steps")
        return
    if runs_mapping(arguments.model, arguments.target):
        yield Unused(
            (*WAYS_TO_COMPILE, "no_trace", "csv", "dram"), "on a target without instructions, whose mappings run"
        )
        yield from unused_for_kernel(arguments.model)
        return
    yield Unused(("types", "platform"), "on a target with instructions")
    if not control_model(machine := load_target(arguments.target)).traced:
        yield Unused(("no_trace",), f"on a machine of {machine.control}")
    yield from unused_compile_options(arguments)


def kernels(arguments: argparse.Namespace) -> str | None:
    """The search whose kernels are called, that for a mapping to run; many points wait until they are compiled.

    What this imports must not load numba, which is told once whether to compile.
    """
    from ..frontends.einsum import is_kernel, parse_einsum
    from ..frontends.machine_files import is_map_only

    if arguments.target is None or arguments.binary is not None or arguments.schedule is not None:
        return None
    if not is_kernel(arguments.model or "") or not is_map_only(arguments.target):
        return None
    return "exact mapper" if prod(parse_einsum(arguments.model)[1].values()) <= INTERPRETED_POINTS else None


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    _choose_target(arguments)
    answer = _run(arguments)
    if arguments.csv is not None:
        write_layers(arguments.csv, answer.get("layers", ()))
    return answer


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver import RunOptions
    from ..mapping import run

    if is_binary_run(arguments):
        return execute_binary(arguments)
    options = RunOptions(
        arguments.inputs,
        arguments.expect,
        arguments.seed,
        not arguments.no_check,
        not arguments.no_trace,
        arguments.tolerance,
        arguments.report,
        arguments.dram,
        arguments.platform,
    )
    folder = arguments.output or default_folder(arguments.model)
    if arguments.host or is_hosted_folder(arguments.model):
        return execute_hosted(arguments, folder)
    shapes = model_shapes(arguments, arguments.model)
    with progress_bar() as progress:
        return run(
            arguments.model,
            arguments.target,
            folder=folder,
            shapes=shapes,
            compile_options=compile_options(arguments),
            options=options,
            progress=progress,
            types=element_types(arguments.types),
        ).as_dict()


def show(answer: dict[str, Any]) -> None:
    """The run as a whole, then per memory, per node and link, and per unit."""
    for key, other in (("image", show_binary), ("host_layers", show_hosted), ("model", show_mapped)):
        if key in answer:
            return other(answer)
    rows = [
        *cost_rows(answer),
        ["instructions", number(answer["instructions"])],
        *bound_rows(answer),
        *_packet_rows(answer),
        *error_rows(answer),
        *_independent_rows(answer),
        *end_rows(answer),
    ]
    print_table("Run", ["what", "value"], rows)
    show_layers(answer.get("layers", ()), "Layers")
    show_dram(answer)
    show_candidates(answer)
    counts, utilization = answer["counts"], answer["utilization"]
    _show_memories(counts["memories"])
    _show_nodes(counts["computes"] | counts["links"], utilization)
    _show_units(counts["units"], utilization)
    if answer["regions"]:
        _show_regions(answer["regions"])


def _packet_rows(answer: dict[str, Any]) -> list[list[str]]:
    if "packets" not in answer:
        return []
    return [
        ["packets", number(answer["packets"])],
        ["words of them used", share(answer["utilization"]["words"])],
        ["packets of code", number(answer["code_packets"])],
    ]


def _independent_rows(answer: dict[str, Any]) -> list[list[str]]:
    if "qemu" not in answer:
        return []
    if (ran := answer["qemu"]) is None:
        return [["independent run", f"not run: {', '.join(answer['missing_tools'])} not installed"]]
    return [
        ["independent run", "equal" if ran["equal"] else "differs"],
        ["its packets", number(ran["packets"])],
        ["its instructions", number(ran["instructions"])],
    ]


def _show_regions(regions: list[dict[str, Any]]) -> None:
    rows = [[r["name"], r["memory"], number(r["start"]), size(r["bytes"]), size(r["peak_bytes"])] for r in regions]
    print_table("Regions of groups", ["region", "memory", "from", "given", "used"], rows)


def _show_memories(memories: Counts) -> None:
    rows = [
        [
            name,
            number(count["read_bytes"], "B"),
            number(count["write_bytes"], "B"),
            size(count["peak_bytes"]),
            energy(count["energy_pj"]),
        ]
        for name, count in memories.items()
    ]
    print_table("Memories", ["memory", "read", "written", "peak", "energy"], rows)


def _show_nodes(nodes: Counts, utilization: dict[str, float]) -> None:
    rows = [
        [
            name,
            number(count["issues"]),
            number(count["ops"]),
            number(count["busy_cycles"]) if name in utilization else "",
            share(utilization[name]) if name in utilization else "",
            energy(count["energy_pj"]),
        ]
        for name, count in nodes.items()
        if count["issues"]
    ]
    print_table("Nodes and links", ["node", "issues", "operations", "busy cycles", "of its peak", "energy"], rows)


def _show_units(units: Counts, utilization: dict[str, float]) -> None:
    rows = [
        [name, number(count["instructions"]), number(count["busy_cycles"]), share(utilization.get(name, 0.0))]
        for name, count in units.items()
    ]
    if rows:
        print_table("Units", ["unit", "instructions", "busy cycles", "busy"], rows)
