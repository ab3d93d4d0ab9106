"""Compile a model to a binary for a target.

Writes DIR/program.bin (the binary), target.acg, program.json (where each tensor lies) and weights.npz.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .tables import energy, number, print_table, progress_bar


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Options that every command that compiles has."""
    parser.add_argument("--target", default="edge16", metavar="T", help="target name or .acg file (default: edge16)")
    parser.add_argument("--no-prove", action="store_true", help="skip the proofs about addresses")
    parser.add_argument("--dump-ir", type=Path, metavar="DIR", help="write the IR after each pass to DIR")


def default_folder(model: str) -> Path:
    """Where a command writes without `-o`: `out/` and the model's name, `kernel` for einsum text."""
    from ..driver import is_kernel

    return Path("out") / ("kernel" if is_kernel(model) else Path(model).stem.replace(":", "_"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="an .onnx file, a .mlir file in the graph dialect, or einsum text with bounds"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder to write (default: out/MODEL)")
    add_compile_options(parser)


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver import CompileOptions, compile

    options = CompileOptions(prove=not arguments.no_prove, dump=arguments.dump_ir)
    with progress_bar(arguments.json) as progress:
        program = compile(arguments.model, arguments.target, options=options, progress=progress)
    folder = arguments.output or default_folder(arguments.model)
    program.save(folder)
    return {
        "dir": str(folder),
        "mnemonics": program.instruction_count,
        "binary_bytes": len(program.code),
        "ops_max": program.ops_max,
        **program.predicted,
    }


def show(answer: dict[str, Any]) -> None:
    rows = [
        ["instructions", number(answer["mnemonics"])],
        ["binary", number(answer["binary_bytes"], "B")],
        ["most IR operations", str(answer["ops_max"])],
        ["predicted cycles", number(answer["cycles"])],
        ["predicted energy", energy(answer["energy_pj"])],
        ["predicted DRAM traffic", number(answer["dram_bytes"], "B")],
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
    print_table(f"Compiled to {answer['dir']}", ["what", "value"], rows)
