"""Accelerators, one `.acg` file each."""

DEFAULT_TARGET = "edge16"
"""The accelerator where none is given."""
