"""What a person asks for, from input to answer: models, kernels of packet machines, partitions, DRAM schedules."""

from .models import (
    CompileOptions,
    Progress,
    RunOptions,
    RunResult,
    compile,
    is_kernel,
    load_model,
    make_context,
    parse_mlir,
    parse_passes,
    pipeline_text,
    reference,
    run,
)

__all__ = [
    "CompileOptions",
    "Progress",
    "RunOptions",
    "RunResult",
    "compile",
    "is_kernel",
    "load_model",
    "make_context",
    "parse_mlir",
    "parse_passes",
    "pipeline_text",
    "reference",
    "run",
]
