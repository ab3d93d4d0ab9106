"""Tensor algebra: expressions, statements, their text form and their evaluation by NumPy."""
