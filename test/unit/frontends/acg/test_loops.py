"""Targets of control model `loops` that break a rule are refused with the reason."""

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.frontends.acg.load import parse_target

TEXT = target_files()["dnnweaver"].read_text()

BROKEN = {
    "no action": ("action repeat { id LOOP, iterations COUNT };", "", "expected an action among none, group"),
    "unknown action": ("action body {", "action dance {", "expected an action among none, group, block, loop"),
    "missing role": (
        "action body { count COUNT, nested NESTED }",
        "action body",
        "expected roles count, nested of body, found no count",
    ),
    "unknown role": (
        "action body { count COUNT, nested NESTED }",
        "action body { count COUNT, side load }",
        "found `side`",
    ),
    "role twice": (
        "action body { count COUNT, nested NESTED }",
        "action body { count COUNT, count 1 }",
        "each role of body once",
    ),
    "loop without a bound": (
        "action loop { id LOOP, last LAST }",
        "action loop { id LOOP }",
        "expected a bound of the loop, last or iterations, found none; bind a field",
    ),
    "repeat without a bound": (
        "action repeat { id LOOP, iterations COUNT }",
        "action repeat { id LOOP }",
        "found no iterations; bind a field or a number to iterations",
    ),
    "unknown field": (
        "action body { count COUNT, nested NESTED }",
        "action body { count CNT }",
        "a field or a number for count",
    ),
    "no memory": ("efield NS 2 [OBUF, IBUF, VMEM1, VMEM2]", "efield NS 2 [ABUF, IBUF, VMEM1, VMEM2]", "an efield for"),
    "constant too wide": ("constant FN 4 = 15", "constant FN 4 = 16", "a constant of 4 bits, found 16"),
    "one word twice": ("constant FN 4 = 15", "ifield FN 4", "mnemonic NOP"),
    "named by no efield": ("named FN", "named DST", "an efield of its own to be named by, found `DST`"),
    "array without capability": ("execute PE.gemm", "execute PE.gem", "a capability of a compute node to execute"),
    "array without a loop level": (
        "loops tile 0, inner 7, transfer 14",
        "loops tile 0, inner 7",
        "loops of tile, inner",
    ),
    "levels that fall": ("tile 0, inner 7, transfer 14", "tile 0, inner 7, transfer 5", "first ids, increasing"),
    "another operand": ("operand I IBUF[0] i8", "operand J IBUF[0] i8", "operands O, I, W"),
    "beyond a row": ("operand I IBUF[0] i8 { r 1 }", "operand I IBUF[1] i8 { r 1 }", "inside rows of 64 bytes of IBUF"),
    "another start": ("initial O BBUF", "initial I BBUF", "one `initial O`"),
    "fed by nothing": (
        "link DRAM -> WBUF { bandwidth 64; latency 8; channel dram; }",
        "",
        "bring W from off chip to WBUF",
    ),
    "fed, but not linked": ("link BBUF -> PE { bandwidth 256; }", "", "bring O from off chip to BBUF and on to PE"),
    "taken by nothing": (
        "link OBUF <-> PE { bandwidth 256; }",
        "link OBUF -> PE { bandwidth 256; } link PE -> VMEM1 { bandwidth 256; }",
        "links that bring O from PE to OBUF and off chip",
    ),
    "no granule": ("granules VMEM1 64", "granules VMEM1 0", "sizes of at least 1 for memories"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_refused(name: str):
    old, new, message = BROKEN[name]
    assert old in TEXT
    with pytest.raises(TilewrightError) as error:
        parse_target(TEXT.replace(old, new, 1), "broken.acg")
    assert message in str(error.value)
    assert str(error.value).startswith("broken.acg:") or "broken.acg:" in str(error.value)
