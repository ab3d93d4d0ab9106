"""Groups of layers that run tile by tile: as what they are without, with the traffic and in the regions foretold."""

from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tilewright.backends.link import link
from tilewright.backends.program import Program, load_program
from tilewright.backends.simulator import simulate
from tilewright.dialects.codelet import ComputeOp, ProgramOp, TensorOp, TransferOp
from tilewright.dialects.codelet_fused import FusedOp
from tilewright.dialects.codelet_rules import surrogate
from tilewright.dialects.graph import FusedGroupOp
from tilewright.driver import (
    CompileOptions,
    compile,
    load_model,
    make_context,
    parse_mlir,
    parse_passes,
    pipeline_text,
    reference,
)
from tilewright.driver.partitions import program_partition, program_work
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.interpreters.codelet import run_program
from tilewright.passes.nest_to_codelet import fused_program
from tilewright.resources import resources_of
from tilewright.search.fusion import PartitionOptions, partition
from tilewright.search.fusion.floors import scene_of

from ....onnx_files.networks import transformer_block
from ....onnx_files.quantized import quantized
from .fused_models import Net, branches, classifier, inputs_of, reshaped, residual, rows_joined, skipping, verified_rows

MODELS = {
    "residual": residual,
    "residual of 3": lambda: residual(batch=3, rows=8),
    "branches": branches,
    "classifier": classifier,
    "skipping": skipping,
    "reshaped": reshaped,
    "rows joined": rows_joined,
}


@cache
def model_of(name: str) -> ModelProto:
    return quantized(MODELS[name.removesuffix(" in int8")]()) if name.endswith(" in int8") else MODELS[name]()


def text_of(target: str, rows: int, method: str = "ours", global_bytes: int = 0) -> str:
    return pipeline_text(target, CompileOptions(partition=method, tile_rows=rows), global_bytes)


@cache
def compiled(name: str, text: str) -> tuple[Program, ModuleOp]:
    """The program, and the module with codelets that it is of."""
    module = load_model(model_of(name))
    *first, last = text.split(",codelet-verify,")
    parse_passes(first[0] + ",codelet-verify").apply(make_context(), module)
    module.verify()
    codelets = load_model(module)
    parse_passes(last).apply(make_context(), module)
    return link(module), codelets


CASES = [
    *((name, target, rows) for name in MODELS for target, rows in (("edge16", 4), ("cocco_npu", 1))),
    ("residual in int8", "cocco_npu", 1),
    ("branches in int8", "edge16", 2),
    ("classifier in int8", "cocco_npu", 32),
]


@pytest.mark.parametrize(("name", "target", "rows"), CASES)
def test_fused_is_equal_to_unfused_with_the_traffic_foretold(name: str, target: str, rows: int):
    model = model_of(name)
    inputs = inputs_of(model)
    program, codelets = compiled(name, text_of(target, rows))
    result = simulate(program, inputs)
    expected = reference(load_model(model), inputs)
    for key, value in expected.items():
        np.testing.assert_array_equal(result.outputs[key], value)
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    assert result.cycles == program.predicted["cycles"]
    assert [(r.name, r.peak_bytes) for r in result.regions] == [(r.name, r.bytes) for r in result.regions]
    (program_op,) = [op for op in codelets.body.ops if isinstance(op, ProgramOp)]
    assert any(isinstance(op, FusedOp) for op in program_op.body.block.ops)
    if rows == 1 and name != "skipping":
        rings = [op.ring.get_values() for op in program_op.walk() if isinstance(op, TensorOp) and op.ring is not None]
        sizes = [op.result.type.sizes for op in program_op.walk() if isinstance(op, TensorOp) and op.ring is not None]  # pyright: ignore
        assert any(len(ring) == 4 and ring[2] < size[2] for ring, size in zip(rings, sizes, strict=True))


