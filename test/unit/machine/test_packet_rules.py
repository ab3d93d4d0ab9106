"""Every rule of control model `packets` refuses what breaks it."""

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import parse_target, print_target

PAIR = (Path(__file__).parents[2] / "data/pair.acg").read_text()

BROKEN = [
    ("control packets;", "control queues;", "control packets, and packed mnemonics alone"),
    ("words 2; base R;", "words 65; base R;", "1 to 64 words"),
    ("words 2; base R;", "words 2; base Q;", "a register file for addresses among X, R"),
    ("resources A, B, MEM", "resources A, B, MEM, A", "resources with different names"),
    ('registers R G width 4 count 20 "r{0}"', 'registers X G width 4 count 20 "r{0}"', "files with different names"),
    ("registers X V width 16", "registers X M width 16", "a memory on chip"),
    ("registers X V width 16 count 24", "registers X V width 16 count 25", "registers within the 384 bytes of V"),
    ("registers X V width 16 count 24", "registers X V width 16 count 0", "at most 4096 registers"),
    ('"x{0}"', '"x{1}"', "names in braces among 0"),
    ('"x{0}"', '"x{0.__class__}"', "names in braces among 0"),
    ('"x{0}"', '"x{0"', "text with names in braces"),
    ('mnemonic VMAX "', 'mnemonic VADD "', "mnemonics with different names"),
    ("register O X, A R; use A; execute LANES.splat", "register O Z, A R; use A; execute LANES.splat",
     "a register file for O among X, R"),
    ("ifield I 32 signed; use B; execute CORE.set", "ifield I 64 signed; use B; execute CORE.set",
     "a width of 1 to 63 bits"),
    ("register O X, A X; use A | B; execute LANES.move", "register O X, O X; use A | B; execute LANES.move",
     "fields with different names"),
    ('"{O} = splat({A})"', '"{O} = splat({C})"', "names in braces among O, A"),
    ("use A; execute LANES.splat", "use C; execute LANES.splat", "resources among A, B, MEM"),
    ("register N R; words 2;", "register N R; words 3;", "1 to 2 words, those of a packet"),
    ("latency 2; align 4;", "latency 99; align 4;", "a latency up to 64"),
    ("counted_loop N;", "counted_loop M;", "for the trips"),
    ("counted_loop N;", 'hardware_loop 9 N "";', "a level of at most 8"),
    ("execute CORE.set;", "execute CORE.get;", "a capability to execute"),
    ("execute M->G.copy; extents i 4;", "execute M->G.copy; extents i 5;", "extents as numbers"),
    ("operand O G[O] i32 { };\n  }\n  mnemonic STEP", "}\n  mnemonic STEP", "operands O"),
    ("operand B G[B] i8 { j 1 };", "operand B G[C] i8 { j 1 };", "register fields as bases"),
    ("operand A M[B + 1 * I] u8 { i 1 };", "operand A M[O + 1 * I] u8 { i 1 };", ""),
    ("operand B G[B] i8 { j 1 };", "operand B V[B] i8 { j 1 };", "a register of V"),
    ("operand B G[B] i8 { j 1 };", "operand B G[B] i9 { j 1 };", "an element type"),
    ("operand B G[B] i8 { j 1 };", "operand B G[B] i8 { i 1 };", "strides of B for j"),
    ("operand B G[B] i8 { j 1 };", "operand B G[B] i8 { j 2 };", "an operand B within 4 bytes"),
    ("operand B G[B] i8 { j 1 };", "operand B G[B] u8 { j 1 };", "types that LANES.mac takes"),
    ("link G -> LANES { bandwidth 4; }", "", "a memory that LANES is linked with for B"),
    ("function F max;", "function F min;", "a function for each of F"),
    ("execute CORE.set; immediates V I;", "execute CORE.set; immediates V J;", "an ifield for each immediate"),
    ("advance B by 16 * I;", "advance B by 16 * J;", "an advance of a register field by an ifield"),
    ("operand A V[A] u8 { i 1 };\n  }\n  mnemonic LOAD ", "operand A V[A] u8 { i 1 } rotated A;\n  }\n  mnemonic LOAD ",
     "a register of R to rotate by"),
    ("execute LANES.splat;", "execute LANES.splat; given O 1;", "a register as wide as those of R"),
    ("execute LANES.splat;", "execute LANES.splat; given A 2147483648;", "a number that it holds"),
    ("execute LANES.splat;", "execute LANES.splat; given A B;", "a number that it holds"),
    ("execute LANES.splat;", "execute LANES.splat; given A -2147483648;", ""),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), BROKEN, ids=lambda text: text[:40])
def test_rules(before: str, after: str, expected: str):
    assert before in PAIR
    text = PAIR.replace(before, after, 1)
    if not expected:
        parse_target(text)
        return
    with pytest.raises(TilewrightError) as caught:
        parse_target(text)
    assert expected in str(caught.value)


def test_text_is_kept():
    machine = parse_target(PAIR.replace("execute LANES.splat;", "execute LANES.splat; given A -4;"))
    assert machine.packets is not None
    assert any(item.given == (("A", "-4"),) for item in machine.packets.mnemonics)
    assert parse_target(print_target(machine)) == machine
