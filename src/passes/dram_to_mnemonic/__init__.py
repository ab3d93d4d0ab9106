"""Schedules of DRAM to instructions: loads, stores and computes of tiles, ordered by tags."""

from .program import Lowered, lower

__all__ = ["Lowered", "lower"]
