"""tilewright compiles deep-learning graphs and tensor algebra to spatial accelerators, on xDSL."""
