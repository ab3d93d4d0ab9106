"""Work in several processes: answers, errors and time limits are those of one."""

import math
from pathlib import Path

import pytest

from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.costs.fusion.values import Platform
from tilewright.driver.partitions import find_work, partition_work
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target, target_files
from tilewright.machine import Machine
from tilewright.search.fusion import PartitionOptions
from tilewright.search.processes import in_processes


def test_each_answer_is_noted_at_its_place():
    found: dict[int, float] = {}
    in_processes(math.sqrt, [0.0, 1.0, 4.0, 9.0, 16.0], 2, found.__setitem__)
    assert [found[place] for place in range(5)] == [0, 1, 2, 3, 4]


def test_what_processes_warn_of_is_told_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    path = tmp_path / "x.acg"
    path.write_text(target_files()["tiny"].read_text().replace("spread y SY;", ""))  # which leaves an axis idle
    found: dict[int, Machine] = {}
    in_processes(load_target, [str(path)] * 6, 2, found.__setitem__)
    assert len(found) == 6
    told = [record.getMessage() for record in caplog.records]
    assert 1 <= len(told) <= 2
    assert all("to use them add" in message for message in told)
    assert "to use them" not in capfd.readouterr().err


def test_an_error_in_a_process_is_raised_here():
    with pytest.raises(ValueError, match="math domain"):
        in_processes(math.sqrt, [1.0, -1.0], 2, {}.__setitem__)
    error = InfeasibleError("buffer", 3, 2, "bytes", "enlarge it", "layer 1")
    with pytest.raises(TilewrightError) as caught:
        in_processes(load_target, ["no_target", "no_target"], 2, {}.__setitem__)
    assert caught.value.as_dict()["subject"] == "no_target"
    again, fields = error.__reduce__()
    assert callable(again)
    assert isinstance(fields, tuple)
    copy = again(*fields)
    assert isinstance(copy, InfeasibleError)
    assert copy.as_dict() == error.as_dict()
    assert str(copy) == str(error)


def test_a_time_limit_counts_for_all_processes():
    """Were it each one's, they would spend twice as much; a step that is begun is ended, longer on a busy machine."""
    limit_s, work = 1.5, find_work("resnet50")
    options = PartitionOptions("annealing", time_limit_s=limit_s, samples=10**9)
    answer = partition_work(work, SubgraphPricer(work.graph, Platform()), options, jobs=2)
    assert limit_s / 2 < answer["cpu_s"] < 1.8 * limit_s
