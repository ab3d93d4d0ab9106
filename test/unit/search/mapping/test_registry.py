"""Mappers of other packages, found by their entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.search.mapping.registry import MAPPERS, find_mapper, mapper_names


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with two mappers, one of which cannot be imported, and a third by a name of ours."""
    (tmp_path / "plugged_mapper.py").write_text("def solve(arch, problem, request):\n    return request\n")
    folder = tmp_path / "plugged-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[tilewright.mappers]\nplugged = plugged_mapper:solve\nbroken = plugged_mapper:missing\n"
        "exact = plugged_mapper:solve\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("package")
def test_a_mapper_of_another_package_has_its_name():
    assert mapper_names() == [*MAPPERS, "broken", "plugged"]
    assert find_mapper("plugged").__module__ == "plugged_mapper"
    assert find_mapper("exact").__module__.startswith("tilewright.")


@pytest.mark.usefixtures("package")
def test_one_that_cannot_be_imported_is_told():
    with pytest.raises(TilewrightError, match="mapper broken: expected a mapper that can be imported"):
        find_mapper("broken")


def test_other_names_are_told():
    with pytest.raises(TilewrightError, match="one of exact, refine"):
        find_mapper("plugged")
