"""Transforms of the dram dialect."""
