"""Compile a model to a binary for a target.

Writes DIR/program.bin (the binary), target.acg, program.json (where each tensor lies) and weights.npz.  For a machine
of packets: program.s (its assembly), target.acg, program.json, constants.npz and, where tools link it, program.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command_line import UsageError
from .layer_table import add_layer_options, show_layers, write_layers
from .model_options import add_model_options, model_shapes
from .tables import energy, number, print_table, progress_bar

if TYPE_CHECKING:
    from ..driver import CompileOptions


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Options that every command that compiles has."""
    parser.add_argument("--target", default="edge16", metavar="T", help="target name or .acg file (default: edge16)")
    parser.add_argument("--no-prove", action="store_true", help="skip the proofs about addresses")
    parser.add_argument("--dump-ir", type=Path, metavar="DIR", help="write the IR after each pass to DIR")
    group = parser.add_argument_group("groups of layers that run tile by tile on chip (see `tilewright partition`)")
    group.add_argument(
        "--partition",
        metavar="METHOD",
        default="",
        help="how layers are grouped (default: not at all); best: the fastest of some methods and layer by layer",
    )
    group.add_argument("--tile-rows", type=int, default=32, metavar="N", help="rows of a tile at most (default: 32)")
    group.add_argument("--tile-columns", type=int, default=0, metavar="N", help="columns, where full rows do not fit")
    group.add_argument("--time-limit", type=float, default=0, metavar="SECONDS", help="CPU seconds of the search")


def compile_options(arguments: argparse.Namespace) -> CompileOptions:
    """What `add_compile_options` was given."""
    from ..driver import CompileOptions

    method, rows, limit = arguments.partition, arguments.tile_rows, arguments.time_limit
    columns = arguments.tile_columns
    if method:
        from ..driver.groups import BEST
        from ..search.fusion import METHODS

        if method not in (BEST, *METHODS):
            raise UsageError("usage", "--partition", f"one of {', '.join((BEST, *METHODS))}", repr(method))
    if rows < 1:
        raise UsageError("usage", "--tile-rows", "at least 1", str(rows))
    if columns < 0:
        raise UsageError("usage", "--tile-columns", "at least 0", str(columns))
    if not 0 <= limit < float("inf"):
        raise UsageError("usage", "--time-limit", "some seconds", str(limit))
    return CompileOptions(
        prove=not arguments.no_prove,
        dump=arguments.dump_ir,
        partition=method,
        tile_rows=rows,
        tile_columns=columns,
        time_limit_s=limit,
    )


def default_folder(model: str) -> Path:
    """Where a command writes without `-o`: `out/` and the model's name, `kernel` for einsum text."""
    from ..driver import is_kernel

    return Path("out") / ("kernel" if is_kernel(model) else Path(model).stem.replace(":", "_"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="an .onnx file, a .mlir file in the graph dialect, or einsum text with bounds"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder to write (default: out/MODEL)")
    add_model_options(parser)
    add_layer_options(parser)
    add_compile_options(parser)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    answer = _compile(arguments)
    if arguments.csv is not None:
        write_layers(arguments.csv, answer.get("layers", ()))
    return answer


def _compile(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver import compile
    from ..frontends.acg import load_target

    folder = arguments.output or default_folder(arguments.model)
    shapes = model_shapes(arguments, arguments.model)
    if (machine := load_target(arguments.target)).packets is not None:
        from ..driver.packet_files import compile_to_folder

        return compile_to_folder(arguments.model, machine, folder, shapes)
    options = compile_options(arguments)
    with progress_bar(arguments.json) as progress:
        program = compile(arguments.model, arguments.target, shapes=shapes, options=options, progress=progress)
    program.save(folder)
    return {
        "dir": str(folder),
        "mnemonics": program.instruction_count,
        "binary_bytes": len(program.code),
        "ops_max": program.ops_max,
        "layers": [layer.as_dict() for layer in program.layers],
        **program.predicted,
    }


def show(answer: dict[str, Any]) -> None:
    rows = [
        ["instructions", number(answer["mnemonics"])],
        ["binary", number(answer["binary_bytes"], "B") if answer["binary_bytes"] is not None else "not linked"],
        ["most IR operations", str(answer["ops_max"])],
        ["predicted cycles", number(answer["cycles"])],
        ["predicted energy", energy(answer["energy_pj"]) if answer["energy_pj"] is not None else "not in the file"],
        ["predicted DRAM traffic", number(answer["dram_bytes"], "B")],
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
    print_table(f"Compiled to {answer['dir']}", ["what", "value"], rows)
    show_layers(answer.get("layers", ()), "Layers, by their instructions")
