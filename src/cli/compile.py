"""Compile a model to a binary for a target.

Writes DIR/program.bin (the binary), target.acg, program.json (where each tensor lies), sources.json (the IR of each
layer) and weights.npz.  For a machine of packets packets.json is the binary; its assembly is program.s and, where tools
link it, program.  For a machine of threads a kernel is mapped and written as kernel.cl, kernel.cu and kernel.mlir, and
launch.json says how it is launched (docs/gpu.md).  With --host there is a folder or file for each step, and steps.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..interruption import answer_with_best, finish
from .command_line import Unused, UsageError
from .compile_threads import compile_for_threads, show_for_threads, unused_for_threads
from .hosted import add_host_option, compile_for_host, show_compiled_for_host
from .options import (
    add_count,
    add_effort,
    add_model_options,
    add_target,
    add_tiles,
    add_types,
    model_points,
    short,
    unused_for_kernel,
    unused_tokens,
)
from .run_tables import add_dram_option, add_layer_options, show_dram, show_layers, write_layers
from .tables import energy, number, print_table, progress_bar, share

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..backends.program import Program
    from ..driver import CompileOptions
    from ..frontends.input_shapes import InputShapes


def add_steps(parser: argparse.ArgumentParser) -> None:
    """`--steps` and `--carry`."""
    group = parser.add_argument_group("several steps of a decoder in one program (docs/onnx.md)")
    add_count(group, "--steps", "repeat an .onnx file so often, each step given what the one before made")
    group.add_argument(
        "--carry",
        action="append",
        default=[],
        metavar="SOURCE=INPUT",
        help="what an input is in the next step: OUTPUT, argmax(OUTPUT), INPUT+1 or INPUT,1 (longer by a 1); may be "
        "repeated (default: by the names that exporters give)",
    )


def module_of_steps(arguments: argparse.Namespace, shapes: InputShapes) -> ModuleOp:
    """The model `--steps` times in a row."""
    from ..errors import TilewrightError
    from ..frontends.onnx import import_onnx
    from ..frontends.onnx.steps import Carry, Steps

    if Path(arguments.model).suffix != ".onnx":
        raise UsageError("usage", "--steps", "an .onnx file", arguments.model, "leave out --steps")
    try:
        steps = Steps(arguments.steps, [Carry.parse(text) for text in arguments.carry])
    except TilewrightError as error:
        raise UsageError(error.kind, error.subject, error.expected, error.found, error.lever) from error
    return import_onnx(Path(arguments.model), shapes=shapes, steps=steps)


NOT_SEARCHED = "auto", "schedule", "none"
"""What `--partition` takes beside methods of a search."""

SCHEDULED = "soma", "cocco"
"""Searches for schedules of DRAM whose name `--partition` takes, too."""

WAYS_TO_COMPILE = ("no_prove", "dump_ir", "partition", "schedule", "rounds", "tile_rows", "tile_columns", "gap")
"""Attributes of the arguments that say how a model becomes a program."""


def add_compile_options(parser: argparse.ArgumentParser, seed: str = "of random choices") -> None:
    """Options that every command that compiles has, but for its target."""
    parser.add_argument("--no-prove", action="store_true", help="skip the proofs about addresses")
    parser.add_argument("--dump-ir", type=Path, metavar="DIR", help="write the IR after each pass to DIR")
    group = parser.add_argument_group("groups of layers that run tile by tile on chip (see `tilewright partition`)")
    group.add_argument(
        "--partition",
        metavar="METHOD",
        default="auto",
        help="what runs together (default: auto). schedule: maps stay on chip from layer to layer and weights are "
        "loaded ahead; none: layer by layer; auto: the fastest of these and, where not all fits on chip, of greedy "
        "groups; best: the fastest of these and some methods; soma, cocco: as --schedule",
    )
    group.add_argument(
        "--schedule",
        metavar="METHOD|FILE",
        help="order, groups, tiles and what stays on chip as `tilewright schedule` finds them: soma, cocco or ours, or "
        "those of a .mlir file; also none and greedy, as --partition",
    )
    add_count(group, "--rounds", "candidates of each walk of the search for a schedule", metavar="R")
    add_tiles(group, 32)
    told = "auto and schedule search by trying one way after another; the first is tried whatever the limits"
    jobs = "processes that compile side by side where ways do not depend on each other; the answer is the same"
    gap = "0.01 between ways to compile, 0 within a search"
    add_effort(parser.add_argument_group("effort", told), " (default: to the end)", gap=gap, seed=seed, jobs=jobs)


def unused_compile_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    """Options of `add_compile_options` that a compilation would ignore."""
    from ..driver.groups import BEST
    from ..driver.pipelines import pipeline_of
    from ..frontends.acg import load_target
    from ..frontends.einsum import is_kernel
    from ..search.fusion import CONSTRUCTED, SEEDED

    yield from unused_for_kernel(arguments.model)
    yield from unused_tokens(arguments, arguments.model)
    partition, schedule = _ways(arguments)
    if schedule is None or schedule.endswith(".mlir"):
        yield Unused(("rounds",), "without a search for a schedule")
    machine = load_target(arguments.target)
    if not pipeline_of(machine).groups:
        heeded = () if machine.control == "stages" else ("no_prove", "time_limit", "gap")
        taken = "partition", "schedule", "tile_rows", "tile_columns", *heeded
        yield Unused(taken, f"on a machine of {machine.control}")
    elif schedule is not None:
        yield Unused(("tile_rows", "tile_columns"), "with --schedule")
        if schedule.endswith(".mlir"):
            yield Unused(("time_limit", "gap"), "with a schedule from a file")
    elif partition in NOT_SEARCHED:
        yield Unused(("tile_rows", "tile_columns"), "without a --partition METHOD that searches")
        if partition == "none" or is_kernel(arguments.model):
            yield Unused(("time_limit", "gap"), "where there is one way to compile")
    elif partition in CONSTRUCTED:
        yield Unused(("time_limit", "gap"), "with a --partition METHOD that does not search")
    elif partition not in (BEST, *SEEDED):
        yield Unused(("gap",), "with a --partition METHOD that has no bound")


def _ways(arguments: argparse.Namespace) -> tuple[str, str | None]:
    """What `--partition` and `--schedule` come to: a way to partition, and a schedule's method or file."""
    partition, schedule = arguments.partition, arguments.schedule
    if schedule in ("none", "greedy"):
        return schedule, None
    return ("auto", partition) if schedule is None and partition in SCHEDULED else (partition, schedule)


