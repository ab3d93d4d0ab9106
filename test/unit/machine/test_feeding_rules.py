"""Target files whose instructions cannot feed a capability are refused; the machine of the guide is the example."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright import load_target
from tilewright.errors import TilewrightError

GUIDE = Path(__file__).parents[3] / "docs/bring-your-own-accelerator.md"
FILE = re.search(r"^```text brook.acg\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
assert FILE is not None
BROOK = FILE[1]


def refused(tmp_path: Path, old: str, new: str | Callable[[re.Match[str]], str]) -> TilewrightError:
    changed = re.sub(old, new, BROOK, count=1, flags=re.DOTALL)
    assert changed != BROOK
    path = tmp_path / "bad.acg"
    path.write_text(changed)
    with pytest.raises(TilewrightError) as error:
        load_target(path)
    return error.value


def test_the_machine_of_the_guide_is_small_and_loads(tmp_path: Path):
    path = tmp_path / "brook.acg"
    path.write_text(BROOK)
    assert load_target(path).name == "brook"
    assert BROOK.count("\n") <= 120


@pytest.mark.parametrize(
    ("old", "new", "subject", "expected"),
    [
        (r"  mnemonic LDC.*?\n  }\n", "", "mnemonic MAC", "instructions that bring W from off chip to COEF"),
        (r"  mnemonic STD.*?\n  }\n", "", "mnemonic LDD", "instructions that bring D from DATA off chip"),
        (r"S 22, A 16", "S 21, A 16", "field LDD.S", "22 bits, enough for an address in all of DRAM"),
        (r"W 13, K 10", "W 12, K 10", "field MAC.W", "13 bits, enough for an address in all of COEF"),
        (r"link COEF -> GRID", "link DATA -> COEF", "mnemonic MAC", "a memory that GRID is linked with to read W"),
        (r"link DATA <-> EDGE", "link EDGE -> DATA", "compute EDGE", "a path of links from an off-chip memory"),
        (r"link DATA <-> EDGE", "link DATA -> EDGE", "compute EDGE", "a path of links to an off-chip memory"),
        (r"MAC\(4\)", "MAC(256)", "mnemonic MAC", "an opcode of 8 bits"),
        (r"F 1 \[identity, relu", "F 1 [identity, relu = 2", "field MAP.F", "codes of 1 bits"),
        (r"KEEP 1; efield", "KEPT 1; efield", "mnemonic MAC", "an ifield of 1 bit to accumulate with"),
        (r"x ALONG", "x TX", "mnemonic MAC", "an efield to spread with"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_with_the_reason(tmp_path: Path, old: str, new: str, subject: str, expected: str):
    error = refused(tmp_path, old, new)
    assert f"({subject})" in error.subject
    assert expected in error.expected
    assert re.search(r"bad\.acg:\d+", error.subject)


def test_all_fields_that_are_too_narrow_are_told_at_once(tmp_path: Path):
    """DATA twice as large: every address in it lacks a bit, not only the first one."""
    error = refused(tmp_path, r"(memory DATA .*?depth )(\d+)", lambda m: f"{m[1]}{2 * int(m[2])}")
    assert error.expected == "15 bits, enough for an address in all of DATA"
    fields = re.findall(r"\w+\.\w+", f"{error.subject.split('acg')[1]} {error.found}")
    assert {"LDD.D", "STD.S", "MAC.O", "MAC.X", "MAP.O", "MAP.A", "SET.D"} <= set(fields)
    assert error.lever == "widen them"


def test_constants_may_be_all_that_a_memory_holds(tmp_path: Path):
    """A fill feeds, so the vector unit's operand may come from it alone; sums still must leave."""
    path = tmp_path / "fills.acg"
    path.write_text(re.sub(r"  mnemonic (LDD|LDC|MAC).*?\n  }\n", "", BROOK, flags=re.DOTALL))
    assert [m.name for m in load_target(path).mnemonics] == ["STD", "MAP", "SET"]
