"""Schedules as files: written, read, priced as the search priced them, lowered and run."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.driver import RunOptions, load_model
from tilewright.driver.scheduled_runs import (
    ScheduledOptions,
    find_schedule,
    lower_to_program,
    price_schedule_ir,
    run_scheduled,
    write_schedule,
)
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
    options = ScheduleOptions(model, "ours", InputShapes(2), 17, effort=SHORT)
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


def test_a_network_is_scheduled_and_run(tmp_path: Path):
    """Bytes equal NumPy's, cycles are those predicted, and near those of the model."""
    options = ScheduledOptions("ours", InputShapes(1), 33, SHORT)
    done = run_scheduled("gpt2_small_decode", "edge16", folder=tmp_path, options=options, run_options=RunOptions())
    assert done.comparison is not None
    assert done.comparison.equal
    assert done.simulation.cycles == done.predicted["cycles"]
    assert done.simulation.dram_bytes == done.predicted["dram_bytes"]
    assert done.simulation.energy_pj == pytest.approx(done.predicted["energy_pj"], rel=1e-9)
    assert done.predicted_gap["model_cycles"] == done.predicted["model_cycles"] / done.simulation.cycles - 1
    assert abs(done.simulation.cycles / done.predicted["model_cycles"] - 1) < 0.01
    layers = done.simulation.layers
    assert sum(layer.cycles for layer in layers) == done.simulation.cycles
    assert "attention_newV" in {layer.name.split("/")[0] for layer in layers}
    outputs = np.load(done.outputs)
    assert len(np.unique(outputs["res2"])) > 50
    assert (tmp_path / "trace.json").is_file()


def test_a_schedule_of_the_other_model_is_not_lowered(tmp_path: Path):
    options = ScheduleOptions("soma", "ours", InputShapes(1), 9, effort=SHORT)
    _, found = schedule_network_for("gpt2_small_decode", "edge16", options)
    path = tmp_path / "soma.mlir"
    write_schedule(path, found.timetable, 1, EDGE, exact=False)
    value = find_schedule("gpt2_small_decode", EDGE, ScheduledOptions(str(path)))
    with pytest.raises(TilewrightError, match="whose tiles have a place"):
        lower_to_program(EDGE, value, {})


def test_a_target_without_an_instruction_is_told():
    tiny = load_target("tiny")
    with pytest.raises(TilewrightError) as error:
        find_schedule("gpt2_small_decode", tiny, ScheduledOptions("ours", InputShapes(1), 9, SHORT))
    assert error.value.kind == "target"