def compile_options(arguments: argparse.Namespace) -> CompileOptions:
    """What `add_compile_options` was given."""
    from ..driver import CompileOptions
    from ..driver.groups import BEST
    from ..search.dram import METHODS as SCHEDULES
    from ..search.fusion import METHODS

    method, schedule = _ways(arguments)
    if arguments.schedule is not None and arguments.partition != "auto":
        raise UsageError("usage", "--schedule", "one of --partition and --schedule", "both")
    if schedule is not None and not schedule.endswith(".mlir") and schedule not in SCHEDULES:
        expected = f"a .mlir file, or one of none, greedy, {', '.join(SCHEDULES)}"
        raise UsageError("usage", "--schedule", expected, short(schedule))
    known = (*NOT_SEARCHED, BEST, *METHODS)
    if method not in known:
        raise UsageError("usage", "--partition", f"one of {', '.join((*known, *SCHEDULED))}", short(method))
    return CompileOptions(
        prove=not arguments.no_prove,
        dump=arguments.dump_ir,
        partition="" if method == "none" else method,
        schedule=schedule or "",
        rounds=arguments.rounds or 0,
        tile_rows=arguments.tile_rows,
        tile_columns=arguments.tile_columns,
        time_limit_s=arguments.time_limit or 0,
        gap=arguments.gap,
        seed=arguments.seed,
        jobs=arguments.jobs,
    )


