"""The sources of the documentation's site: the documents, and pages that are made from the code.

    python tools/make_site.py build/docs

writes them to a folder, from which `mkdocs build --strict` makes the site (`make docs`): all of `docs`, the README as
the first page, a page of the passes from their docstrings, and one of the commands from their `--help`.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from tilewright.cli.command_line import make_parser
from tilewright.universe import PASSES_BY_FOLDER, TILEWRIGHT_UNIVERSE

ROOT = Path(__file__).parents[1]
WIDTH = "100"
"""Columns of the help texts."""


def write_site(folder: Path) -> None:
    """Write all pages to `folder`, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for page in folder.rglob("*.md"):
        page.write_text(for_site(page.read_text(encoding="utf-8"), len(page.relative_to(folder).parts) - 1), "utf-8")
    pages = {
        "index": for_site((ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")),
        "passes": passes(),
        "commands": commands(),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def for_site(text: str, depth: int = 0) -> str:
    """A document as the site's generator reads it: names of files as titles of blocks, documents as links."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(_block(part) if part.startswith("```") else _prose(part, "../" * depth) for part in parts)


def _block(text: str) -> str:
    return re.sub(r"\A```(\w+) (\S+)$", r'```\1 title="\2"', text, flags=re.MULTILINE)


def _prose(text: str, up: str) -> str:
    text = re.sub(r"(?<!\[)`docs/([\w-]+)\.md`", rf"[\1]({up}\1.md)", text)
    return re.sub(r"\[([^]]+)\]\(\.\./((?:src|test|bench)/[^)]+)\)", r"\1 (`\2`)", text)


def passes() -> str:
    """The page of the passes: what each does, and its options, in the order of the levels."""
    parts = [
        "# Passes\n\nEach runs by itself in `tilewright-opt -p NAME{OPTION=VALUE}`; `tilewright compile --dump DIR` "
        "writes the IR after each that it runs.\n"
    ]
    for folder, names in PASSES_BY_FOLDER.items():
        parts.append(f"## {folder.replace('_', ' ') or 'targets'}\n")
        for name in names:
            made = TILEWRIGHT_UNIVERSE.all_passes[name]()
            options = [field for field in fields(made) if field.name != "name"]
            rows = [f"- `{field.name}`: {_type(field.type)}{_default(field.default)}" for field in options]
            text = inspect.cleandoc(made.__doc__ or "")
            parts.append("\n".join([f"### {name}\n", text, "", *(["Options:", "", *rows, ""] if rows else [])]))
    return "\n".join(parts)


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: object) -> str:
    return f", default `{value!r}`" if isinstance(value, str | int | float | bool | None) else ""


def commands() -> str:
    """The page of the commands: the help of each."""
    os.environ["COLUMNS"] = WIDTH
    _, parsers = make_parser()
    parts = ["# Commands\n\nWhat `tilewright COMMAND --help` prints.\n"]
    parts += [f"## {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n" for name, parser in parsers.items()]
    return "\n".join(parts)


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
