"""DRAM devices as the memory off chip: organisation, timing and address mapping, from data files or a target's text."""

from .timing import (
    FIELDS,
    NUMBERS,
    DramTiming,
    Segment,
    differences,
    dram_timing,
    named_timing,
    timing_complaints,
    timing_names,
    whole,
    with_figures,
)

__all__ = [
    "FIELDS",
    "NUMBERS",
    "DramTiming",
    "Segment",
    "differences",
    "dram_timing",
    "named_timing",
    "timing_complaints",
    "timing_names",
    "whole",
    "with_figures",
]
