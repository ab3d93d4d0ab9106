"""The documentation's site: pages made from the code, and a strict build where its generator is installed."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tilewright.cli.command_line import COMMANDS
from tilewright.universe import PASSES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    runpy.run_path(str(ROOT / "tools/make_site.py"))["write_site"](folder)
    return folder


def test_every_pass_and_command_has_a_page(pages: Path):
    passes, commands = (
        re.split(r"^##+ ", (pages / name).read_text(), flags=re.MULTILINE) for name in ("passes.md", "commands.md")
    )
    told = {part.partition("\n")[0]: part for part in passes}
    assert [name for name in PASSES if len(told.get(name, "")) < 80] == []
    assert "- `target`: str" in told["load-target"]
    assert {part.partition("\n")[0] for part in commands} >= set(COMMANDS)


def test_every_page_is_in_the_navigation_and_every_link_leads_to_one(pages: Path):
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]))
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    assert listed == found
    for page in pages.rglob("*.md"):
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_site_is_built_without_a_warning(pages: Path, tmp_path: Path):
    if find_spec("material") is None or find_spec("mkdocs") is None:
        pytest.skip("mkdocs-material is not installed")
    settings: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    (tmp_path / "mkdocs.yml").write_text(
        yaml.safe_dump(settings | {"docs_dir": str(pages), "site_dir": str(tmp_path / "site")})
    )
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(tmp_path / "mkdocs.yml")]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "site/passes.html").is_file()
