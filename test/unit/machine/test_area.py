"""What machines take on the chip: formulas over their attributes, which other numbers change."""

from __future__ import annotations

import pytest

from tilewright.dialects.acg import machine_of
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_module
from tilewright.frontends.acg.load import parse_target
from tilewright.frontends.acg.print import print_target
from tilewright.machine.area import area_of, areas_of
from tilewright.machine.changes import changed

TEXT = """
acg sized {
  memory DRAM { data_width 8; depth 4096; offchip; }
  memory BUF[2][1] { data_width 8; banks 4; depth 64; area 1e-6 * depth * banks + 0.5; }
  compute ALU[2][3] { area 0.25 * add.i_lanes;
    capability add { dims i <= 255 lanes 4; O{i} += A{i} * B{i}; types i32 = i32, i32; cycles i; }
  }
  link DRAM <-> BUF { bandwidth 16; area 0.5 * bandwidth + BUF.depth * 0.001; }
  link BUF <-> ALU;
}
"""


def test_areas_by_hand():
    machine = parse_target(TEXT)
    parts = areas_of(machine)
    assert parts == pytest.approx({"BUF": 2 * (256e-6 + 0.5), "ALU": 6 * 1.0, "DRAM->BUF": 8 + 0.064})
    assert area_of(machine) == pytest.approx(sum(parts.values()))


def test_a_machine_with_other_numbers_has_another_area():
    machine = parse_target(TEXT)
    deeper = areas_of(changed(machine, "BUF.depth", 128))
    assert deeper["BUF"] == pytest.approx(2 * (512e-6 + 0.5))
    assert deeper["DRAM->BUF"] == pytest.approx(8 + 0.128)
    assert areas_of(changed(machine, "ALU.instances_x", 4))["ALU"] == pytest.approx(12)
    assert areas_of(changed(machine, "DRAM.bandwidth", 32))["DRAM->BUF"] == pytest.approx(16 + 0.064)


def test_text_and_ir_keep_areas():
    machine = parse_target(TEXT)
    assert parse_target(print_target(machine)) == machine
    module = parse_module(TEXT)
    assert 'area <"0.25 * add.i_lanes">' in str(module)
    assert machine_of(module) == machine


def test_machines_need_not_say_it():
    assert area_of(load_target("tiny")) is None


def test_the_buffer_of_a_shipped_target_lies_within_what_is_published():
    """1 to 2 mm2 per MB at 12 nm (Cocco, section 1)."""
    assert 8 <= areas_of(load_target("edge16"))["GBUF"] <= 16


@pytest.mark.parametrize(
    ("area", "told"),
    [
        ("1e-6 * size", "memory BUF.*`size`: no such path; give an attribute of sized"),
        ("1e-6 * depth - 1", "memory BUF.*at least 0 mm2"),
        ("depth / (banks - 4)", "memory BUF.*zero"),
        ("1e-6; area 2", "area once"),
    ],
)
def test_areas_that_cannot_be_are_told_with_their_line(area: str, told: str):
    with pytest.raises(TilewrightError, match=f":4.*{told}"):
        parse_target(TEXT.replace("1e-6 * depth * banks + 0.5", area))
