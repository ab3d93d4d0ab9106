"""Rules of control model `stages`, each broken once, and what follows from the sizes of memories."""

from __future__ import annotations

import re

import pytest

from tilewright import load_target
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import parse_target, print_target, target_files

VTA = " ".join(re.sub("#.*", "", target_files()["vta"].read_text(encoding="utf-8")).split())
L2G = "token l2g load -> compute push PUSH_NEXT pop POP_PREV;"
GEMM = "operand W WGT[WGT] i8 { outer WO, inner WI };"
WALK = "extents outer OUTER, inner INNER; action walk { first UB, end UE }; operand O ACC"

RULES = {
    "control": ("control stages;", "control queues;", "control stages for tokens"),
    "none": ("isa {", "isa { signal POP_PREV;", "tokens, by which stages wait"),
    "units": ("load -> compute push", "loader -> compute push", "two units among"),
    "itself": ("load -> compute push", "load -> load push", "two units among"),
    "bit": (L2G, L2G.replace("PUSH_NEXT", "PUSH"), "bits of the header"),
    "nobody pushes": (L2G, "token l2g load -> compute pop POP_PREV;", "compute pops tokens that nobody pushes"),
    "nobody pops": (L2G, "token l2g load -> compute push PUSH_NEXT;", "load pushes tokens that nobody pops"),
    "one queue": (
        "token s2g store -> compute push PUSH_PREV pop POP_NEXT",
        "token s2g store -> compute push PUSH_PREV pop POP_PREV",
        "one queue that a bit lets a unit pop",
    ),
    "twice": ("token g2l", "token l2g", "queues of different names"),
    "microops": ("microops UOP", "microops DRAM", "elements of DRAM of 1, 2, 4 or 8 bytes"),
    "no microops": ("microops UOP", "microops NONE", "a memory on chip that holds micro-ops"),
    "wide": ("SRC index INP, WGT index WGT; }", "SRC index INP, WGT 11; }", "33 bits in 4 bytes"),
    "width 0": ("WGT index WGT; }", "WGT index DRAM2; }", "a width of at least 1 bit"),
    "shadow": ("shadow OUT of ACC;", "shadow OUT of WGT;", "as many elements as WGT has"),
    "shadow unknown": ("shadow OUT of ACC;", "shadow OUT of ACK;", "memories among"),
    "action": ("action finish", "action end", "an action among copy, walk, finish"),
    "roles": ("action walk { first UB, end UE, unshadowed 1 };", "action walk { first UB };", "found no end"),
    "role": (
        "chip SRAM, offchip DRAM, rows Y, columns X, stride STRIDE }",
        "chip SRAM, offchip DRAM, rows Y, columns X, stride STRIDES }",
        "an unsigned ifield or a number for stride",
    ),
    "capability": ("execute MAC.gemm", "execute MAC.gemv", "a capability to execute"),
    "copy": ("execute DRAM->UOP.copy", "execute LANES.vectors", "a link between a memory off chip and one on chip"),
    "copy size": ("dims n <= 256; D{n}", "dims n <= 128; D{n}", "elements of 256 bytes of WGT"),
    "copy type": (
        "D{n} = S{n}; types i32 = i32; cycles ceildiv(4 * n, bandwidth); } } link DRAM -> WGT",
        "D{n} = S{n}; types f32 = f32; cycles ceildiv(4 * n, bandwidth); } } link DRAM -> WGT",
        "integers to copy",
    ),
    "reach": (
        "constant MEM 3 = 1; ifield SRAM 16, DRAM 32",
        "constant MEM 3 = 1; ifield SRAM 9, DRAM 32",
        "10 bits that number all 1024 elements of WGT",
    ),
    "micro reach": ("DST index ACC, SRC", "DST 10, SRC", "11 bits that number all 2048 elements of ACC"),
    "statement": ("O{n} += X{k} * W{n, k};", "O{n} max= X{k} * W{n, k};", "for micro-ops"),
    "bound twice": (GEMM, GEMM + "operand O ACC[SRC] i32 { outer SO, inner SI };", "operands O, W, X"),
    "bound thrice": (
        "operand O ACC[SRC] i32",
        "operand O ACC[SRC] i32 { outer SO, inner SI }; operand O ACC[SRC] i32",
        "operands O",
    ),
    "bound": (
        WALK,
        WALK.replace("outer OUTER, inner INNER;", "outer OUTER;", 1),
        "no bound of inner; say `extents outer FIELD",
    ),
    "bound 0": (WALK, WALK.replace("inner INNER;", "inner 0;", 1), "an extent of inner of at least 1"),
    "operands": (GEMM, "", "operands O, W, X"),
    "memory": (GEMM, GEMM.replace("W WGT", "W DRAM2"), "a memory on chip for W"),
    "link": ("link WGT -> MAC { bandwidth 256; }", "", "a link WGT -> MAC for W"),
    "row": (
        "dims n <= 16 lanes 16, k <= 16 lanes 16;",
        "dims n <= 16 lanes 16, k <= 8 lanes 8;",
        "rows of X as long as",
    ),
    "type": (GEMM, GEMM.replace("i8", "u8"), "the capability's type of W"),
    "address": (GEMM, GEMM.replace("[WGT]", "[WO]"), "a field of micro-ops for an address in WGT"),
    "stride": (GEMM, GEMM.replace("outer WO", "middle WO"), "strides over outer and inner"),
    "function": ("function F FN; immediates V V;", "immediates V V;", "a field for each function variable"),
    "functions": ("function F FN; immediates V V;", "function F DO; immediates V V;", "an efield for F"),
    "immediate": ("function F FN; immediates V V;", "function F FN;", "a field for each immediate"),
    "overlap": ("DO index ACC at 64, DI", "DO index ACC at 62, DI", "bit 62 in"),
}


@pytest.mark.parametrize("name", RULES)
def test_a_broken_rule_is_told(name: str) -> None:
    before, after, expected = RULES[name]
    assert before in VTA
    with pytest.raises(TilewrightError) as caught:
        parse_target(VTA.replace(before, after, 1))
    assert expected in str(caught.value), str(caught.value)
    assert caught.value.kind in ("target", "parse")


def test_text_is_read_back() -> None:
    machine = parse_target(VTA)
    text = print_target(machine)
    assert "index UOP + 1" in text
    assert "shadow OUT of ACC;" in text
    assert parse_target(text) == machine


def test_widths_follow_depths() -> None:
    small = load_target("vta:UOP.depth=2048,WGT.depth=512")
    gemm = small.words["GEMM"].by_name
    assert (gemm["UB"].width_bits, gemm["UE"].width_bits, gemm["WO"].width_bits) == (11, 12, 9)
    assert small.stages is not None
    assert small.stages.field_shifts() == {"DST": (0, 11), "SRC": (11, 11), "WGT": (22, 9)}
    with pytest.raises(TilewrightError, match="inside words of 128 bits, found bits 119 to 129 of GEMM"):
        load_target("vta:WGT.depth=2048")


def test_microops_are_declared_once() -> None:
    with pytest.raises(TilewrightError, match="microops once"):
        parse_target(VTA.replace("shadow OUT", "microops UOP { } shadow OUT"))
    with pytest.raises(TilewrightError, match="a name and a width"):
        parse_target(VTA.replace("microops UOP { ifield DST index ACC", "microops UOP { ifield DST 11 signed"))
