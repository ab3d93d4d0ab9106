"""How each graph layer becomes kernels of `nest`: one small function per operation."""
