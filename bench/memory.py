"""Peak memory of importing, compiling and running a model, in units of its weights.

    python bench/memory.py [--layers 8] [--side 4096] [--steps import compile run] [--limit 1.3]

The model is a chain of `layers` matrix products with float weights of `side` x `side`, with its values beside the file
(external data) and inside it.  Each step is a process of its own; `peak` is what it held at most beyond what the same
step on a tiny model holds (VmHWM of /proc; `ru_maxrss` would count the parent, too).  `run` holds the machine's memory.
Exit code 1 where a step is above `--limit`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

STEPS = ("import", "compile", "run")


def write_model(folder: Path, layers: int, side: int, *, external: bool) -> Path:
    """A chain of `Gemm` layers whose weights are all different, written layer by layer."""
    folder.mkdir(parents=True)
    path, random = folder / "model.onnx", np.random.default_rng(0)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, side]) for n in ("v0", f"v{layers}"))
    nodes = [helper.make_node("Gemm", [f"v{n}", f"w{n}"], [f"v{n + 1}"], transB=n % 2) for n in range(layers)]
    graph, stored = helper.make_graph(nodes, "chain", [x], [y]), side * side * 4
    with (folder / "weights.bin").open("wb") as file:
        for number in range(layers):
            tensor = graph.initializer.add(name=f"w{number}", dims=[side, side], data_type=TensorProto.FLOAT)
            values = (random.standard_normal((side, side), np.float32) / side**0.5).tobytes()
            if not external:
                tensor.raw_data = values
                continue
            file.write(values)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in {"location": "weights.bin", "offset": number * stored, "length": stored}.items():
                tensor.external_data.add(key=key, value=str(value))
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return path


def take(step: str, model: Path, target: str, output: Path) -> None:
    """One step, in this process; prints what it held at most, in KiB."""
    if step == "import":
        from tilewright import import_onnx

        import_onnx(model)
    else:
        from tilewright.cli import main

        options = ["--no-check", "--no-trace"] if step == "run" else []
        assert main([step, str(model), "--target", target, "--no-prove", "-o", str(output), "--json", *options]) == 0
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def peak_bytes(step: str, model: Path, target: str) -> int:
    """What a process that takes one step holds at most."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--take", step, "--model", str(model), "--target", target, "-o", folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.splitlines()[-1]) * 1024


def measure(layers: int, side: int, steps: Sequence[str], target: str) -> float:
    """Prints a line per way of storing and step; returns the largest ratio."""
    worst, weights = 0.0, layers * side * side * 4
    print(f"{'values':10}{'step':10}{'weights':>12}{'peak':>12}{'peak/weights':>14}")
    with tempfile.TemporaryDirectory() as folder:
        tiny = write_model(Path(folder) / "tiny", 1, 16, external=True)
        least = {step: peak_bytes(step, tiny, target) for step in steps}
        for where in ("beside", "inside"):
            model = write_model(Path(folder) / where, layers, side, external=where == "beside")
            for step in steps:
                peak = peak_bytes(step, model, target) - least[step]
                worst = max(worst, peak / weights)
                sizes = f"{weights / 1e6:9.0f} MB{peak / 1e6:9.0f} MB"
                print(f"{where:10}{step:10}{sizes}{peak / weights:14.2f}", flush=True)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--limit", type=float, default=1.3)
    parser.add_argument("--take", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.take:
        take(arguments.take, arguments.model, arguments.target, arguments.output)
        return 0
    worst = measure(arguments.layers, arguments.side, arguments.steps, arguments.target)
    return int(worst > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
