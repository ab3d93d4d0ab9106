"""Mapping by name, and what is answered."""

from pathlib import Path

import pytest

from tilewright.costs.exact.model import TensorTotals
from tilewright.costs.hierarchy import Architecture, Level, parse_mapping
from tilewright.costs.timeloop import evaluate
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.driver.models import RunResult
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.mapping import (
    MapOptions,
    MappedRun,
    find_layers,
    map_kernel,
    map_layers,
    map_network,
    price_ir,
    run,
    target_of,
)

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=12 n=8 k=6"
TIMELOOP = MapOptions(model="timeloop", time_limit_s=5)
SMALL = Architecture(
    "small",
    (Level("L1", 16, 4, 2, 1, 1.0), Level("L2", 64, 1, 1, 1, 6.0), Level("DRAM", None, 1, 1, 1, 100.0)),
    "MAC",
    4,
    2,
    1.0,
)


def test_the_answer_is_the_price_of_its_mapping() -> None:
    found = map_kernel(GEMM, SMALL, TIMELOOP)
    answer = found.as_dict()
    mapping = parse_mapping(answer["mapping"], SMALL, found.layer.problem)
    prices = evaluate(SMALL, found.layer.problem, mapping)
    assert (answer["edp"], answer["cycles"]) == (prices.edp_j_cycle, prices.cycles)
    assert answer["valid"]
    assert found.mapped.edp == pytest.approx(answer["edp"])
    assert answer["gap"] == pytest.approx(answer["exact"]["edp"] / answer["lower_bound"]["edp"] - 1)
    assert answer["gap"] >= 0
    exact = map_kernel(GEMM, SMALL, MapOptions(mapper="random", time_limit_s=0.1)).as_dict()
    assert exact["gap"] == pytest.approx(exact["edp"] / exact["lower_bound"]["edp"] - 1)


def test_words_of_elements_with_a_width_are_words_of_the_memory() -> None:
    types = {"A": "i8", "B": "i8", "O": "i32"}
    found = map_kernel(GEMM, SMALL, MapOptions(objective="dram", types=types, time_limit_s=5))
    answer = found.as_dict()
    reports = ((name, found.prices.levels["DRAM"].tensors[name]) for name in types)
    elements = {name: sum(report.totals) for name, report in reports if isinstance(report, TensorTotals)}
    assert answer["dram_bytes"] == elements["A"] + elements["B"] + 4 * elements["O"]
    assert answer["dram_words"] == answer["dram_bytes"] / 2 == answer["search_bound"]  # words of 16 bits
    assert answer["lower_bound"]["dram_words"] >= (12 * 6 + 6 * 8 + 4 * 12 * 8) / 2
    assert answer["proven"]
    assert found.searched == answer["dram_words"]


def test_a_price_of_nothing_has_no_gap() -> None:
    free = Architecture("free", (*SMALL.levels[:-1], Level("DRAM", None, 1, 1, 1, 0.0)), "MAC", 4, 2, 0.0)
    answer = map_kernel(GEMM, free, MapOptions(objective="energy", time_limit_s=5)).as_dict()
    assert (answer["energy_pj"], answer["gap"], answer["search_gap"]) == (0.0, 0.0, 0.0)


def test_equal_layers_are_solved_once() -> None:
    told: list[tuple[int, int]] = []
    found = map_network("resnet18", SMALL, MapOptions(mapper="random", time_limit_s=0.01, model="timeloop"),
                        lambda _, done, total: told.append((done, total)))  # fmt: skip
    answer = found.as_dict()
    assert sum(layer["repeats"] for layer in answer["layers"]) == 21
    assert answer["solved"] == len(answer["layers"]) == 12
    assert told == [(i + 1, 12) for i in range(12)]
    assert answer["cycles"] == sum(layer["repeats"] * layer["cycles"] for layer in answer["layers"])


def test_a_network_is_no_kernel() -> None:
    with pytest.raises(TilewrightError, match="expected one kernel, found 12 layers"):
        map_kernel("resnet18", SMALL)


def test_a_machine_without_a_path_for_a_tensor() -> None:
    levels = (*SMALL.levels[:2], Level("DRAM", None, 1, 1, 1, 100.0, holds=("O", "I")))
    with pytest.raises(TilewrightError) as error:
        map_kernel(GEMM, Architecture("noweights", levels, "MAC", 4, 2, 1.0), TIMELOOP)
    assert str(error.value) == (
        "tensor B of kernel on noweights: expected a path from the multiply-accumulators to DRAM for what is the "
        "machine's W, found DRAM holds O, I; let DRAM hold W"
    )


def test_nothing_fits() -> None:
    levels = (Level("L1", 2, 4, 2, 1, 1.0), *SMALL.levels[1:])
    with pytest.raises(InfeasibleError) as error:
        map_kernel(GEMM, Architecture("tight", levels, "MAC", 4, 2, 1.0), MapOptions(model="timeloop", bypass=False))
    assert (error.value.resource, error.value.demand, error.value.bound, error.value.unit) == ("L1", 3, 2, "words")


def test_factors_that_the_model_does_not_have() -> None:
    with pytest.raises(TilewrightError, match="--factors perfect, or --model exact"):
        map_kernel(GEMM, SMALL, MapOptions(model="timeloop", factors="imperfect"))


