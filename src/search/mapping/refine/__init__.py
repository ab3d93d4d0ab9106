"""Refinement: good mappings soon, by climbing from many starts; quick guesses choose what is priced."""

from .guess import Guess
from .solve import solve

__all__ = ["Guess", "solve"]
