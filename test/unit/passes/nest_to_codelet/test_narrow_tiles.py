"""Groups whose tiles are narrower than the maps: MAIN and SIDE regions, nothing made or loaded twice."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.backends.link import link
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.dialects.codelet import CodeletOp, ProgramOp, TensorOp
from tilewright.dialects.codelet_fused import FusedOp
from tilewright.dialects.graph import FusedGroupOp
from tilewright.driver import CompileOptions, compile, load_model, make_context, parse_passes, pipeline_text, reference
from tilewright.driver.partitions import program_partition
from tilewright.frontends.acg import target_files
from tilewright.interpreters.codelet import run_program
from tilewright.resources import resources_of
from tilewright.search.fusion import PartitionOptions

from ....onnx_files.quantized import quantized
from .fused_models import Net, branches, classifier, inputs_of, residual, skipping, verified_rows


def chain(rows: int = 11, columns: int = 19) -> ModelProto:
    """Two convolutions of 3x3."""
    net = Net((1, 3, rows, columns))
    net.conv("x", "a", 4)
    net.conv("a", "y", 2)
    return net.model("y")


MODELS = {
    "chain": chain,
    "chain in int8": lambda: quantized(chain()),
    "residual of 3": lambda: residual(batch=3, rows=8),
    "branches": branches,
    "classifier": classifier,
    "skipping": skipping,
}
model_of = cache(lambda name: MODELS[name]())


@cache
def compiled(name: str, target: str, tile: tuple[int, int]) -> tuple[Program, ModuleOp]:
    """The program in groups by full rows, whose tiles were then changed by hand; and the module with its codelets."""
    first, rest = pipeline_text(target, CompileOptions(partition="ours", tile_rows=1)).split(",graph-fuse,")
    module = load_model(model_of(name))
    parse_passes(first).apply(make_context(), module)
    for op in module.walk():
        if isinstance(op, FusedGroupOp) and "tile_rows" in op.attributes:
            for what, size in zip(("rows", "columns"), tile, strict=True):
                op.attributes[f"tile_{what}"] = IntegerAttr(size, i64)
    middle, last = rest.split(",codelet-verify,")
    parse_passes(f"graph-fuse,{middle},codelet-verify").apply(make_context(), module)
    module.verify()
    codelets = load_model(module)
    parse_passes(last).apply(make_context(), module)
    return link(module), codelets


CASES = [
    ("chain", "cocco_npu", (1, 4)),
    ("chain", "edge16", (2, 5)),
    ("chain in int8", "cocco_npu", (2, 8)),
    ("residual of 3", "cocco_npu", (3, 5)),
    ("branches", "edge16", (1, 2)),
    ("branches", "cocco_npu", (2, 4)),
    ("classifier", "cocco_npu", (1, 1)),
    ("skipping", "edge16", (1, 4)),
]


@pytest.mark.parametrize(("name", "target", "tile"), CASES)
def test_narrow_tiles_are_equal_to_layers_with_the_traffic_foretold(name: str, target: str, tile: tuple[int, int]):
    model = model_of(name)
    inputs = inputs_of(model)
    program, _ = compiled(name, target, tile)
    result = simulate(program, inputs)
    for key, value in reference(load_model(model), inputs).items():
        np.testing.assert_array_equal(result.outputs[key], value)
    assert result.dram_bytes == program.predicted["dram_bytes"]
    assert result.cycles == program.predicted["cycles"]
    assert all(region.peak_bytes == region.bytes for region in result.regions)
    assert any(region.name.startswith("SIDE") for region in result.regions) == (name != "skipping")


def made(op: FusedOp) -> Iterator[tuple[str, int, int, int]]:
    """Every element (sample, row, column) that a turn makes or keeps, by its codelet's name."""
    for number, sample, row, rows, column, columns in op.turns:
        codelet = op.codelets[number]
        assert isinstance(codelet, CodeletOp)
        if codelet.sym_name.data.endswith(("restore", "weights")):
            continue
        for r in range(row, row + rows):
            yield from ((codelet.sym_name.data, sample, r, c) for c in range(column, column + columns))


def test_nothing_is_made_or_loaded_twice():
    for name, target, tile in CASES[:2]:
        _, module = compiled(name, target, tile)
        (fused,) = [op for op in module.walk() if isinstance(op, FusedOp)]
        counts = Counter(made(fused))
        assert set(counts.values()) == {1}
        names = Counter(what for what, *_ in counts)
        assert {names[what] for what in ("in0.load", "a", "y", "y.store")} == {11 * 19}
        assert 0 < names["in0.save"] <= 11 * 19
        assert 0 < names["a.save"] <= 11 * 19


def test_codelets_mean_the_same():
    model = model_of("chain")
    _, module = compiled("chain", "cocco_npu", (1, 4))
    (program,) = [op for op in module.body.ops if isinstance(op, ProgramOp)]
    inputs = inputs_of(model)
    (found,) = run_program(program, tuple(inputs.values()), resources_of(module))
    np.testing.assert_array_equal(found, reference(load_model(model), inputs)["y"])


@pytest.mark.parametrize("axis", [2, 3])
def test_elements_that_are_gone_are_found(axis: int):
    """Fewer rows or columns than the scheme asks for, in any region of a map that is made on chip, are refuted."""
    _, module = compiled("chain", "cocco_npu", (1, 4))
    rings = [op for op in module.walk() if isinstance(op, TensorOp) and op.ring is not None]
    made = [op for op in rings if "of y" not in op.tensor_name.data]
    assert sum(verified_rows(module, op, axis) > 1 for op in made) == 4


def test_where_full_rows_do_not_fit_tiles_are_narrower(tmp_path: Any):
    text = target_files()["cocco_npu"].read_text()
    (small := tmp_path / "small.acg").write_text(text.replace("depth 131072", "depth 720"))
    model = chain(6, 64)
    onnx.save(model, path := tmp_path / "model.onnx")
    inputs, moved = inputs_of(model), {}
    for columns in (0, 8):
        options = CompileOptions(partition="ours", tile_rows=1, tile_columns=columns)
        program = compile(model, str(small), options=options)
        result = simulate(program, inputs)
        np.testing.assert_array_equal(result.outputs["y"], reference(load_model(model), inputs)["y"])
        answer = program_partition(str(path), str(small), (1, columns), PartitionOptions())
        assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
        assert result.dram_bytes == answer["ema_bytes"]
        moved[columns] = result.dram_bytes, [group["tile"] for group in answer["groups"]]
    assert moved[0][1] == [[1, 0], [1, 0]]
    assert moved[8][1] == [[1, 8]]
    assert moved[8][0] == moved[0][0] - 2 * 4 * 6 * 64 * 4


def test_a_layer_that_does_not_fit_by_full_rows_has_narrow_tiles_by_itself(tmp_path: Any):
    text = target_files()["cocco_npu"].read_text()
    (small := tmp_path / "small.acg").write_text(text.replace("depth 131072", "depth 600"))
    net = Net((1, 3, 6, 128))
    net.conv("x", "y", 4)
    model = net.model("y")
    inputs = inputs_of(model)
    program = compile(model, str(small), options=CompileOptions(partition="ours", tile_rows=1))
    result = simulate(program, inputs)
    np.testing.assert_array_equal(result.outputs["y"], reference(load_model(model), inputs)["y"])
    assert {region.name for region in result.regions} == {"MAIN of in0", "SIDE of in0", "MAIN of y"}
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["ema_bytes"]
    assert result.dram_bytes == 4 * (7 * 6 * 128 + 3 * 4 * 9 + 4)
