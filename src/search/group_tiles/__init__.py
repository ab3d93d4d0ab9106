"""Tiles of groups of kernels on machines with capabilities: sizes, order of loops, and what each kernel issues."""