def test_codelets_mean_the_same():
    for name, rows in (("residual of 3", 1), ("branches", 1), ("classifier", 1)):
        model = model_of(name)
        _, module = compiled(name, text_of("cocco_npu", rows))
        (program,) = [op for op in module.body.ops if isinstance(op, ProgramOp)]
        inputs = inputs_of(model)
        outputs = run_program(program, tuple(inputs.values()), resources_of(module))
        expected = list(reference(load_model(model), inputs).values())
        assert len(outputs) == len(expected)
        assert all(any(np.array_equal(made, value) for made in outputs) for value in expected)


@pytest.mark.parametrize(("name", "target"), [("residual", "cocco_npu"), ("residual of 3", "cocco_npu")])
def test_rings_have_room_for_what_is_read_out_of_bounds(name: str, target: str):
    _, module = compiled(name, text_of(target, 1))
    assert not any(op.border_names for op in module.walk() if isinstance(op, ComputeOp))
    moved = [op for op in module.walk() if isinstance(op, TransferOp) and op.into is not None]
    assert moved
    assert all(surrogate(op.destination).sizes[2:] > surrogate(op.source).sizes[2:] for op in moved)


def test_less_moves_than_layer_by_layer():
    inputs = inputs_of(model_of("residual"))
    moved = {m: simulate(compiled("residual", text_of("cocco_npu", 1, m))[0], inputs) for m in ("ours", "per-layer")}
    assert moved["ours"].dram_bytes < moved["per-layer"].dram_bytes
    maps = 3 * 13 * 10 + 4 * 13 * 10
    weights = 4 * 3 * 9 + 4 + 4 * 4 * 9 + 4
    assert moved["ours"].dram_bytes == 4 * (maps + weights)


def test_a_small_buffer_makes_smaller_groups():
    model, inputs = model_of("branches"), inputs_of(model_of("branches"))
    text = text_of("cocco_npu", 1, global_bytes=1700)
    program, module = compiled("branches", text)
    fused = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert len(fused) > 1
    result = simulate(program, inputs)
    assert result.dram_bytes == program.predicted["dram_bytes"]
    for key, value in reference(load_model(model), inputs).items():
        np.testing.assert_array_equal(result.outputs[key], value)


def test_a_saved_program_keeps_its_regions(tmp_path: Any):
    program, _ = compiled("residual", text_of("cocco_npu", 1))
    again = load_program(program.save(tmp_path))
    assert again.regions == program.regions
    assert len(again.regions) == 3


def test_groups_written_by_hand_that_do_not_fit():
    first, rest = text_of("cocco_npu", 32).split(",graph-fuse,")
    module = load_model(model_of("residual"))
    parse_passes(first).apply(make_context(), module)
    with pytest.raises(InfeasibleError, match="use a global buffer of at least"):
        parse_passes("graph-verify{global_bytes=500}").apply(make_context(), module)
    net = Net((1, 128, 4, 4))
    net.conv("x", "y", 512, kernel=3)
    module = load_model(net.model("y"))
    parse_passes(first).apply(make_context(), module)
    (group,) = [op for op in module.walk() if isinstance(op, FusedGroupOp)]
    assert "tile_rows" not in group.attributes
    group.attributes["tile_rows"] = IntegerAttr(1, 64)
    with pytest.raises(InfeasibleError, match="use a WBUF of at least 2359296 bytes"):
        parse_passes(f"graph-fuse,{rest}").apply(make_context(), module)


def test_groups_of_too_many_turns_are_refused_and_by_default_layers_run_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fused_program, "MOST_TURNS", 8)
    with pytest.raises(TilewrightError, match=r"group .*expected at most 8 tiles, found more; give more rows") as error:
        compile(model_of("residual"), "cocco_npu", options=CompileOptions(partition="ours", tile_rows=1))
    assert error.value.kind == "limit"
    monkeypatch.setattr(fused_program, "MOST_TURNS", 1)
    assert "at most 1 tiles" in str(compile(model_of("residual")).refused)


