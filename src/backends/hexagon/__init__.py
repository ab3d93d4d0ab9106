"""Running packet programs on real tools: llvm-mc, lld and qemu-hexagon."""

from __future__ import annotations

from .run import QemuResult, missing_tools, run_program

__all__ = ["QemuResult", "missing_tools", "run_program"]
