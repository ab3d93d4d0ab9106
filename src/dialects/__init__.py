"""The levels of the compiler, one language per module."""
