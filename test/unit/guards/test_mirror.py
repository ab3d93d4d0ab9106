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
    assert f"'{name}" in lit_text(LIT, "RUN:") or f"-p {name}" in lit_text(LIT, "RUN:")
    assert list((LIT / "passes").glob(f"{name.replace('-', '[-_]')}*.mlir"))


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
MODULES = sorted(path for path in (ROOT / "src").rglob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_module_has_tests(path: Path):
    """A unit test of its name in its folder, or a test of its whole package, or lit tests."""
    inside = path.relative_to(ROOT / "src")
    own = UNIT / inside.parent / f"test_{path.stem}.py"
    package = UNIT / inside.parent.parent / f"test_{inside.parent.name}.py"
    by_lit = inside.parts[0] in ("passes", "dialects")
    assert own.is_file() or by_lit or (len(inside.parts) > 1 and package.is_file())
