"""Accelerators, one `.acg` file each."""
