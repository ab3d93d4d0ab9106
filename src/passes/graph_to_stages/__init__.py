"""Layers of integers become programs of machines of stages."""
