"""Attributes of machines by path."""

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target, print_target
from tilewright.machine.changes import attribute, attributes_of, changed, resources_of, scaled


@pytest.mark.parametrize("name", ["edge16", "cocco_npu", "diannao", "cloud128", "dnnweaver"])
def test_every_attribute_can_be_read_and_set(name: str):
    machine = load_target(name)
    for path, value in attributes_of(machine).items():
        assert attribute(machine, path) == value
        assert changed(machine, path, value) == machine


@pytest.mark.parametrize("name", ["edge16", "cocco_npu", "cloud128"])
def test_a_scaled_machine_is_a_target(name: str):
    machine = load_target(name)
    for path in resources_of(machine):
        double = scaled(machine, path, 2)
        assert double != machine
        assert parse_target(print_target(double)) == double
        assert attribute(double, path) == 2 * attribute(machine, path)


def test_both_directions_of_a_link_have_one_bandwidth_and_formulas_follow():
    machine = changed(load_target("edge16"), "DRAM->GBUF.bandwidth", 48)
    assert {link.bandwidth_bytes_per_cycle for link in machine.links if "DRAM" in link.name} == {48}
    before, after = (
        next(c for node in one.computes if node.name == "MXU" for c in node.capabilities).cycles
        for one in (load_target("edge16"), scaled(load_target("edge16"), "MXU.bandwidth", 2))
    )
    assert before != after


def test_resources_are_room_bandwidths_and_widths():
    assert resources_of(load_target("edge16")) == (
        *("GBUF.depth", "DRAM.bandwidth", "MXU.bandwidth", "VPU.bandwidth", "DMA.bandwidth"),
        *("MXU.instances_x", "VPU.lanes", "DMA.lanes"),
    )


def test_numbers_keep_their_type():
    machine = changed(load_target("edge16"), "DRAM.bandwidth", 48)
    assert parse_target(print_target(machine)) == machine
    with pytest.raises(TilewrightError, match="a whole number"):
        changed(machine, "GBUF.depth", 1.5)


def test_an_unknown_path_is_told_with_those_there_are():
    with pytest.raises(TilewrightError, match=r"GBUF\.depth") as told:
        changed(load_target("edge16"), "GBUF.size", 1)
    assert told.value.kind == "target"
