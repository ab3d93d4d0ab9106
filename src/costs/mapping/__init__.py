"""What a mapping of kernels is, as plain data, and what it costs: footprints, traffic, cycles, energy."""
