"""Accelerator descriptions: `.acg` text in and out (the language is on one page in docs/acg.md)."""

from __future__ import annotations

from .load import load_target, parse_target, target_files

__all__ = ["load_target", "parse_target", "target_files"]
