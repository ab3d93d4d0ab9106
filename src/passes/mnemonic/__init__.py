"""Transforms of the mnemonic dialect."""