@pytest.mark.parametrize("types", [None, {"A": "i8", "B": "i8", "O": "i32"}])
def test_a_mapping_as_ir_has_the_same_price(types: dict[str, str] | None, tmp_path: Path) -> None:
    found = map_kernel(GEMM, "simba_like", MapOptions(mapper="random", time_limit_s=0.3, types=types))
    path = tmp_path / "mapped.mlir"
    path.write_text(found.mlir())
    (priced,) = price_ir(path, "simba_like", "exact")["results"]
    assert (priced["cycles"], priced["energy_pj"]) == (found.prices.cycles, found.prices.energy_pj)
    assert priced["mapping"] == found.as_dict()["mapping"]


def test_ir_without_a_mapping_or_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text("func.func @main() { func.return }")
    with pytest.raises(TilewrightError, match=r"expected a nest\.group with a mapping, found none"):
        price_ir(path, "tiny", "exact")
    path.write_text(map_kernel(GEMM, SMALL, MapOptions(mapper="random", time_limit_s=0.05)).mlir())
    with pytest.raises(
        TilewrightError, match=r"expected a machine, found no acg\.graph and no attribute `target`; say --target T"
    ):
        price_ir(path, None, "exact")


def test_a_file_of_a_mapping_names_its_machine(tmp_path: Path) -> None:
    target, options = "conventional:L1.depth=300", MapOptions(mapper="random", time_limit_s=0.05)
    found = map_kernel(GEMM, target, options)
    path = tmp_path / "mapped.mlir"
    path.write_text(found.mlir(target))
    assert target_of(path) == target
    assert price_ir(path, None, "exact")["results"][0]["cycles"] == found.prices.cycles
    ran = run(path, folder=tmp_path)
    assert isinstance(ran, MappedRun)
    assert (ran.arch, ran.mapping) == (found.arch, found.mapping)
    assert run(path, "conventional", folder=tmp_path).as_dict()["target"] == "conventional"
    path.write_text(map_kernel(GEMM, "conventional", options).mlir())
    assert target_of(path) == "conventional"
    path.write_text(map_kernel(GEMM, SMALL, options).mlir())
    assert target_of(path) == target_of(GEMM) == target_of(tmp_path) == "edge16"


@pytest.mark.parametrize("change", ["nest-tile", "nest-tile,nest-map", ""])
def test_a_file_with_a_machine_runs_on_it(tmp_path: Path, change: str) -> None:
    """As lowered for a machine of other numbers than `edge16`, which runs the same kernel in fewer cycles."""
    target = "edge16:GBUF.depth=64,DRAM.bandwidth=4"
    module = load_model("O[m,n] += A[m,k] * B[k,n]; m=32 n=32 k=32")
    path = tmp_path / "lowered.mlir"
    text = f'load-target{{target="{target}"}},graph-normalize,convert-graph-to-nest,{change}'.rstrip(",")
    parse_passes(text).apply(make_context(), module)
    path.write_text(str(module))
    assert target_of(path) == load_target(target)
    (told, named, other) = (run(path, where, folder=tmp_path) for where in (None, target, "edge16"))
    assert isinstance(told, RunResult)
    assert isinstance(named, RunResult)
    assert isinstance(other, RunResult)
    assert told.simulation.cycles == named.simulation.cycles > other.simulation.cycles


def test_the_machine_in_a_file_is_read_without_its_functions(tmp_path: Path) -> None:
    module = load_model(GEMM)
    parse_passes('load-target{target="tiny"}').apply(make_context(), module)
    path = tmp_path / "lowered.mlir"
    path.write_text(str(module).replace("func.func", "wrong.func"))
    assert target_of(path) == load_target("tiny")
    with pytest.raises(TilewrightError, match=r"wrong\.func"):
        run(path, folder=tmp_path)


def test_mappings_for_machines_with_instructions_run(tmp_path: Path) -> None:
    found = map_kernel(GEMM, "edge16", MapOptions(mapper="random", time_limit_s=0.05))
    path = tmp_path / "mapped.mlir"
    path.write_text(found.mlir())
    ran = run(path, folder=tmp_path)
    assert isinstance(ran, MappedRun)
    assert ran.mapping == found.mapping
    assert ran.as_dict()["cycles"] == found.prices.cycles
    assert ran.comparison is not None
    assert ran.comparison.equal


def test_a_mapping_for_a_machine_does_not_run_on_one_without_its_memories(tmp_path: Path) -> None:
    module = load_model(GEMM)
    parse_passes('load-target{target="tiny"},nest-tile').apply(make_context(), module)
    path = tmp_path / "lowered.mlir"
    path.write_text(str(module))
    assert isinstance(run(path, folder=tmp_path), RunResult)
    with pytest.raises(TilewrightError, match=r"a memory among DRAM, GBUF, found SPAD; .* say with --target"):
        run(path, "edge16", folder=tmp_path)


def test_a_search_tells_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    options = MapOptions(mapper="random", model="timeloop", time_limit_s=0.2)
    map_layers("gemm", find_layers(GEMM), SMALL, options, lambda *said: told.append(said))
    assert any(what.startswith("best ") and 0 <= done <= total == 100 for what, done, total in told)


def test_layers_of_a_graph_in_mlir_are_those_of_a_model(tmp_path: Path):
    path = tmp_path / "product.mlir"
    path.write_text("""
    func.func @f(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>) -> tensor<5x3xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
      %1 = stablehlo.tanh %0 : tensor<5x3xf32>
      return %1 : tensor<5x3xf32>
    }
    """)
    (layer,) = find_layers(str(path))
    assert layer.problem.macs == 5 * 7 * 3
    (tanh,) = find_layers(f"{path}:tanh.1")
    assert tanh.problem.macs == 5 * 3
