"""What `--effort` stands for."""

import argparse
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """A gap and CPU seconds by one word."""

    gap: float
    time_limit: float


EFFORTS = {"quick": Effort(0.1, 0.5), "thorough": Effort(0.0, 3600.0)}
"""What `--effort` stands for in every command."""


def apply_effort(arguments: argparse.Namespace, given: Collection[str]) -> None:
    """Set the gap and the time limit that `--effort` stands for, where they are not among the options `given`."""
    effort = EFFORTS.get(getattr(arguments, "effort", None) or "")
    for name in ("gap", "time_limit") if effort is not None else ():
        if name not in given and hasattr(arguments, name):
            setattr(arguments, name, getattr(effort, name))
