"""Transforms of the codelet dialect."""
