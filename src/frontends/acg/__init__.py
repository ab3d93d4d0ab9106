"""Accelerator descriptions: `.acg` text in and out (the language is on one page in docs/acg.md)."""

from __future__ import annotations

from .load import load_target, parse_module, parse_target, target_files
from .print import print_target

__all__ = ["load_target", "parse_module", "parse_target", "print_target", "target_files"]
