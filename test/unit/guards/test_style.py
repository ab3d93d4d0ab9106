"""Habits of the sources that a machine can check."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").rglob("*.py")])
TARGETS = [path.stem for path in (ROOT / "src/targets").glob("*.acg")]
WORDS = ("lanes",)
"""Targets whose names are words of the `.acg` language."""
FILE_LINES = 400
FUNCTION_LINES = 60


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def below(*folders: str) -> list[Path]:
    return [path for folder in folders for path in SOURCES if path.is_relative_to(ROOT / "src" / folder)]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(level, module) of each import, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)


def imported_packages(path: Path) -> set[str]:
    """First parts of what a file below src/ imports: `xdsl`, or `tilewright.dialects` for our own."""
    inside = path.relative_to(ROOT / "src").parts[:-1]
    found: set[str] = set()
    for level, module in imports(path):
        if level == 0:
            found.add(module.split(".")[0])
        else:
            parts = [*inside[: len(inside) - level + 1], *module.split(".")]
            found.add(f"tilewright.{parts[0]}")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_files_and_functions_are_short(path: Path):
    text = path.read_text()
    assert text.count("\n") <= FILE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < FUNCTION_LINES, node.name


def test_sources_are_not_imported_by_folder_name():
    pattern = re.compile(r"^\s*(import src\b|from src\b)", re.MULTILINE)
    files = [*SOURCES, *(ROOT / "test").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
    assert [name(path) for path in files if pattern.search(path.read_text())] == []


def test_no_target_is_named_where_every_target_must_work():
    names = [name for name in TARGETS if name not in WORDS]
    pattern = re.compile(rf"[\"'@]({'|'.join(names)})\b")
    files = below("passes", "dialects", "search", "costs", "backends", "interpreters", "algebra")
    assert [name(path) for path in files if pattern.search(path.read_text())] == []


def test_nothing_runs_text_as_code():
    pattern = re.compile(r"(?<![\w.])(eval|exec)\(|\bpickle\.|import pickle|allow_pickle=True|shell=True")
    assert [name(path) for path in SOURCES if pattern.search(path.read_text())] == []


def test_no_bare_exception_is_raised():
    pattern = re.compile(r"raise (Exception|BaseException)\b")
    assert [name(path) for path in SOURCES if pattern.search(path.read_text())] == []


@pytest.mark.parametrize("path", below("costs", "search", "algebra"), ids=name)
def test_costs_searches_and_algebra_know_no_ir(path: Path):
    ours = {"tilewright.dialects", "tilewright.passes", "tilewright.backends", "tilewright.frontends"}
    assert imported_packages(path).isdisjoint({"xdsl", *ours})


@pytest.mark.parametrize("path", below("dialects"), ids=name)
def test_dialects_import_nothing_above_them(path: Path):
    above = {"passes", "search", "costs", "backends", "driver", "cli"}
    assert imported_packages(path).isdisjoint({f"tilewright.{part}" for part in above})


@pytest.mark.parametrize("path", below("passes"), ids=name)
def test_passes_do_not_use_backends(path: Path):
    assert imported_packages(path).isdisjoint({"tilewright.driver", "tilewright.cli", "tilewright.backends"})


@pytest.mark.parametrize("path", below("backends/simulator"), ids=name)
def test_simulator_knows_the_machine_and_the_binary_only(path: Path):
    assert imported_packages(path).isdisjoint({"xdsl", "tilewright.dialects", "tilewright.passes", "tilewright.search"})
