"""Cost models by name."""

import pytest

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.model import MODELS, evaluate_with
from tilewright.errors import TilewrightError

ARCH = Architecture("two", (Level("L1", 9, 1, 1, 1, 1.0), Level("DRAM", None, 1, 1, 1, 10.0)), "MAC", 1, 1, 0.0)
PROBLEM = Problem("copy", ("X",), (6,), (Tensor("A", ((1,),)), Tensor("B", ((1,),), is_output=True)))


@pytest.mark.parametrize("model", MODELS)
def test_every_model_prices(model: str):
    # 6 words in, 6 out; the exact model also reads each of 6 results in L1 when it leaves
    prices = evaluate_with(model, ARCH, PROBLEM, LoopMapping((LevelMapping(), LevelMapping((Loop(0, 6),)))))
    assert prices.energy_by_component_pj["DRAM"] == 120
    assert prices.energy_by_component_pj["L1"] == 6 + 6 + 6 + 6 * (model == "exact")


def test_only_the_exact_model_prices_imperfect_factors():
    nest = LoopMapping((LevelMapping((Loop(0, 4),)), LevelMapping((Loop(0, 2),))))
    assert evaluate_with("exact", ARCH, PROBLEM, nest).macs == 6
    with pytest.raises(TilewrightError, match="this model prices perfect factors only"):
        evaluate_with("timeloop", ARCH, PROBLEM, nest)


def test_other_names_are_refused():
    with pytest.raises(TilewrightError, match="model best: expected one of exact, timeloop"):
        evaluate_with("best", ARCH, PROBLEM, LoopMapping((LevelMapping(), LevelMapping())))
