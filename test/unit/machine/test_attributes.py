"""Formulas that name attributes: one number in the file, one answer everywhere."""

from dataclasses import replace
from pathlib import Path

import pytest

import tilewright
from tilewright.algebra.expr import print_expr
from tilewright.backends.simulator import simulate
from tilewright.costs.dram.platform import model_of
from tilewright.dialects.acg import GraphOp, machine_of
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_module
from tilewright.frontends.acg.load import parse_target, target_files
from tilewright.frontends.acg.print import print_target

EDGE = target_files()["edge16"].read_text()
FAST = EDGE.replace("link DRAM <-> GBUF { bandwidth 16;", "link DRAM <-> GBUF { bandwidth 64;")
TINY = target_files()["tiny"].read_text()
COPY = "cycles ceildiv(ops, bandwidth);"


def test_a_bandwidth_is_said_once_and_changes_run_prediction_and_schedule(tmp_path: Path):
    found: list[tuple[int, float, float, float]] = []
    for name, text in (("slow", EDGE), ("fast", FAST)):
        path = tmp_path / f"{name}.acg"
        path.write_text(text)
        program = tilewright.compile("O[m,n] += A[m,k] * B[k,n]; m=300 n=1 k=400", path)
        run = simulate(program, functional=False, checks=False)
        model = model_of(load_target(path))
        found.append((run.cycles, program.predicted["cycles"], program.predicted["model_cycles"], model.bandwidth))
    slow, fast = found
    assert slow[0] == slow[1]
    assert fast[0] == fast[1]
    assert 3 < slow[0] / fast[0] <= 4
    assert 3 < slow[2] / fast[2] <= 4
    assert fast[3] == 4 * slow[3]


def test_a_changed_copy_of_a_machine_follows():
    machine = load_target("edge16")
    links = tuple(replace(link, bandwidth_bytes_per_cycle=512.0) for link in machine.links)
    changed = replace(machine, links=links)
    assert print_expr(changed.links[0].capabilities[0].cycles) == "ceildiv(ops, 512)"
    assert "512" in print_expr(changed.computes[0].capabilities[0].cycles)  # GBUF->MXU.bandwidth


def test_text_and_ir_keep_the_names():
    text = TINY.replace("energy 0.018 * ops;", "energy SPAD.read_energy * ops + SPAD->MXU.bandwidth * DRAM.depth;")
    machine = parse_target(text)
    assert "SPAD.read_energy * ops + SPAD->MXU.bandwidth * DRAM.depth" in print_target(machine)
    assert COPY in print_target(machine)
    assert parse_target(print_target(machine)) == machine
    assert print_expr(machine.computes[0].capabilities[0].energy_pj) == "0.3 * ops + 16 * 65536"
    module = parse_module(text)
    assert "SPAD->MXU.bandwidth" in str(module)
    assert machine_of(module) == machine
    assert any(isinstance(op, GraphOp) for op in module.body.ops)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("ceildiv(ops, 16)", "16 bytes per cycle by `ceildiv(ops, 16)`"),
        ("c * b * ceildiv(a, 2)", "2 bytes per cycle by `c * b * ceildiv(a, 2)`"),
    ],
)
def test_a_copy_at_another_rate_than_its_link_is_refused(formula: str, found: str):
    with pytest.raises(TilewrightError) as error:
        parse_target(TINY.replace(COPY, f"cycles {formula};"), "tiny.acg")
    line = TINY[: TINY.index("capability copy")].count("\n") + 1
    assert error.value.subject == f"tiny.acg:{line} (capability DRAM->SPAD.copy)"
    assert error.value.expected == "a copy at the link's 4 bytes per cycle"
    assert error.value.found == found
    assert "`bandwidth`" in error.value.lever


@pytest.mark.parametrize("formula", ["20 + ceildiv(ops, 4)", "c * b * (3 + ceildiv(a, bandwidth))", "7", "latency"])
def test_overheads_and_constants_contradict_nothing(formula: str):
    assert parse_target(TINY.replace(COPY, f"cycles {formula};")).name == "tiny"


@pytest.mark.parametrize(
    "name", ["SPAD.width", "SPAD.holds", "MXU.bandwidth", "DRAM->MXU.bandwidth", "z_lanes", "speed"]
)
def test_unknown_attributes_are_told(name: str):
    with pytest.raises(TilewrightError) as error:
        parse_target(TINY.replace(COPY, f"cycles ceildiv(ops, {name});"))
    assert error.value.found == f"`{name}`"
    assert "GBUF.depth" in error.value.lever
