"""`schedule` of files: deep networks, and what errors name."""

from pathlib import Path

import onnx
import pytest

from tilewright.cli.command_line import name_of_input
from tilewright.driver.schedules import ScheduleOptions, find_network, schedule_network_for
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.search.dram import Effort
from tilewright.zoo.schedule_networks import Shape

from ...networks.patterns import Maker


def test_a_chain_of_500_convolutions_is_scheduled(tmp_path: Path):
    maker, x = Maker(), "x"
    for _ in range(500):
        x = maker.relu(maker.conv(x, (2, 2)))
    onnx.save(maker.model({"x": (1, 2, 4, 4)}, x), tmp_path / "chain.onnx")
    options = ScheduleOptions(effort=Effort(rounds=1))
    answer, found = schedule_network_for(str(tmp_path / "chain.onnx"), "edge16", options)
    assert len(found.timetable.network.layers) == 500
    assert answer["latency_cycles"] >= answer["lower_bound"]["latency_cycles"]


def test_samples_that_a_layer_mixes_are_scheduled_together(tmp_path: Path):
    maker = Maker()
    turned = maker.node("Transpose", "x", perm=[1, 0])
    model = maker.model({"x": (1, 8)}, maker.node("MatMul", "x", turned))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(model, tmp_path / "rows.onnx")
    network, batch = find_network(str(tmp_path / "rows.onnx"), shapes=InputShapes(batch=4))
    assert (batch, network.inputs[0][1]) == (1, Shape(8, 4, 1))


def test_more_samples_than_are_priced_are_refused_also_where_a_file_has_them(tmp_path: Path):
    shape = "tensor<3000000000x8xf32>"
    relu = f"%y = graph.unary relu %x : ({shape}) -> {shape}"
    path = tmp_path / "relu.mlir"
    path.write_text(f"func.func @main(%x : {shape}) -> {shape} {{\n{relu}\nfunc.return %y : {shape}\n}}")
    with pytest.raises(TilewrightError, match=r"batch: expected 1 to 1024, found 3000000000"):
        schedule_network_for(str(path), "edge16")
    with pytest.raises(TilewrightError, match=r"batch: expected 1 to 1024, found 1025"):
        schedule_network_for("resnet50", "edge16", ScheduleOptions(shapes=InputShapes(batch=1025)))


@pytest.mark.parametrize("name", ["kernel", "files", "network", "model"])
def test_errors_of_a_command_name_what_it_was_given(name: str):
    from argparse import Namespace

    given = {"model": "exact", name: "given"}
    assert name_of_input(Namespace(**given)) == "given"
