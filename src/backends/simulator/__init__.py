"""Runs a binary by the meaning that its target file gives to instructions: function, cycles, energy."""