def default_folder(model: str) -> Path:
    """Where a command writes without `-o`: `out/` and the model's name, `kernel` for einsum text."""
    from ..frontends.einsum import is_kernel

    return Path("out") / ("kernel" if is_kernel(model) else Path(model).stem.replace(":", "_"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="an .onnx or .tflite file, a .mlir file (graph, StableHLO or linalg), or einsum text with bounds",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder to write (default: out/MODEL)")
    parser.add_argument(
        "--image", type=Path, metavar="DIR", help="write memory, instructions and addresses for other simulators to DIR"
    )
    add_model_options(parser)
    add_steps(parser)
    add_layer_options(parser)
    add_target(parser)
    add_compile_options(parser)
    add_dram_option(parser)
    add_host_option(parser)
    add_types(parser, "f32; on machines of threads")


def kernels(arguments: argparse.Namespace) -> str | None:
    """The search whose kernels are called, that for a mapping of threads."""
    return "exact mapper" if _for_threads(arguments) else None


def _for_threads(arguments: argparse.Namespace) -> bool:
    from ..frontends.machine_files import is_threads

    return is_threads(arguments.target)


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    if _for_threads(arguments):
        yield from unused_for_threads(arguments, (*WAYS_TO_COMPILE, "dram", "image", "host", "steps", "carry"))
        return
    yield Unused(("types",), "on a target with instructions")
    if arguments.host:
        yield Unused((*WAYS_TO_COMPILE, "csv", "dram", "image", "steps"), "with --host")
    yield from unused_compile_options(arguments)
    if any("," in text for text in arguments.dim):
        yield Unused(("csv", "dram", "image", "steps"), "with several points of --dim")
    if arguments.steps is None:
        yield Unused(("carry",), "without --steps")
    partition, schedule = _ways(arguments)
    if partition in NOT_SEARCHED and schedule is None:
        yield Unused(("seed",), "without a --partition METHOD that searches")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    answer = _compile(arguments)
    if arguments.csv is not None:
        write_layers(arguments.csv, answer.get("layers", ()))
    return answer


def _compile(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver import compile
    from ..driver.groups import BEST

    folder = arguments.output or default_folder(arguments.model)
    if _for_threads(arguments):
        return compile_for_threads(arguments, folder)
    if arguments.host:
        return compile_for_host(arguments, folder)
    points = model_points(arguments, arguments.model)
    options = compile_options(arguments)
    if len(points) > 1:
        return _compile_points(arguments, folder, points, options)
    if options.partition == BEST:
        answer_with_best()
    with progress_bar() as progress:
        shapes = next(iter(points.values()))
        if arguments.steps is None:
            program = compile(arguments.model, arguments.target, shapes=shapes, options=options, progress=progress)
        else:
            module = module_of_steps(arguments, shapes)
            program = compile(module, arguments.target, options=options, progress=progress)
    finish()
    program.save(folder)
    if arguments.image is not None:
        from ..driver.binaries import write_program_image

        write_program_image(program, arguments.image)
    return _about(program, folder) | _timed(program, arguments.dram)


def _timed(program: Program, dram: str | None) -> dict[str, Any]:
    """What the program takes with a device off chip, beside the flat bandwidth."""
    from ..backends.simulator import simulate
    from ..driver.run_options import against_flat

    if dram is None and all(memory.timing is None for memory in program.machine.memories):
        return {}
    timed = simulate(program, functional=False, checks=False, dram=dram)
    flat = simulate(program, functional=False, checks=False, dram="flat") if timed.dram else timed
    return {"timed_cycles": timed.cycles, **against_flat(timed, flat)} if timed.dram else {}


def _about(program: Program, folder: Path) -> dict[str, Any]:
    """The answer about one program, which is in `folder`."""
    return {
        "dir": str(folder),
        **program.control.sizes(program),
        "ops_max": program.ops_max,
        "layers": [layer.as_dict() for layer in program.layers],
        "layouts": program.layouts,
        **program.predicted,
        "predicted": dict(program.predicted),
        **program.bounds(program.predicted.get("cycles", 0.0)),
        **program.choice,
    }


def _compile_points(
    arguments: argparse.Namespace, folder: Path, points: Mapping[str, InputShapes], options: CompileOptions
) -> dict[str, Any]:
    """One program for each point of `--dim`, each in a folder of its own."""
    from ..driver.model_points import compile_points, save_points

    with progress_bar() as progress:
        programs = compile_points(arguments.model, arguments.target, points, options=options, progress=progress)
    finish()
    folders = save_points(programs, folder)
    return {"dir": str(folder), "points": {name: _about(programs[name], folders[name]) for name in programs}}


def _show_points(answer: dict[str, Any]) -> None:
    """A row for each point."""
    rows = [
        [
            name,
            number(point["cycles"]),
            share(point["gap"]) if "gap" in point else "",
            energy(point["energy_pj"]) if point["energy_pj"] is not None else "",
            number(point["dram_bytes"], "B"),
            number(point["binary_bytes"], "B") if point["binary_bytes"] is not None else "not linked",
            Path(point["dir"]).name,
        ]
        for name, point in answer["points"].items()
    ]
    columns = ["point", "cycles", "over the least", "energy", "DRAM traffic", "binary", "folder"]
    print_table(f"Compiled to {answer['dir']}", columns, rows)


def show(answer: dict[str, Any]) -> None:
    others = ("points", _show_points), ("host_layers", show_compiled_for_host), ("blocks", show_for_threads)
    for key, other in others:
        if key in answer:
            return other(answer)
    rows = [
        ["instructions", number(answer["mnemonics"])],
        ["binary", number(answer["binary_bytes"], "B") if answer["binary_bytes"] is not None else "not linked"],
        ["most IR operations", str(answer["ops_max"])],
        ["predicted cycles", number(answer["cycles"])],
        ["predicted energy", energy(answer["energy_pj"])],
        ["predicted DRAM traffic", number(answer["dram_bytes"], "B")],
        *bound_rows(answer),
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
    print_table(f"Compiled to {answer['dir']}", ["what", "value"], rows)
    show_layers(answer.get("layers", ()), "Layers, by their instructions")
    show_dram(answer)
    show_candidates(answer)


def bound_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What no program of the network goes below, how far above it this one is, and why."""
    if "gap" not in answer:
        return []
    least = number(answer["lower_bound"]["cycles"], "cycles")
    return [["least of any program", least], ["gap, bound by", f"{share(answer['gap'])}, {answer['bound_by']}"]]


def show_candidates(answer: dict[str, Any]) -> None:
    """Why the way to compile was taken, what it was chosen from, and why not the others."""
    if answer.get("why"):
        print(f"Way taken: {answer['why']}")
    for way in answer.get("candidates", ()):
        found = way["error"] or f"{number(way['cycles'])} cycles, {energy(way['energy_pj'])}"
        print(f"{way['method']}{' (chosen)' if way['chosen'] else ''}: {found}")
