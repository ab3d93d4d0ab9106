"""Targets by name and file; every rule that a machine must satisfy is broken once, and the line is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target, print_target, target_files
from tilewright.machine.area import area_of

TOY = """acg toy {
  control queues;
  frequency 1000;
  memory DRAM { data_width 8; banks 1; depth 4096; offchip; }
  memory SPAD { data_width 32; banks 2; depth 16; align 4; }
  compute ALU[2][1] {
    capability dot {
      dims i <= 15 lanes 2, j <= 15;
      O{i} += F(A{i, j}, B{j}, V);
      functions F = clip, select; immediates V i8; types i32 = i8, i8 | f32 = f32, f32; splits i;
      cycles ceildiv(i, 2 * i_ways) * j; energy 0.5 * ops;
    }
  }
  link DRAM <-> SPAD { bandwidth 1; latency 3;
    capability copy { dims a <= 15; D{a} = S{a}; types u8 = u8; cycles a; }
  }
  link SPAD <-> ALU { bandwidth 4; }
  unit DM depth 4; unit EX;
  isa { opcode_bits 4; align 16; header { ifield TAG 2, WT 2, WC 8; } signal TAG; wait WT WC; }
  mnemonic LOAD(1) {
    unit DM; execute DRAM->SPAD.copy;
    ifield DST 7, SRC 12, N 4;
    extents a N;
    operand D SPAD[DST] u8 { a 1 };
    operand S DRAM[SRC] u8 { a 1 };
  }
  mnemonic DOT(2) {
    unit EX; execute ALU.dot;
    efield T 1 [i8, f32]; efield FN 1 [clip, select]; ifield ACC 1; efield SX 2 [none, i];
    ifield O 7, A 7, B 7, I 4, J 4, OI 8 signed, AI 8 signed, AJ 8 signed, BJ 8 signed, V 8;
    extents i I, j J; function F FN; immediates V V; accumulate ACC; spread x SX;
    operand O SPAD[O] i32 { i OI };
    operand A SPAD[A] T { i AI, j AJ };
    operand B SPAD[B] T { j BJ };
  }
  mnemonic STORE(3) {
    unit DM; execute SPAD->DRAM.copy;
    ifield DST 12, SRC 7, L 4;
    extents a L;
    operand D DRAM[DST] u8 { a 1 };
    operand S SPAD[SRC] u8 { a 1 };
  }
}
"""


def complaint(text: str) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        parse_target(text, "toy.acg")
    return caught.value


def test_toy_is_sound() -> None:
    machine = parse_target(TOY)
    assert [memory.capacity_bytes for memory in machine.memories] == [4096, 128]
    assert machine.links[1].back
    assert machine.links[0].channel == machine.links[1].channel == "DRAM<->SPAD"
    assert machine.links[1].capabilities[0].node == "SPAD->DRAM"
    assert machine.computes[0].capabilities[0].operands == ("O", "A", "B")
    assert parse_target(print_target(machine)) == machine


RULES: dict[str, tuple[str, str, str]] = {
    "control": (
        "control queues",
        "control fibres",
        "toy.acg:1 (acg toy): expected control queues or packets or loops or threads or stages, found `fibres`",
    ),
    "bandwidth missing": (
        "bandwidth 4;",
        "",
        "toy.acg:17 (link SPAD->ALU): expected a positive bandwidth, at least 1e-09, found none; give the bytes",
    ),
    "frequency": ("frequency 1000", "frequency 0", "expected a positive frequency"),
    "node named twice": ("memory SPAD", "memory DRAM", "toy.acg:5 (memory DRAM): expected a name for one node only"),
    "capacity zero": (
        "depth 16",
        "depth 0",
        "toy.acg:5 (memory SPAD): expected depth of at least 1, found 0; a memory",
    ),
    "banks zero": ("banks 2", "banks 0", "expected banks of at least 1, found 0"),
    "alignment zero": ("align 4", "align 0", "expected align of at least 1, found 0"),
    "alignment beyond the memory": ("align 4", "align 129", "expected an alignment within the memory, found 129 bytes"),
    "bits that are no bytes": ("data_width 32", "data_width 3", "expected elements of whole bytes"),
    "capacity too large": ("depth 16", "depth 9000000000000000000", "below 2^62 bytes in all"),
    "no memory off chip": ("offchip; ", "", "expected a memory that is `offchip`, found none"),
    "link to an unknown node": (
        "link SPAD <-> ALU",
        "link SPAD <-> APU",
        "toy.acg:17 (link SPAD->APU): expected nodes",
    ),
    "link to itself": ("link SPAD <-> ALU", "link SPAD -> SPAD", "expected two different nodes, found SPAD twice"),
    "link declared twice": (
        "link SPAD <-> ALU",
        "link DRAM <-> SPAD",
        "toy.acg:17 (link DRAM->SPAD): expected one link",
    ),
    "bandwidth tiny": ("bandwidth 4", "bandwidth 1e-308", "toy.acg:17 (link SPAD->ALU): expected a positive bandwidth"),
    "bandwidth zero": ("bandwidth 4", "bandwidth 0", "toy.acg:17 (link SPAD->ALU): expected a positive bandwidth"),
    "capability of a link to a compute node": (
        "bandwidth 4; ",
        "bandwidth 4; capability copy { dims a <= 15; D{a} = S{a}; types u8 = u8; cycles a; } ",
        "toy.acg:17 (capability SPAD->ALU.copy): expected a statement that moves one tensor between two memories",
    ),
    "cycle of memories": (
        "link SPAD <-> ALU { bandwidth 4; }",
        "link SPAD <-> ALU { bandwidth 4; } memory Q { data_width 8; depth 8; } link SPAD -> Q { bandwidth 1; } "
        "link Q -> SPAD { bandwidth 1; }",
        "expected memories in a hierarchy, found a cycle through SPAD, Q; declare the outward direction",
    ),
    "no instances": ("ALU[2][1]", "ALU[0][1]", "expected 1 to 1048576 instances, found [0][1]"),
    "too many instances": ("ALU[2][1]", "ALU[2][1000000]", "expected 1 to 1048576 instances, found [2][1000000]"),
    "no path in": ("SPAD <-> ALU", "ALU -> SPAD", "(compute ALU): expected a path of links from an off-chip memory"),
    "no path out": ("SPAD <-> ALU", "SPAD -> ALU", "(compute ALU): expected a path of links to an off-chip memory"),
    "operands that nobody feeds": (
        "link SPAD <-> ALU { bandwidth 4; }",
        "compute NIC { } link DRAM <-> NIC { bandwidth 1; } link NIC <-> ALU { bandwidth 1; }",
        "(capability ALU.dot): expected a memory that feeds its operands",
    ),
    "result that nobody takes": (
        "link SPAD <-> ALU { bandwidth 4; }",
        "compute NIC { } link DRAM <-> NIC { bandwidth 1; } link SPAD -> ALU { bandwidth 1; } "
        "link ALU -> NIC { bandwidth 1; }",
        "(capability ALU.dot): expected a memory that takes its result",
    ),
    "unit declared twice": ("depth 4; unit EX;", "depth 4; unit EX; unit EX;", "expected units with different names"),
    "capability declared twice": (
        "    capability dot {",
        "    capability dot { dims i <= 1; O{i} = i; types i8; cycles i; } capability dot {",
        "(capability ALU.dot): expected capabilities of a node with different names",
    ),
    "dim declared twice": ("j <= 15;", "j <= 15, j <= 3;", "expected dims with different names"),
    "dim that the statement lacks": ("j <= 15;", "j <= 15, k <= 3;", "expected dims i, j, those of the statement"),
    "dim without a limit": ("j <= 15;", "j <= 0;", "expected a limit and lanes of j of at least 1, found 0, 1"),
    "accesses by index": ("D{a} = S{a}", "D[a] = S[a]", "expected accesses with free strides"),
    "row of types too short": ("f32 = f32, f32;", "f32 = f32;", "expected a type for each of O, A, B, found f32, f32"),
    "unknown element type": ("f32 = f32, f32;", "f32 = f32, f31;", "expected element types among i8, u8"),
    "row of types twice": ("f32 = f32, f32;", "i32 = i8, i8;", "expected each combination of types once"),
    "unknown type of an immediate": ("V i8;", "V i7;", "expected element types among i8, u8"),
    "immediate that is not declared": ("immediates V i8; types", "types", "expected immediates V, the statement's"),
    "immediate that is not used": (
        "V i8;",
        "V i8, U i8;",
        "expected immediates V, the statement's scalars, found V, U",
    ),
    "function of another arity": ("clip, select; imm", "clip, add; imm", "expected known functions of 3 arguments"),
    "unknown function": ("O{i} += F(", "O{i} += G(", "expected function variables that the statement calls"),
    "unknown function without variable": ("D{a} = S{a}", "D{a} = h(S{a})", "known functions of 1 arguments, found `h`"),
    "split over no dim": ("splits i;", "splits k;", "expected splits among the dims i, j, found k"),
    "split twice": ("splits i;", "splits i, i;", "expected splits among the dims"),
    "unknown name in cycles": ("cycles ceildiv(i,", "cycles ceildiv(n,", "expected cycles over i, j, i_ways, ops"),
    "unknown name in energy": ("0.5 * ops", "0.5 * oops", "expected energy over i, j, i_ways, ops, found `oops`"),
    "unknown function in cycles": ("cycles a;", "cycles tanh(a);", "expected known functions of numbers in cycles"),
    "cycles zero": ("cycles a;", "cycles 0;", "expected cycles that are positive at the dims' limits, found 0"),
    "cycles divided by zero": ("cycles a;", "cycles 1 // (a - 15);", "expected cycles that are positive"),
    "energy negative": (
        "0.5 * ops",
        "-0.5 * ops",
        "expected energy that is at least 0 at the dims' limits, found -0.5",
    ),
    "opcode too wide": ("DOT(2)", "DOT(16)", "(mnemonic DOT): expected an opcode of 4 bits, found 16"),
    "opcode twice": ("DOT(2)", "DOT(1)", "(mnemonic DOT): expected each opcode once, found `1` twice"),
    "mnemonic twice": ("mnemonic DOT", "mnemonic LOAD", "expected mnemonics with different names"),
    "opcode bits": ("opcode_bits 4", "opcode_bits 33", "toy.acg:19 (isa): expected opcode_bits of 1 to 32, found 33"),
    "alignment of words": ("align 16", "align 4", "(isa): expected an alignment of whole bytes, found 4 bits"),
    "width of words": ("align 16;", "align 16; width 100;", "(isa): expected a width of whole bytes"),
    "signal on no field": ("signal TAG", "signal TUG", "(isa): expected signal and wait on unsigned ifields"),
    "wait on a signed field": ("WC 8;", "WC 8 signed;", "(isa): expected signal and wait on unsigned ifields"),
    "wait without signal": ("signal TAG;", "", "(isa): expected a `signal` that instructions can wait for"),
    "unknown unit": (
        "unit EX; execute",
        "unit ES; execute",
        "(mnemonic DOT): expected a unit among DM, EX, found `ES`",
    ),
    "field named OPCODE": ("DST 7, SRC", "DST 7, OPCODE 1, SRC", "expected another name than that of the opcode"),
    "field without bits": ("DST 7, SRC", "DST 0, SRC", "toy.acg:22 (field LOAD.DST): expected a width of 1 to 63 bits"),
    "field too wide": ("DST 7, SRC", "DST 64, SRC", "expected a width of 1 to 63 bits (64 if signed), found 64"),
    "field named twice": (
        "DST 7, SRC",
        "SRC 7, SRC",
        "(field LOAD.SRC): expected fields of a word with different names",
    ),
    "field named as in the header": ("DST 7, SRC", "TAG 7, SRC", "expected fields of a word with different names"),
    "enumerator twice": (
        "[clip, select];",
        "[clip, clip];",
        "(field DOT.FN): expected enumerators with different names",
    ),
    "code twice": ("[clip, select];", "[clip, select = 0];", "expected enumerators with different codes"),
    "code too wide": ("[clip, select];", "[clip, select = 2];", "expected codes of 1 bits (up to 1), found select = 2"),
    "fields that overlap": (
        "SRC 12,",
        "SRC 12 at 20,",
        "expected fields of LOAD that do not overlap, found bit 20 in DST",
    ),
    "field over the header": ("SRC 12,", "SRC 12 at 2,", "expected fields of LOAD that do not overlap"),
    "word too short": (
        "align 16;",
        "align 16; width 32;",
        "expected fields inside words of 32 bits, found bits 23 to 34",
    ),
    "word too long": ("SRC 12,", "SRC 12 at 99999999999,", "expected fields inside words of 8192 bits"),
    "nothing to execute": ("execute ALU.dot;", "", "expected a capability to execute among ALU.dot"),
    "unknown capability": ("execute ALU.dot", "execute ALU.dut", "expected a capability to execute"),
    "extent missing": ("extents i I, j J;", "extents i I;", "expected extents of i, j, found i"),
    "extent of an unknown dim": ("extents a N;", "extents a N, b N;", "expected extents of a, found a, b"),
    "extent by an unknown field": ("extents a N;", "extents a M;", "expected an unsigned ifield or a number for"),
    "extent by a signed field": (
        "i I, j J;",
        "i OI, j J;",
        "expected an unsigned ifield or a number for the extent of i",
    ),
    "extent beyond the limit": ("extents a N;", "extents a 16;", "expected an extent of a from 1 to 15, found 16"),
    "operand missing": ("    operand S DRAM[SRC] u8 { a 1 };\n", "", "expected operands D, S, found D"),
    "operand unknown": ("operand B SPAD", "operand C SPAD", "expected operands O, A, B, found O, A, C"),
    "unknown memory": ("operand B SPAD", "operand B SPUD", "expected a memory for B among DRAM, SPAD, found `SPUD`"),
    "memory that is not linked": (
        "operand B SPAD",
        "operand B DRAM",
        "expected a memory that ALU is linked with to read",
    ),
    "wrong end of the link": ("operand D SPAD", "operand D DRAM", "a memory that DRAM->SPAD is linked with to write D"),
    "address by an unknown field": (
        "SPAD[B]",
        "SPAD[C]",
        "expected an unsigned ifield or a number for the address of B",
    ),
    "address beyond the memory": ("SPAD[B]", "SPAD[128]", "expected the address of B inside SPAD, found 128"),
    "type that the operand cannot have": ("SPAD[O] i32", "SPAD[O] i8", "expected element types of O among i32, f32"),
    "type by an unknown field": ("SPAD[B] T", "SPAD[B] U", "found `U`, no efield of types"),
    "type by an efield of others": ("T 1 [i8, f32]", "T 1 [i8, f64]", "expected element types of A among i8, f32"),
    "stride missing": ("{ i AI, j AJ }", "{ i AI }", "expected strides of A for i, j, found i"),
    "stride by an unknown field": ("{ j BJ }", "{ j BK }", "expected an ifield or a number for the stride of B over j"),
    "stride by an efield": ("{ j BJ }", "{ j T }", "expected an ifield or a number for the stride of B over j"),
    "function missing": ("function F FN; ", "", "expected functions F, found none"),
    "function by no efield": ("function F FN;", "function F I;", "expected an efield for F with names among clip"),
    "function that is no choice": ("FN 1 [clip, select]", "FN 1 [clip, add]", "expected an efield for F with names"),
    "immediate missing": ("immediates V V; acc", "acc", "expected immediates V, found none"),
    "immediate too narrow": ("V 8;", "V 7;", "expected an unsigned ifield of at least 8 bits for V, found `V`"),
    "accumulate by no bit": ("accumulate ACC", "accumulate I", "expected an ifield of 1 bit to accumulate with"),
    "accumulate without reduction": ("extents a N;", "extents a N; accumulate N;", "and a statement that reduces"),
    "spread over no split": (
        "SX 2 [none, i]",
        "SX 2 [none, j]",
        "expected an efield to spread with, of names among none",
    ),
    "spread by an unknown field": ("spread x SX", "spread x SZ", "expected an efield to spread with"),
}


@pytest.mark.parametrize(("old", "new", "message"), RULES.values(), ids=RULES)
def test_rules(old: str, new: str, message: str) -> None:
    assert TOY.count(old) == 1
    error = complaint(TOY.replace(old, new))
    assert error.kind == "target"
    assert error.subject.startswith("toy.acg:")
    assert message in str(error)


SYNTAX: dict[str, tuple[str, str, str]] = {
    "unknown property": ("banks 2;", "benches 2;", "toy.acg:5:32: expected data_width or banks or depth"),
    "property twice": ("banks 2;", "depth 2;", "expected depth once, found it twice"),
    "property without a value": ("banks 2;", "banks;", "expected a number after banks, found none"),
    "property of another kind": ("banks 2;", "banks two;", "toy.acg:5:38: expected a number after banks, found `two`"),
    "depth missing": (" depth 16;", "", "expected depth of memory SPAD, found none"),
    "number too large": ("depth 16", "depth " + "9" * 5000, "expected a whole number below 2^63"),
    "number just too large": ("depth 16", f"depth {2**63}", "expected a whole number below 2^63"),
    "number with a fraction": ("depth 16", "depth 1.5", "expected a whole number below 2^63, found `1.5`"),
    "number negative": ("depth 16", "depth -1", "expected a whole number below 2^63, found `-1`"),
    "number infinite": ("bandwidth 4", "bandwidth 1e999", "expected a finite number that is not negative"),
    "energy negative": ("align 4;", "align 4; read_energy -1;", "expected a finite number that is not negative"),
    "statement missing": ("D{a} = S{a};", "", "expected statement in capability DRAM->SPAD.copy, found none"),
    "statement twice": ("D{a} = S{a};", "D{a} = S{a}; D{a} = S{a};", "expected statement once"),
    "statement wrong": ("D{a} = S{a};", "D{a} = S{a} +;", "toy.acg:15:50: expected a number, a name or `(`"),
    "formula wrong": ("cycles a;", "cycles a b;", "toy.acg:15:74: expected an operator or the end, found `b`"),
    "unit missing": ("unit EX; execute ALU.dot;", "execute ALU.dot;", "expected unit of mnemonic DOT, found none"),
    "execute twice": ("execute ALU.dot;", "execute ALU.dot; execute ALU.dot;", "expected this once in mnemonic DOT"),
    "spread over another axis": ("spread x SX", "spread z SX", "expected `spread x` and `spread y`, each at most once"),
    "isa twice": ("  mnemonic LOAD", "  isa { } mnemonic LOAD", "expected isa once, found it twice"),
    "brace missing": ("acg toy {", "acg toy", "toy.acg:2:3: expected `{`, found `control`"),
    "unknown declaration": (
        "  unit DM depth",
        "  queue DM depth",
        "or `memory` or `microops` or `mnemonic` or `packet` or `registers` or `shadow` or `token` or `unit` or `}`, "
        "found `queue`",
    ),
    "strange character": ("  unit DM depth", "  $ DM depth", "toy.acg:18:3: expected `compute`"),
}


@pytest.mark.parametrize(("old", "new", "message"), SYNTAX.values(), ids=SYNTAX)
def test_syntax(old: str, new: str, message: str) -> None:
    assert TOY.count(old) == 1
    error = complaint(TOY.replace(old, new))
    assert error.kind == "parse"
    assert error.subject.startswith("toy.acg:")
    assert message in str(error)


def test_text_that_ends_early() -> None:
    assert "found the end of the file" in str(complaint(TOY[: TOY.index("compute")]))
    assert "expected `acg`, found the end of the file" in str(complaint(""))
    assert "expected the end of the file" in str(complaint(TOY + "acg b {}"))


def test_text_that_is_too_long() -> None:
    assert "expected at most 1048576 characters" in str(complaint(TOY + "#" * (1 << 20)))


def test_comments_may_stand_anywhere() -> None:
    words = TOY.split()
    commented = "".join(f"{word} # and {number}\n" for number, word in enumerate(words))
    assert parse_target(commented) == parse_target(TOY)


@pytest.mark.parametrize("name", target_files())
def test_shipped_files_are_canonical_apart_from_comments(name: str) -> None:
    lines = target_files()[name].read_text().splitlines()
    bare = "".join(f"{line}\n" for line in lines if not line.lstrip().startswith("#"))
    assert print_target(load_target(name)) == bare


def test_unknown_targets(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match=r"nosuch: expected one of .* or an \.acg file"):
        load_target("nosuch")
    binary = tmp_path / "binary.acg"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TilewrightError, match="expected text in UTF-8"):
        load_target(binary)
    with pytest.raises(TilewrightError, match="found neither"):
        load_target(tmp_path)


def test_file_by_path(tmp_path: Path) -> None:
    path = tmp_path / "toy.acg"
    path.write_text(TOY)
    assert load_target(path).name == "toy"
    assert load_target(str(path)).source == TOY


def test_sizes_of_memories_are_options() -> None:
    machine = load_target("genesys16:IBUF.depth=16384,OBUF.depth=16384,OBUF.buffering=1")
    sizes = {memory.name: (memory.depth, memory.buffering) for memory in machine.memories}
    assert (sizes["IBUF"], sizes["OBUF"], sizes["WBUF"]) == ((16384, 2), (16384, 1), (4096, 2))


def test_other_attributes_are_options(tmp_path: Path) -> None:
    """A link, both ways, the width of an array, and what depends on them: the area, as of a file that says so."""
    machine = load_target("edge16:DRAM.bandwidth=32,MXU.instances_x=2,frequency=2000000000")
    links = {link.name: link.bandwidth_bytes_per_cycle for link in machine.links}
    assert (links["DRAM->GBUF"], links["GBUF->DRAM"], links["GBUF->MXU"]) == (32, 32, 256)
    assert machine.frequency_hz == 2e9
    text = (target_files()["edge16"]).read_text()
    text = text.replace("link DRAM <-> GBUF { bandwidth 16;", "link DRAM <-> GBUF { bandwidth 32;")
    (tmp_path / "fast.acg").write_text(text.replace("compute MXU[4][4]", "compute MXU[2][4]"))
    assert area_of(machine) == area_of(load_target(tmp_path / "fast.acg"))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("edge16:DRAM.bandwith=32", "or another attribute such as "),
        ("edge16:DRAM.bandwith=32", "found `DRAM.bandwith=32`"),
        ("edge16:DRAM.bandwidth=-1", "found `DRAM.bandwidth=-1`"),
        ("edge16:MXU.instances_x=2.5", "found `MXU.instances_x=2.5`"),
        ("genesys16:IBUF.depth=many", "expected MEMORY.depth|banks|data_width|buffering=NUMBER of the memories DRAM, "),
        ("genesys16:IBUG.depth=1", "found `IBUG.depth=1`"),
        ("genesys16:", "found ``"),
        ("genesys16:IBUF.depth=0", "(memory IBUF): expected depth of at least 1, found 0"),
        ("tiny:SPAD.depth=100000", "(field LOAD.DST): expected 19 bits, enough for an address in all of SPAD"),
        ("nowhere:IBUF.depth=1", "nowhere: expected one of "),
    ],
)
def test_sizes_that_cannot_be(target: str, message: str) -> None:
    with pytest.raises(TilewrightError) as error:
        load_target(target)
    assert message in str(error.value)
