"""Transforms of the graph dialect, and tables of layers made from it."""
