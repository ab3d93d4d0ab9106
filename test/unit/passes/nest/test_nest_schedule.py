"""What `nest-schedule` asks about groups of layers, and what layers are alike by."""

from dataclasses import fields, replace

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.costs.fusion import Scheme
from tilewright.dialects.acg import machine_of
from tilewright.driver import CompileOptions, make_context, parse_passes, pipeline_text
from tilewright.passes.nest.nest_schedule import ROWS, Reader
from tilewright.passes.nest_to_codelet.fused_layers import FusedGroup, FusedLayer

POOL = "graph.pool max %{} kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]"
MAP = "tensor<1x8x32x32xf32>"
COUNT = 5


def reader(count: int) -> Reader:
    """Equal pools one after another, on a machine that no other test asks about."""
    lines = [f"  %{place + 1} = {POOL.format(place)} : ({MAP}) -> {MAP}" for place in range(count)]
    text = "\n".join((f"func.func @main(%0 : {MAP}) -> {MAP} {{", *lines, f"  func.return %{count} : {MAP}", "}"))
    text = text.replace("%", "%v")
    before, _, _ = pipeline_text("edge16:GBUF.depth=1031", CompileOptions(partition="schedule")).partition(
        ",nest-schedule"
    )
    module = Parser(make_context(), text).parse_module()
    parse_passes(before).apply(make_context(), module)
    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    return Reader(machine_of(module), function)


def test_groups_of_equal_layers_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    scheme_in = FusedGroup.scheme_in

    def counted(self: FusedGroup, *arguments: object) -> Scheme:
        asked.append(len(self.layers))
        return scheme_in(self, *arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(FusedGroup, "scheme_in", counted)
    pools = reader(COUNT)
    ways = {(start, stop): pools.rows_of(start, stop) for stop in range(1, COUNT + 1) for start in range(stop)}
    assert sorted(asked) == sorted(length for length in range(1, COUNT + 1) for _ in ROWS)
    for (start, stop), found in ways.items():
        numbers = {pools.numbers[value] for layer in pools.layers[start:stop] for value in layer.made.values()}
        assert found
        for way in found:
            group = FusedGroup(pools.machine, tuple(pools.layers[start:stop]), (way.rows, 0))
            rings = {pools.numbers[group.value_of(held.number)]: held.main.size for held in group.scheme.sources}
            assert way.rings == rings
            assert numbers <= set(rings)


def test_the_form_of_a_layer_tells_of_all_its_fields() -> None:
    layer = reader(1).layers[0]
    others = {
        "problem": replace(layer.problem, dims=tuple((dim, extent + 1) for dim, extent in layer.problem.dims)),
        "sample": f"{layer.sample}_",
        "row": f"{layer.row}_",
        "column": f"{layer.column}_",
        "memories": dict.fromkeys(layer.memories, "elsewhere"),
        "by_rows": not layer.by_rows,
    }
    assert others.keys() == {field.name for field in fields(FusedLayer)} - {"op"}
    for name, value in others.items():
        assert replace(layer, **{name: value}).form != layer.form
