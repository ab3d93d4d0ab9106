"""What `tilewright compile` does for machines whose programs are kernels of blocks of threads."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .command_line import Unused
from .options import element_types, model_shapes, unused_for_kernel
from .tables import energy, number, print_table, progress_bar


def unused_for_threads(arguments: argparse.Namespace, ways: tuple[str, ...]) -> Iterator[Unused]:
    """Options that compiling a kernel for threads would ignore; `ways` are those about programs of networks."""
    yield Unused((*ways, "csv"), "on a machine of threads")
    yield from unused_for_kernel(arguments.model)


def compile_for_threads(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Write the kernel's text and launch to a folder; the answer about it."""
    from ..mapping import MapOptions, compile_threads

    options = MapOptions(
        seed=arguments.seed,
        time_limit_s=arguments.time_limit,
        shapes=model_shapes(arguments, arguments.model),
        types=element_types(arguments.types),
    )
    with progress_bar() as progress:
        kernel = compile_threads(arguments.model, arguments.target, options, progress)
    files = kernel.save(folder)
    return {"dir": str(folder), **kernel.launch, "files": [str(path) for path in files]}


def show_for_threads(answer: dict[str, Any]) -> None:
    """The launch, what a block takes, and what the cost model predicts."""
    predicted = answer["predicted"]
    arguments = ", ".join(f"{a['name']} {a['dtype']}{a['shape']}" for a in answer["arguments"])
    rows = [
        ["kernel", answer["kernel"]],
        ["arguments", arguments],
        ["blocks", number(answer["blocks"])],
        ["threads of a block", number(answer["threads"])],
        ["shared memory of a block", number(answer["shared_bytes"], "B")],
        ["register tile of a thread", number(answer["register_tile_words"], "words")],
        ["predicted cycles", number(predicted["cycles"])],
        ["predicted energy", energy(predicted["energy_pj"])],
        ["predicted DRAM traffic", number(predicted["dram_bytes"], "B")],
    ]
    print_table(f"Compiled to {answer['dir']}", ["what", "value"], rows)
    for path in answer["files"]:
        print(f"wrote {path}")