def test_layers_that_only_run_alone_are_cut_out_of_groups():
    model = transformer_block(sequence=8, width=16, heads=2, hidden=32)
    program = compile(model, "cocco_npu", options=CompileOptions(partition="greedy"))
    inputs = {"x": np.random.default_rng(0).standard_normal((1, 8, 16), np.float32)}
    result = simulate(program, inputs)
    assert result.regions
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    expected = reference(load_model(model), inputs)["y"]
    np.testing.assert_allclose(result.outputs["y"], expected, atol=1e-5)


def test_text_of_fused_codelets_is_read_back(tmp_path: Any):
    _, module = compiled("branches", text_of("cocco_npu", 1))
    path = tmp_path / "codelets.mlir"
    path.write_text(str(module))
    again = parse_mlir(path)
    assert str(again) == str(module)


def test_rows_that_are_gone_are_found():
    """One row fewer than the scheme asks for, in any ring, is refuted."""
    _, module = compiled("branches", text_of("cocco_npu", 1))
    rings = [op for op in module.walk() if isinstance(op, TensorOp) and op.ring is not None]
    sizes = [list(op.ring.get_values()) for op in rings if op.ring is not None]
    found = [verified_rows(module, op, 2) for op, ring in zip(rings, sizes, strict=True) if len(ring) == 4]
    held = [ring[2] for ring in sizes if len(ring) == 4]
    assert all(least in (1, rows) for least, rows in zip(found, held, strict=True))
    assert sum(least > 1 for least in found) > 3


def moved_and_foretold(model: ModelProto, target: str, method: str, tmp_path: Any) -> tuple[Program, Any]:
    """The program of a model, and what `partition` says of it."""
    onnx.save(model, path := tmp_path / "model.onnx")
    answer = program_partition(str(path), target, (1, 0), PartitionOptions(method))
    return compile(model, target, options=CompileOptions(partition=method, tile_rows=1)), answer


def test_a_partition_says_what_its_program_moves(tmp_path: Any):
    program, answer = moved_and_foretold(model_of("branches"), "cocco_npu", "greedy", tmp_path)
    assert answer["ema_bytes"] == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    assert answer["lower_bound"] <= answer["ema_bytes"]
    assert all(group["tile"][1] == 0 for group in answer["groups"])


def test_copies_of_results_count(tmp_path: Any):
    """Returned joined, twice, and as it was given: 2 * (7 + 4 + 2) * 48 elements are copied."""
    net = Net((1, 2, 6, 8))
    net.conv("x", "a", 4)
    net.conv("a", "b", 3)
    net.add("Concat", ["a", "b"], "c", 7, axis=1)
    net.add("Identity", ["a"], "d", 4)
    net.add("Identity", ["x"], "e", 2)
    model = net.model("a", "c", "d", "e")
    program, answer = moved_and_foretold(model, "cocco_npu", "ours", tmp_path)
    inputs = inputs_of(model)
    result = simulate(program, inputs)
    for key, value in reference(load_model(model), inputs).items():
        np.testing.assert_array_equal(result.outputs[key], value)
    assert answer["copied_bytes"] == 4 * 2 * (7 + 4 + 2) * 48
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    assert answer["ema_bytes"] == answer["cost"] == result.dram_bytes
    assert answer["ema_bytes"] == answer["copied_bytes"] + sum(
        group[f"{what}_bytes"] for group in answer["groups"] for what in ("weight", "input", "output")
    )


def test_a_partition_leaves_the_room_that_its_program_needs(tmp_path: Any):
    """Where seven eighths of the buffer for maps leave too little for accumulators, both take five eighths."""
    text = target_files()["cocco_npu"].read_text()
    (small := tmp_path / "small.acg").write_text(text.replace("depth 131072", "depth 64"))
    program, answer = moved_and_foretold(model_of("residual in int8"), str(small), "ours", tmp_path)
    assert answer["ema_bytes"] == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    first = program_work(str(tmp_path / "model.onnx"), str(small), (1, 0))
    result = partition(first.pricer.graph, first.pricer, PartitionOptions(), scene=scene_of(first.pricer))
    assert result.cost < answer["cost"]
    with pytest.raises(InfeasibleError):
        first.lower(result)
