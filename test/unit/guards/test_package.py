"""The package holds what the sources hold, and names resolve."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from setuptools import find_packages
from xdsl.universe import Universe

import tilewright
from tilewright.frontends.acg import target_files
from tilewright.universe import DIALECTS, PASSES, TILEWRIGHT_UNIVERSE

ROOT = Path(__file__).parents[3]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_is_listed():
    found = {f"tilewright.{name}" for name in find_packages(str(ROOT / "src"))}
    listed: list[str] = SETTINGS["tool"]["setuptools"]["packages"]
    assert set(listed) == found | {"tilewright", "tilewright.tools"}
    assert listed == sorted(listed)


def test_every_folder_of_sources_is_a_package():
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_every_data_file_is_listed():
    listed: dict[str, list[str]] = SETTINGS["tool"]["setuptools"]["package-data"]
    for path in (ROOT / "src").rglob("*"):
        if path.is_dir() or path.suffix == ".py" or "__pycache__" in path.parts:
            continue
        package = ".".join(("tilewright", *path.parent.relative_to(ROOT / "src").parts))
        assert any(path.match(pattern) for pattern in listed.get(package, [])), f"{path} is not in package-data"


@pytest.mark.parametrize("name", tilewright.__all__)
def test_public_names_resolve_and_are_documented(name: str):
    assert getattr(tilewright, name).__doc__


def test_unknown_public_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tilewright.nothing  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_resolve(name: str):
    assert TILEWRIGHT_UNIVERSE.all_dialects[name]().name == name


@pytest.mark.parametrize("name", PASSES)
def test_passes_resolve_and_are_documented(name: str):
    found = TILEWRIGHT_UNIVERSE.all_passes[name]()
    assert found.name == name
    assert found.__doc__


def test_every_pass_is_registered():
    stems = {path.stem for path in (ROOT / "src/passes").rglob("*.py") if "(ModulePass)" in path.read_text()}
    assert stems == {name.replace("-", "_") for name in PASSES}


def test_solvers_of_others_are_loaded_by_those_who_call_them():
    """Each takes a tenth to half a second; that importing the package itself loads names alone, test_api has."""
    code = "import sys, tilewright.driver.groups, tilewright.search.mapping.exact.tree.solve; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"scipy.optimize", "z3", "networkx", "lark", "onnx", "rich"}.isdisjoint(loaded)


def test_upstream_tools_see_our_names():
    """The entry point is found, and no name clashes with another universe."""
    everything = Universe.get_multiverse()
    assert set(PASSES) <= set(everything.all_passes)
    assert set(DIALECTS) <= set(everything.all_dialects)


def test_wheel_holds_everything_and_runs(tmp_path: Path):
    """Built from a copy of used sources, unpacked elsewhere, the package still finds its targets and grammars."""
    for part in ("src", "tools"):
        shutil.copytree(ROOT / part, tmp_path / "copy" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / part, tmp_path / "copy")
    kernels = tmp_path / "copy/src/costs/__pycache__"
    kernels.mkdir()
    for name in ("model.price-1.py311.nbi", "model.price-1.py311.1.nbc"):
        (kernels / name).write_bytes(b"code of this machine")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", tmp_path, tmp_path / "copy"], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "__pycache__" in name]
        archive.extractall(tmp_path / "unpacked")
    code = "import tilewright; from tilewright.cli import main; print(tilewright.__file__); main(['targets', '--json'])"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    place, answer = result.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert [target["name"] for target in json.loads(answer)["targets"]] == sorted(target_files())
