"""How often Python looks for cycles of garbage."""

SELDOM = 50_000, 20, 20
"""Thresholds for work that makes millions of objects that stay: looking as often as usual takes a tenth of its time."""
