"""Cycles of the vector engine for a tile: a row and instruction each as its capability says, and its latency a body."""

from __future__ import annotations

from ...algebra.formula import evaluate_formula
from .emitter import Target
from .places import Epilogue, Operation, Window
from .registers import Shape
from .row_code import runs


def epilogue_cycles(target: Target, epilogue: Epilogue, shape: Shape) -> int:
    """Cycles of all operations on a tile."""
    found = runs(epilogue.operations)
    return sum(operation_cycles(target, o, shape) for run in found for o in run) + target.vector_latency * len(found)


def operation_cycles(target: Target, operation: Operation, shape: Shape) -> int:
    """Cycles of one operation on a tile, without what its body shares."""
    turned = max(shape.rows, shape.lanes)  # rows and lanes change places
    one = issue_cycles(target, operation.text) if operation.kind != "spread" else 0
    match operation.kind:
        case "fold":
            folds = (shape.blocks - 1) * shape.rows + shape.lanes - 1
            return shape.rows + 1 + folds * one + turned + 3 * target.vector_latency
        case "spread":
            return turned
        case "column":
            return one
        case _:
            return shape.size * one


def window_cycles(target: Target, window: Window, shape: Shape) -> int:
    """Cycles of folding a window."""
    taps = window.y.taps * window.x.taps
    each = issue_cycles(target, window.fold)
    each += issue_cycles(target, "A * B // pow(2, SHIFT)") if window.weight is not None else 0
    return shape.size * (1 + taps * each) + 2 * target.vector_latency


def issue_cycles(target: Target, text: str) -> int:
    """Cycles of the instruction that computes `text` on a row."""
    return int(evaluate_formula(target.vector_cycles[target.function(text)], {"ops": 1}))
