"""The space: problems and machines as arrays, spreads over arrays of children, ways to keep tensors."""
