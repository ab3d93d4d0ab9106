"""Bounds: relaxations, and tables of costs to go."""
