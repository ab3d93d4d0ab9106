"""Work in several processes: answers, errors and time limits are those of one."""

import math
from pathlib import Path

import onnx
import pytest
from onnx import helper

from tilewright.costs.fusion.platform import Platform
from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.driver.partitions import Work, find_work, partition_work
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.search.fusion import PartitionOptions
from tilewright.search.processes import in_processes


def test_each_answer_is_noted_at_its_place():
    found: dict[int, float] = {}
    in_processes(math.sqrt, [0.0, 1.0, 4.0, 9.0, 16.0], 2, found.__setitem__)
    assert [found[place] for place in range(5)] == [0, 1, 2, 3, 4]


def test_what_processes_warn_of_is_told_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    values = [helper.make_tensor_value_info(name, 1, ["n", 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "x.onnx")
    found: dict[int, Work] = {}
    in_processes(find_work, [str(tmp_path / "x.onnx")] * 6, 2, found.__setitem__)
    assert len(found) == 6
    told = [record.getMessage() for record in caplog.records]
    assert 1 <= len(told) <= 2
    assert all("batch 1 is assumed" in message for message in told)
    assert "batch 1" not in capfd.readouterr().err


def test_an_error_in_a_process_is_raised_here():
    with pytest.raises(ValueError, match="math domain"):
        in_processes(math.sqrt, [1.0, -1.0], 2, {}.__setitem__)
    error = InfeasibleError("buffer", 3, 2, "bytes", "enlarge it", "layer 1")
    with pytest.raises(TilewrightError) as caught:
        in_processes(find_work, ["no_network", "no_network"], 2, {}.__setitem__)
    assert caught.value.as_dict()["subject"] == "no_network"
    again, fields = error.__reduce__()
    assert callable(again)
    assert isinstance(fields, tuple)
    copy = again(*fields)
    assert isinstance(copy, InfeasibleError)
    assert copy.as_dict() == error.as_dict()
    assert str(copy) == str(error)


def test_a_time_limit_counts_for_all_processes():
    limit_s, work = 1.0, find_work("resnet50")
    options = PartitionOptions("annealing", time_limit_s=limit_s, samples=10**9)
    answer = partition_work(work, SubgraphPricer(work.graph, Platform()), options, jobs=2)
    assert limit_s / 2 < answer["cpu_s"] < 1.5 * limit_s
