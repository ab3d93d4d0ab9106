"""Schedules as files: written, read, priced as the search priced them."""

from pathlib import Path

import pytest

from tilewright.driver import load_model
from tilewright.driver.schedule_files import price_schedule_ir, write_schedule
from tilewright.driver.schedules import ScheduleOptions, schedule_network_for
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.input_shapes import InputShapes
from tilewright.passes.dram.schedules import network_op, network_value, schedule_of, schedule_value
from tilewright.search.dram import Effort
from tilewright.zoo.schedule_networks import NAMES, Network, schedule_network

EDGE = load_target("edge16")
SHORT = Effort(rounds=40, chains=1)


@pytest.mark.parametrize("name", NAMES)
def test_networks_there_and_back(name: str):
    """Every table of the zoo becomes IR and the same table again; names that occur twice get a number."""
    network = schedule_network(name)
    names = [layer.name for layer in network.layers]
    back = network_value(network_op(network))
    assert isinstance(back, Network)
    if len(set(names)) == len(names):
        assert back.layers == network.layers
    assert [(n.kind, n.shape, n.inputs, n.weights_from) for n in back.layers] == [
        (n.kind, n.shape, n.inputs, n.weights_from) for n in network.layers
    ]


@pytest.mark.parametrize("model", ["exact", "soma"])
def test_a_file_is_priced_as_the_search_priced_it(tmp_path: Path, model: str):
    options = ScheduleOptions(model, "ours", InputShapes(2, dims={"tokens": 17}), effort=SHORT)
    answer, found = schedule_network_for("gpt2_small_decode", "edge16", options)
    path = tmp_path / "x.mlir"
    write_schedule(path, found.timetable, 2, EDGE, exact=model == "exact")
    price = price_schedule_ir(path)["results"][0]["schedule"]
    assert price["valid"]
    assert price["latency_cycles"] == answer["latency_cycles"]
    assert price["energy_pj"] == pytest.approx(answer["energy_pj"], rel=1e-12)
    assert [price[key] for key in ("dram_bytes", "dram_tensors", "tiles")] == [
        answer[key] for key in ("dram_bytes", "dram_tensors", "tiles")
    ]
    text = path.read_text()
    again = schedule_value(schedule_of(load_model(path)))
    assert len(again.moves) == text.count("    load ") + text.count("    store ")


def test_a_target_without_an_instruction_is_told():
    with pytest.raises(TilewrightError) as error:
        schedule_network_for("gpt2_small_decode", "tiny", ScheduleOptions(effort=SHORT))
    assert error.value.kind == "target"
