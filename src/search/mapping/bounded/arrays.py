"""What a search reads as arrays: ways to keep tensors, factors of loops, the problem without dimensions of 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....costs.hierarchy import Problem
from .model import Ints
from .spreads import Factors


def chain_arrays(chains: list[list[Factors]]) -> tuple[Ints, Ints]:
    """Ways to keep tensors as (T, K, L), and how many there are (T,); the outermost memory keeps all."""
    many = np.array([len(found) for found in chains], np.int64)
    table = np.ones((len(chains), int(many.max()), len(chains[0][0]) + 1), np.int64)
    for t, found in enumerate(chains):
        table[t, : len(found), :-1] = found
    return table, many


def reduced(problem: Problem, dims: tuple[int, ...]) -> Problem:
    """The problem without all dimensions but `dims`."""
    tensors = tuple(
        replace(tensor, coefficients=tuple(tuple(row[d] for d in dims) for row in tensor.coefficients))
        for tensor in problem.tensors
    )
    bounds = tuple(problem.bounds[d] for d in dims)
    return replace(problem, dims=tuple(problem.dims[d] for d in dims), bounds=bounds, tensors=tensors)
