"""Kernels of threads as OpenCL C and CUDA C; running them, and what NVIDIA's compiler says of them."""
