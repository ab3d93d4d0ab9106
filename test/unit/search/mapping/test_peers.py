"""Mappings of other mappers, priced here: they fit, take the steps and cost about the energy that is claimed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.costs import exact, timeloop
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.sunstone import solve
from tilewright.search.mapping.values import Request, Space

from ....bench_scripts import bench

ROOT = Path(__file__).parents[4]
OWN = ROOT / "test/data/peer_mappings.json"
FULL = ROOT.parent / "shared/data"


peers: Any = bench("peers")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("peers")
    content = json.loads(OWN.read_text())
    paths = {name: folder / f"{name}.json" for name in ("sunstone", "cosa")}
    for name, path in paths.items():
        path.write_text(json.dumps(content[name]))
    return paths


def check_sunstone(found: Any):
    prices = timeloop.evaluate(found.machine, found.problem, found.mapping)
    assert prices.valid, (found.name, prices.violations)
    assert exact.evaluate(found.machine, found.problem, found.mapping).valid
    assert prices.energy_pj == pytest.approx(found.claims["energy"], rel=0.21)
    assert prices.cycles <= found.claims["cycles"] * 1.05


def check_cosa(found: Any):
    prices = timeloop.evaluate(found.machine, found.problem, found.mapping)
    assert prices.valid == found.claims["valid"], (found.name, prices.violations)
    steps = 1
    for level in found.mapping.levels:
        for loop in level.temporal:
            steps *= loop.bound
    assert steps == found.claims["compute_cycles"]


def test_sunstones_mappings_fit_and_cost_about_what_it_says(files: dict[str, Path]):
    found = peers.sunstone(files["sunstone"])
    assert len(found) == 5
    for peer in found:
        check_sunstone(peer)


def test_cosas_mappings_fit_where_it_says_and_take_its_steps(files: dict[str, Path]):
    found = peers.cosa(files["cosa"], find_architecture("cosa_simba"))
    assert {peer.peer for peer in found} == {"CoSA head", "CoSA pre_halo_fix"}
    for peer in found:
        check_cosa(peer)


def test_our_sunstone_is_as_good_as_theirs(files: dict[str, Path]):
    """Within 2 % on machines of two memories on chip, priced by the same model."""
    for peer in peers.sunstone(files["sunstone"]):
        if peer.machine.name == "ws16":
            theirs = timeloop.evaluate(peer.machine, peer.problem, peer.mapping).edp_j_cycle
            request = Request("edp", "timeloop", Space(split_axes=True), time_limit_s=5.0)
            assert solve(peer.machine, peer.problem, request).edp <= theirs * 1.02


@pytest.mark.skipif(not FULL.exists(), reason="no reference data")
def test_all_of_the_reference_is_understood():
    found = peers.sunstone(FULL / "sunstone_results.json")
    assert len(found) == 78
    for peer in found:
        check_sunstone(peer)
    machine = find_architecture("cosa_simba")
    found = peers.cosa(FULL / "cosa_results.json", machine)
    assert len(found) == 102
    for peer in found:
        check_cosa(peer)
    best = peers.timeloop(FULL / "timeloop_ref.json")
    assert {(b.machine.name, b.problem.name) for b in best} >= {("conventional", "gemm_512")}
    assert all(b.edp_j_cycle > 0 for b in best)
