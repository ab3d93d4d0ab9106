"""Running packet programs on real tools: llvm-mc, lld and qemu-hexagon."""

from .run import linked_bytes, missing_tools, run_program

__all__ = ["linked_bytes", "missing_tools", "run_program"]
