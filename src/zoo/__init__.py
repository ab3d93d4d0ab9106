"""Networks as graph builders, by name."""
