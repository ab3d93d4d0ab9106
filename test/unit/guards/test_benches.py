"""Scripts of bench/ are named in the docs, tell what they do when they are asked, and name what is in the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench"

EXCHANGED = {
    "mapping_ablations": "search.mapping",
    "mapping_closed": "search.mapping.exact",
    "search_faults": "search.mapping.exact",
}
"""Scripts that name functions of a package as `module:name`, to exchange them."""


def scripts() -> list[str]:
    """Files that are run, with options or without."""
    return sorted(path.stem for path in BENCH.glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("name", scripts())
def test_help_is_the_text_at_the_top(name: str) -> None:
    tree = ast.parse((BENCH / f"{name}.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    parsers = [call for call in calls if ast.unparse(call.func) == "argparse.ArgumentParser"]
    shown = [ast.unparse(word.value) for call in parsers for word in call.keywords if word.arg == "description"]
    assert ast.get_docstring(tree)
    assert shown == ["__doc__"]


def test_scripts_are_named_where_people_read() -> None:
    root = BENCH.parent
    pages = [*(root / "docs").rglob("*.md"), root / "README.md", root / "Makefile"]
    text = "\n".join(page.read_text() for page in pages)
    assert [name for name in scripts() if f"bench/{name}.py" not in text] == []


def exchanged() -> Iterator[tuple[str, str]]:
    for script, package in EXCHANGED.items():
        for module, name in re.findall(r'"([a-z_]+[.][a-z_.]+):([A-Za-z_.]+)"', (BENCH / f"{script}.py").read_text()):
            yield f"{package}.{module}", name


def tried() -> Iterator[tuple[str, str]]:
    """Constants of `constants.py`."""
    for node in ast.walk(ast.parse((BENCH / "constants.py").read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Constant":
            yield ast.literal_eval(node.args[0]), ast.literal_eval(node.args[1])


@pytest.mark.parametrize("names", [exchanged, tried])
def test_what_is_named_is_there(names: type[Iterator[tuple[str, str]]]) -> None:
    found = list(names())
    assert len(found) > 20
    for module, name in found:
        reduce(getattr, name.split("."), import_module(f"tilewright.{module}"))
