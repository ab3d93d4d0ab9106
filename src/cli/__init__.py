"""The command line `tilewright`."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 1 bad input or infeasible, 2 wrong usage)."""
    from .command_line import run

    return run(arguments)
