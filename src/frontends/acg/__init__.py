"""Accelerator descriptions: `.acg` text in and out (the language is on one page in docs/acg.md)."""

from typing import TYPE_CHECKING

from .load import load_target, parse_module, parse_target, target_files

if TYPE_CHECKING:
    from .print import print_target

__all__ = ["load_target", "parse_module", "parse_target", "print_target", "target_files"]


def __getattr__(name: str) -> object:
    """Text is printed by what knows the parser's parts, which are slow to load."""
    if name != "print_target":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .print import print_target

    return print_target
