"""Executable semantics of the dialects for xDSL's `Interpreter`."""
