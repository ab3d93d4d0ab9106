"""Tests stand where the sources stand, and every operation is printed and parsed back by one."""

import re
from pathlib import Path

import pytest

from tilewright.universe import DIALECTS, PASSES, TILEWRIGHT_UNIVERSE

ROOT = Path(__file__).parents[3]
LIT = ROOT / "test/lit"


def lit_text(folder: Path, needle: str) -> str:
    """The text of all tests below `folder` whose text has `needle`."""
    texts = (path.read_text() for path in sorted(folder.rglob("*.mlir")))
    return "\n".join(text for text in texts if needle in text)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_a_lit_test(name: str):
    own = [path.read_text() for path in (LIT / "passes").rglob(f"{name.replace('-', '[-_]')}*.mlir")]
    assert any(re.search(rf"RUN: .*-p .*{name}\b", text) for text in own)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_is_round_tripped(dialect: str):
    text = lit_text(LIT / "dialects" / dialect, "RUN: ROUNDTRIP")
    operations = [operation.name for operation in TILEWRIGHT_UNIVERSE.all_dialects[dialect]().operations]
    assert [name for name in operations if not re.search(rf"\b{re.escape(name)}\b", text)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_negative_tests(dialect: str):
    assert (LIT / "dialects" / dialect / "invalid.mlir").is_file()


@pytest.mark.parametrize("path", sorted(LIT.rglob("*.mlir")), ids=lambda path: str(path.relative_to(LIT)))
def test_lit_tests_check_something(path: Path):
    text = path.read_text()
    assert "RUN:" in text
    prefixes = {"CHECK", *re.findall(r"--check-prefix[= ](\w+)", text)}
    for found in re.findall(r"^\s*(?://|#)\s*([A-Z]+)(?:-[A-Z]+)?:", text, re.MULTILINE):
        assert found in prefixes | {"RUN", "XFAIL", "REQUIRES", "UNSUPPORTED"}, f"{found}: is not a directive"


UNIT = ROOT / "test/unit"
FOLDERS = sorted({path.parent.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_every_folder_of_sources_has_tests(folder: Path):
    """A folder of unit tests of its name, one file `test_<folder>.py`, or lit tests."""
    own = list((UNIT / folder).glob("test_*.py")) or (UNIT / folder.parent / f"test_{folder.name}.py").is_file()
    modules = [path for path in (ROOT / "src" / folder).glob("*.py") if path.stem != "__init__"]
    assert own or not modules or (LIT / folder).is_dir()


def test_folders_of_tests_are_those_of_sources():
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")}
    assert sorted(map(str, folders - set(FOLDERS) - {Path("guards")})) == []
