"""ResNet-50 from ONNX to binary, and its simulation: CPU time, operations in the IR, error against onnxruntime."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from measure import Report, cpu_seconds

import tilewright
from tilewright.arrays import compare

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from onnx_files.networks import light_model, seeded_light_model
from onnx_files.weights import random_inputs

COMPILE_CPU_S = 60.0
SIMULATE_CPU_S = 120.0
OPS_MAX = 10_000
MAX_REL_ERROR = 1e-3


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    report = Report()
    tilewright.simulate(tilewright.compile(light_model("squeezenet")), random_inputs(light_model("squeezenet")))
    model = seeded_light_model("resnet50", seed=0)
    inputs = random_inputs(model, seed=0)
    seconds, program = cpu_seconds(lambda: tilewright.compile(model, target="edge16"))
    report.add("resnet50: ONNX to binary", seconds, COMPILE_CPU_S, "s CPU")
    report.add("resnet50: most operations in a module", program.ops_max, OPS_MAX)
    seconds, result = cpu_seconds(lambda: tilewright.simulate(program, inputs))
    report.add("resnet50: function and timing simulated", seconds, SIMULATE_CPU_S, "s CPU")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = {name: np.asarray(array) for name, array in zip(names, session.run(names, inputs), strict=True)}
    report.add("resnet50: error to onnxruntime", compare(result.outputs, expected).max_rel_error, MAX_REL_ERROR)
    print(f"{program.instruction_count} instructions, {result.cycles} cycles")
    print(f"{result.energy_pj:.4g} pJ, {result.dram_bytes} bytes of DRAM traffic")
    report.finish()


if __name__ == "__main__":
    main()
