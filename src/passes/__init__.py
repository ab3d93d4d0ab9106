"""One pass per module; `universe.py` lists them by name."""
