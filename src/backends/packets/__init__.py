"""Control model `packets`: kernels as packets of instructions, scheduled by what the target's file says."""
