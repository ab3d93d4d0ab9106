"""Networks with `--host`: what the machine cannot run, the host does."""

import argparse
import time
from pathlib import Path
from typing import Any

from .options import model_shapes
from .run_tables import end_rows, error_rows
from .tables import number, print_table

NOT_TAKEN = "report", "csv", "dram", "platform", "types", "no_trace"
"""Attributes of the arguments that go with runs of a single program."""


def add_host_option(parser: argparse.ArgumentParser) -> None:
    """Whether the host may run layers."""
    parser.add_argument(
        "--host",
        action="store_true",
        help="layers that the machine cannot run are run by the host, whose time is not counted (docs/vta.md)",
    )


def is_hosted_folder(model: str) -> bool:
    """Whether a model is a folder that `compile --host` wrote."""
    from ..driver.hosted import is_hosted
    from ..frontends.einsum import is_kernel

    return not is_kernel(model) and is_hosted(Path(model))


def execute_hosted(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Compiles the steps, or takes those of a folder, runs them, and compares the outputs."""
    from ..driver import RunOptions
    from ..driver.hosted import compile_hosted, load_hosted, load_integers, run_hosted

    options = RunOptions(
        arguments.inputs, arguments.expect, arguments.seed, not arguments.no_check, False, arguments.tolerance
    )
    start = time.process_time()
    if is_hosted_folder(arguments.model):
        module, program = None, load_hosted(Path(arguments.model))
    else:
        module = load_integers(arguments.model, arguments.target, model_shapes(arguments, arguments.model))
        program = compile_hosted(module, arguments.target)
    return run_hosted(program, module, folder, options) | {"cpu_s": time.process_time() - start}


def compile_for_host(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Compiles the steps and writes them to `folder`."""
    from ..driver.hosted import compile_hosted, save_hosted

    start = time.process_time()
    program = compile_hosted(arguments.model, arguments.target, model_shapes(arguments, arguments.model))
    steps = save_hosted(program, folder)
    return {
        "dir": str(folder),
        "target": str(arguments.target),
        "cycles": sum(step["cycles"] for step in steps),
        "steps": steps,
        "host_layers": program.host_layers,
        "cpu_s": time.process_time() - start,
    }


def show_compiled_for_host(answer: dict[str, Any]) -> None:
    """The program as a whole, its steps, and why the host runs what it does."""
    rows = [
        ["predicted cycles of the machine's steps", number(answer["cycles"])],
        ["of the host's", "not counted"],
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
    print_table(f"Compiled to {answer['dir']}", ["what", "value"], rows)
    _show_steps(answer)


def show_hosted(answer: dict[str, Any]) -> None:
    """The run as a whole, its steps, and why the host runs what it does."""
    rows = [
        ["latency of the machine's steps", number(answer["cycles"], "cycles")],
        ["of the host's", "not counted"],
        ["DRAM traffic of the machine's steps", number(answer["dram_bytes"], "B")],
        *error_rows(answer),
        *end_rows(answer),
    ]
    print_table("Run", ["what", "value"], rows)
    _show_steps(answer)


def _show_steps(answer: dict[str, Any]) -> None:
    """A row a step, and a row a layer of the host."""
    rows = [
        [str(place), step["on"], str(len(step["layers"])), number(step["cycles"]) if step["on"] == "machine" else ""]
        for place, step in enumerate(answer["steps"], 1)
    ]
    print_table("Steps", ["step", "on", "layers", "cycles"], rows)
    rows = [[name, reason] for name, reason in answer["host_layers"].items()]
    print_table("Layers of the host", ["layer", "why"], rows)
