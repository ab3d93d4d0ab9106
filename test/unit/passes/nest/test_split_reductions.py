"""Sums along two dims of an instruction in place of one."""

from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.costs.bounds.program.rates import Rates
from tilewright.costs.mapping.binding import split_choices
from tilewright.costs.mapping.formula import compile_formula
from tilewright.driver import CompileOptions, RunOptions, run
from tilewright.frontends.acg import load_target
from tilewright.passes.nest import nest_split_reductions


def product_of_maps(path: Path) -> str:
    """512x512 numbers times 512x64."""
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT8, s) for n, s in (("a", [512, 512]), ("b", [512, 64]))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, [512, 64])]
    graph = helper.make_graph([node], "net", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def test_arrays_work_for_as_long_as_the_bound_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    model, busy = product_of_maps(tmp_path / "model.onnx"), list[float]()
    compiling = CompileOptions(partition="schedule", gap=10.0)
    for number in range(2):
        folder = tmp_path / str(number)
        done = run(model, "cloud128", folder=folder, compile_options=compiling, options=RunOptions(trace=False))
        assert done.comparison is not None
        assert done.comparison.equal
        assert done.simulation.cycles == done.predicted["cycles"] >= done.bounds["lower_bound"]["cycles"]
        busy.append(done.simulation.counts.computes["MXU"].busy_cycles)
        monkeypatch.setattr(nest_split_reductions, "_splits", lambda *_: ())
    least = 512 * 512 * 64 / (64 * 64 * 16)
    assert least <= busy[0] <= 1.02 * least
    assert busy[1] >= 2 * least


def divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


@pytest.mark.parametrize(("m", "n", "k", "is_reached"), [(512, 64, 512, True), (24, 8, 96, False), (6, 1, 90, False)])
def test_the_bound_of_a_product_is_below_all_instructions(m: int, n: int, k: int, is_reached: bool):
    """All that divide a product of two maps in equal parts, with sums along channels and both dims of taps."""
    machine = load_target("cloud128")
    mac = machine.computes[0].capabilities[0]
    formula, slots = compile_formula(mac.cycles), [dim.name for dim in mac.dims]
    sums = [(c, r, s) for c in divisors(k) for r in divisors(k // c) for s in divisors(k // c // r)]
    boxes = np.array([(1, kk, p, 1, *s) for kk, p, s in product(divisors(n), divisors(m), sums)], np.int64).T
    env = dict(zip(slots, boxes, strict=True)) | {"ops": boxes.prod(axis=0)}
    best = np.inf
    for split in split_choices(machine, mac):
        ways = {f"{slot}_ways": prod(count for _, name, count in split if name == slot) for slot in slots}
        best = min(best, float((formula({**env, **ways}) / env["ops"]).min()))
    extents = {"g": 1, "k": n, "p": m, "q": m, "c": k, "r": k, "s": k}
    least = Rates(machine).rate(mac, tuple(extents.values())).cycles
    assert least <= best
    if is_reached:
        assert best == pytest.approx(least, rel=1e-9)
