"""Covenant's sixteen layers on dnnweaver: DRAM traffic against the least possible, use of the array, padding, time.

The least are bytes of inputs, weights and results, each once, without padding; products may take 1.15 of it (the
public compiler takes 3.5 to 9.6 on BERT-large's first).  Of the array counts what it multiplied for the layer; padding
is what it multiplied in all.  Compilations may take 2 s.

    python bench/dnnweaver.py [--quick]
"""

from __future__ import annotations

import math
import sys
from math import prod

import numpy as np
from measure import Report, cpu_seconds

from tilewright import simulate
from tilewright.driver import compile, load_model, reference
from tilewright.zoo.covenant_layers import LAYERS, Product, covenant_layer

LIMIT, SECONDS = 1.15, 2.0


def measure(report: Report, name: str, quick: bool) -> None:
    """One layer."""
    shape, text = covenant_layer(name), f"covenant{'_cut' if quick else ''}:{name}"
    shape = shape.cut() if quick else shape
    seconds, program = cpu_seconds(lambda: compile(load_model(text), "dnnweaver"))
    rng = np.random.default_rng(0)
    given = [tensor for tensor in program.tensors if tensor.role == "input"]
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in given}
    result = simulate(program, inputs)
    equal = bool((result.outputs["Y"] == reference(load_model(text), inputs)["Y"]).all())
    least = sum(prod(t.shape) * np.dtype(t.dtype).itemsize for t in program.tensors)
    product = isinstance(shape, Product)
    report.add(f"{name}: DRAM traffic", result.dram_bytes, least * (LIMIT if product else math.inf), "bytes")
    report.add(f"{name}: compilation", seconds, SECONDS, "s")
    report.add(f"{name}: differs from NumPy", 0 if equal else 2, 1)
    array = shape.macs / (result.cycles * 4096)
    padding = result.counts.computes["PE"].ops / shape.macs
    used = f"{array:.1%} of the array, padding {padding:.2f}, traffic {result.dram_bytes / least:.3f}"
    print(f"    {result.cycles} cycles, {used}")


def main() -> None:
    """All layers, or small cuts of them."""
    report = Report()
    compile(load_model("covenant_cut:bert_gemm1"), "dnnweaver")  # imports and grammars
    for name in LAYERS:
        measure(report, name, "--quick" in sys.argv[1:])
    report.finish()


if __name__ == "__main__":
    main()
