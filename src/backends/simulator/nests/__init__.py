"""Runs of mapped loop nests on machines of memories over multiply-accumulators, which have no instructions."""

from .plan import check_points
from .simulate import NestKernel, NestRun, simulate_nest

__all__ = ["NestKernel", "NestRun", "check_points", "simulate_nest"]
