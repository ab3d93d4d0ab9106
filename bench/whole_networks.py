"""Whole networks as torch's exporters write them, by default options: compiled, run on values, and checked.

    python bench/whole_networks.py [NAMES] [--jobs 2] [--target edge16] [--docs]

The networks lie in test/data/networks without their weights (`bench/networks/make.py`), which are made from seeds here.
Each is compiled for one sample and simulated; outputs are compared with onnxruntime's.  A row has the operators, the
CPU seconds of compilation, cycles, what no program of the network goes below, their ratio, what binds, and the verdict;
the exit code is 1 where one is wrong.  `--docs` writes the rows into the table in docs/onnx.md.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import compile
from tilewright.errors import TilewrightError

Array = NDArray[Any]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "test/data/networks"
DOCUMENT = ROOT / "docs/onnx.md"
BEGIN, END = "<!-- whole networks -->", "<!-- end of whole networks -->"

SEEDED = "seeded"
"""The location of a tensor whose values are made here."""

TOLERANCE = 1e-3
"""Errors relative to the largest value of an output that agree."""

WORDS = 50
"""Integers given to networks are below this: every table of words and categories has so many rows."""


@dataclass(frozen=True)
class Row:
    """What became of a network; `verdict` is `agrees`, `wrong`, or why it was refused."""

    name: str
    operators: int
    verdict: str
    nodes: int = 0
    seconds: float = 0.0
    cycles: float = 0.0
    bound: float = 0.0
    bound_by: str = ""


def names() -> list[str]:
    """The networks that are kept."""
    return sorted(path.name.removesuffix(".onnx.xz") for path in FOLDER.glob("*.onnx.xz"))


def load(name: str) -> ModelProto:
    """A network with its weights made from their seeds."""
    model = onnx.load_from_string(lzma.decompress((FOLDER / f"{name}.onnx.xz").read_bytes()))
    for tensor in _tensors(model.graph):
        recipe = {entry.key: entry.value for entry in tensor.external_data}
        if recipe.get("location") == SEEDED:
            _fill(tensor, int(recipe["seed"]), float(recipe["mean"]), float(recipe["deviation"]))
    return model


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """The stored tensors of a graph and of those inside of it."""
    yield from graph.initializer
    for attribute in chain.from_iterable(node.attribute for node in graph.node):
        if attribute.type == attribute.TENSOR:
            yield attribute.t
        elif attribute.type == attribute.GRAPH:
            yield from _tensors(attribute.g)


def _fill(tensor: TensorProto, seed: int, mean: float, deviation: float) -> None:
    values = np.random.default_rng(seed).standard_normal(tensor.dims, np.float32) * deviation + mean
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    made = numpy_helper.from_array(values.astype(dtype), tensor.name)
    tensor.CopyFrom(made)


def inputs_of(model: ModelProto, seed: int = 0) -> dict[str, Array]:
    """Values for one sample: normal numbers, words, and masks of all words but the last."""
    rng, made = np.random.default_rng(seed), dict[str, Array]()
    stored = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in stored:
            continue
        shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if dtype.kind == "f":
            made[value.name] = rng.standard_normal(shape).astype(dtype)
        elif "mask" in value.name:
            made[value.name] = np.ones(shape, dtype)
            made[value.name][..., -1] = 0
        else:
            made[value.name] = rng.integers(3, WORDS, shape).astype(dtype)
    return made


def expected_outputs(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What onnxruntime makes of the inputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(None, dict(inputs))]


def run_network(name: str, target: str = "edge16") -> Row:
    """Compile a network, simulate it, compare its outputs."""
    model = load(name)
    nodes, operators = len(model.graph.node), len({node.op_type for node in model.graph.node})
    inputs = inputs_of(model)
    expected = expected_outputs(model, inputs)
    start = time.process_time()
    try:
        program = compile(model, target)
    except TilewrightError as error:
        return Row(name, operators, f"refused: {' '.join(str(error).split())[:200]}", nodes)
    seconds = time.process_time() - start
    outputs = simulate(program, inputs, timing=False).outputs
    worst = max(_error(outputs[value.name], y) for value, y in zip(model.graph.output, expected, strict=True))
    verdict = "agrees" if worst <= TOLERANCE else f"wrong by {worst:.2g}"
    cycles, bound = program.predicted["cycles"], program.lower_bound["cycles"]
    return Row(name, operators, verdict, nodes, seconds, cycles, bound, program.bound_by)


def _error(found: Array, expected: Array) -> float:
    if found.shape != expected.shape or not np.all(np.isfinite(found)):
        return float("inf")
    most = float(np.abs(expected).max()) or 1.0
    return float(np.abs(found.astype(np.float64) - expected).max()) / most


def tried(name: str, target: str = "edge16") -> Row:
    """The row of a network, also where something else than a refusal ends it."""
    try:
        return run_network(name, target)
    except Exception as error:  # counted, and named
        return Row(name, 0, f"fails: {type(error).__name__}: {' '.join(str(error).split())[:200]}")


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows in Markdown."""
    yield "| network | nodes | operators | compile, CPU s | cycles | bound | over it | bound by | |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        figures = " | | | | "
        if row.cycles:
            ratio = f"{row.cycles / row.bound:.2f}"
            figures = f"{row.seconds:.1f} | {row.cycles:,.0f} | {row.bound:,.0f} | {ratio} | {row.bound_by}"
        yield f"| {row.name} | {row.nodes} | {row.operators} | {figures} | {row.verdict} |"


def write_document(rows: Sequence[Row]) -> None:
    """The rows, between the table's marks in docs/onnx.md; those of networks that were not run stay."""
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    head, body = list(table([])), list(table(rows))[2:]
    lines = {line.split("|")[1].strip(): line for line in (*old.split("\n"), *body) if line.startswith("|")}
    kept = [lines[name] for name in sorted(lines) if name in names()]
    DOCUMENT.write_text(f"{before}{BEGIN}\n" + "\n".join((*head, *kept)) + f"\n{END}{after}")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks (all)")
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--docs", action="store_true", help="write the rows into docs/onnx.md")
    arguments = parser.parse_args()
    chosen, rows = arguments.names or names(), list[Row]()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(partial(tried, target=arguments.target), chosen):
            rows.append(row)
            print(list(table([row]))[-1], flush=True)
    good = sum(row.verdict == "agrees" for row in rows)
    print(f"{good} of {len(rows)} agree")
    if arguments.docs:
        write_document(rows)
    return int(any(row.verdict.startswith(("wrong", "fails")) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
