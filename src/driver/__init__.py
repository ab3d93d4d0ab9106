"""What a person asks for, from input to answer: models, partitions, DRAM schedules."""

from .models import Progress, RunResult, compile, load_model, make_context, parse_mlir, parse_text, reference, run
from .pipelines import CompileOptions, parse_passes, pipeline_text
from .run_options import RunOptions

__all__ = [
    "CompileOptions",
    "Progress",
    "RunOptions",
    "RunResult",
    "compile",
    "load_model",
    "make_context",
    "parse_mlir",
    "parse_passes",
    "parse_text",
    "pipeline_text",
    "reference",
    "run",
]
