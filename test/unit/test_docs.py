"""The commands and programs shown in the documents do what the documents say.

In a `console` block each line after `$ ` is a command, the lines below it are its output, where `...` stands for any
text.  A block with a file's name after its language is written to that file.  A `python` block is a program that prints
nothing and asserts.  All blocks of a document run in order in one folder.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.frontends.onnx import operator_names

from ..warm_commands import folder as warm_commands

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SLOW = ("make ", "pip ", "git ")


def commands(block: str) -> list[tuple[str, str]]:
    """(command, shown output) of a console block; a line goes on after a backslash or inside double quotes."""
    block = block.replace("\\\n", " ")
    parts = re.split(r"^\$ ((?:[^\"\n]|\"[^\"]*\")*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def squeeze(text: str) -> str:
    return re.sub(r"[ \t]+\n", "\n", text).strip()


def check(command: str, shown: str, folder: Path) -> None:
    path = os.pathsep.join([str(warm_commands()), str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    pattern = ".*?".join(re.escape(part) for part in squeeze(shown).split("..."))
    output = squeeze(result.stdout + result.stderr)
    assert re.fullmatch(pattern, output, re.DOTALL), f"{command}\nshown:\n{shown}\nprinted:\n{output}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document(document: Path, tmp_path: Path):
    for kind, file, block in BLOCK.findall(document.read_text()):
        if file:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(block)
        if kind == "python":
            (tmp_path / "program.py").write_text(block)
            check("warm-python program.py || echo FAILED", "", tmp_path)
        for command, shown in commands(block) if kind == "console" else []:
            if not command.startswith(SLOW):
                check(command, shown, tmp_path)


def test_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 120


def test_listed_operators_are_those_imported():
    text = (ROOT / "docs/onnx.md").read_text().split("## Operators")[1].split("`Constant`, ")[0]
    assert tuple(re.findall(r"`(\w+)`", text)) == operator_names()
