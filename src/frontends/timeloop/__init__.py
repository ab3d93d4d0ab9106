"""Timeloop's YAML in: problems, dense machines, and mappings of one on the other (docs/timeloop.md)."""

from .load import load_architecture, load_problem, load_timeloop, parse_timeloop
from .machine import machine_of

__all__ = ["load_architecture", "load_problem", "load_timeloop", "machine_of", "parse_timeloop"]
