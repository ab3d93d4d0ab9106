"""Covenant's sixteen layers and a layer of BERT-large on dnnweaver: DRAM traffic against the least possible, use of the
array, padding, time.

The least are bytes of inputs, weights and results, each once, without padding; products may take 1.15 of it (the
public compiler takes 3.5 to 9.6 on BERT-large's first).  Of the array counts what it multiplied for the layer; padding
is what it multiplied in all.  Compilations may take 2 s.  Of the network the least are its weights, input and result;
what its layers hand on through DRAM comes on top.

With --features instead: cycles and traffic without the choice of tiles (the first valid ones) and without a second copy
of each buffer, each as a multiple of what all together need.

    python bench/dnnweaver.py [--quick] [--features]
"""

from __future__ import annotations

import argparse
import math
import tempfile
from math import prod
from pathlib import Path

import numpy as np
from measure import Report, cpu_seconds

from tilewright import simulate
from tilewright.backends.link import link
from tilewright.driver import compile, load_model, make_context, parse_passes, pipeline_text, reference
from tilewright.frontends.acg import target_files
from tilewright.frontends.integer_layers import ENCODERS
from tilewright.resources import resources_of
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


def network(report: Report, name: str) -> None:
    """A layer of BERT on integers: products, softmax, normalisation and GELU, from one program."""
    module = load_model(name)
    seconds, program = cpu_seconds(lambda: compile(module, "dnnweaver"))
    rng = np.random.default_rng(0)
    (given,) = [tensor for tensor in program.tensors if tensor.role == "input"]
    inputs = {given.name: rng.integers(-128, 128, given.shape).astype(np.int8)}
    result = simulate(program, inputs)
    equal = bool((result.outputs["y"] == reference(module, inputs)["y"]).all())
    least = sum(array.nbytes for array in resources_of(module).values()) + 2 * prod(given.shape)
    shape = ENCODERS[name]
    macs = shape.tokens * shape.hidden * (4 * shape.hidden + 2 * shape.inner + 2 * shape.tokens)
    report.add(f"{name}: compilation", seconds, math.inf, "s")
    report.add(f"{name}: DRAM traffic", result.dram_bytes, math.inf, "bytes")
    report.add(f"{name}: differs from NumPy", 0 if equal else 2, 1)
    used = f"{macs / (result.cycles * 4096):.1%} of the array, {result.utilization['SIMD']:.1%} of the vector engine"
    print(f"    {result.cycles} cycles, {used}, traffic {result.dram_bytes / least:.3f}")


def features(name: str, quick: bool) -> None:
    """One layer with and without each."""
    text = f"covenant{'_cut' if quick else ''}:{name}"
    with tempfile.TemporaryDirectory() as folder:
        single = Path(folder) / "single.acg"
        single.write_text(target_files()["dnnweaver"].read_text().replace(" buffering 2;", ""))
        cheapest, first = "convert-nest-to-loops", 'convert-nest-to-loops{tiles="first"}'
        pipelines = {
            "all": pipeline_text("dnnweaver"),
            "first valid tiles": pipeline_text("dnnweaver").replace(cheapest, first),
            "one copy of buffers": pipeline_text(str(single)),
        }
        base = (0, 0)
        for what, pipeline in pipelines.items():
            module = load_model(text)
            parse_passes(pipeline).apply(make_context(), module)
            program = link(module, 0)
            rng = np.random.default_rng(0)
            given = [tensor for tensor in program.tensors if tensor.role == "input"]
            inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in given}
            result = simulate(program, inputs)
            if not (result.outputs["Y"] == reference(load_model(text), inputs)["Y"]).all():
                raise SystemExit(f"{name}, {what}: the result differs from NumPy's")
            base = base if base[0] else (result.cycles, result.dram_bytes)
            ratios = f"{result.cycles / base[0]:.3f}x cycles, {result.dram_bytes / base[1]:.3f}x traffic"
            print(f"{name:18} {what:20} {result.cycles:9} cycles {result.dram_bytes:9} bytes  {ratios}", flush=True)


def main() -> None:
    """All layers, or small cuts of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cuts of the layers")
    parser.add_argument("--features", action="store_true", help="without the choice of tiles, or a second copy")
    asked = parser.parse_args()
    if asked.features:
        for name in LAYERS:
            features(name, asked.quick)
        return
    report = Report()
    compile(load_model("covenant_cut:bert_gemm1"), "dnnweaver")  # imports and grammars
    for name in LAYERS:
        measure(report, name, asked.quick)
    network(report, "bert_layer_cut" if asked.quick else "bert_large_layer")
    report.finish()


if __name__ == "__main__":
    main()
