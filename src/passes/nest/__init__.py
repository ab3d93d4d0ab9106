"""Transforms of the nest dialect: tiles, loop orders, spatial loops, mappings."""
