"""Chains of levels as `.acg` text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.cli import main
from tilewright.costs.hierarchy import architecture_of
from tilewright.frontends.acg import load_target, parse_target, print_target, target_files
from tilewright.frontends.timeloop import machine_of, parse_timeloop
from tilewright.machine.rules import first_complaint

LISTS = """arch:
  arithmetic: {name: x.mac, instances: 4, word-bits: 12, energy: 2}
  storage:
  - {name: my reg, entries: 4, instances: 4, word-bits: 12, vector-access-energy: 0.5}
  - {name: 2nd, instances: 1, word-bits: 16, vector-access-energy: 64}
"""


CHAINS = [name for name in target_files() if load_target(name).control not in ("stages", "threads")]


@pytest.mark.parametrize("name", CHAINS)
def test_machines_of_chains_are_those_chains(name: str) -> None:
    arch = architecture_of(load_target(name))
    arch = replace(arch, levels=tuple(replace(level, mesh_flit_bits=0) for level in arch.levels))  # no chain has one
    machine = machine_of(arch)
    assert first_complaint(machine) is None
    assert architecture_of(machine) == arch
    assert parse_target(print_target(machine)) == machine


def test_names_that_text_cannot_have() -> None:
    arch = parse_timeloop(LISTS).architecture
    assert arch is not None
    machine = machine_of(arch, "a-b")
    assert (machine.name, machine.computes[0].name) == ("a_b", "x_mac")
    assert [memory.name for memory in machine.memories] == ["_2nd", "my_reg"]
    assert parse_target(print_target(machine)) == machine


def test_import_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, written = tmp_path / "small.yaml", tmp_path / "mine.acg"
    source.write_text(LISTS)
    assert main(["targets", "--import", str(source)]) == 0
    assert capsys.readouterr().out.startswith("acg small {\n  memory _2nd")
    assert main(["targets", "--import", str(source), "-o", str(written), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["text"] == written.read_text()
    assert answer["targets"][0]["levels"] == ["_2nd", "my_reg"]
    assert load_target(written).name == "mine"
