"""A problem as Timeloop's YAML: dimensions of one letter, coefficients by name."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

from ...costs.hierarchy import Problem, Tensor
from ...errors import TilewrightError
from .text import Document, dump


def dimension_letters(problem: Problem) -> tuple[str, ...]:
    """A letter for each dimension, as permutations need it: its own name or initial where that is free."""
    taken = {name for name in problem.dims if len(name) == 1 and name in ascii_letters}
    letters: list[str] = []
    for name in problem.dims:
        wished = [c for c in (name[:1].upper(), name[:1].lower(), *ascii_letters) if c in ascii_letters and c]
        letter = name if name in taken else next((c for c in wished if c not in taken), "")
        if not letter:
            raise TilewrightError("unsupported", problem.name, f"at most {len(ascii_letters)} dimensions", name)
        taken.add(letter)
        letters.append(letter)
    return tuple(letters)


def problem_yaml(problem: Problem) -> str:
    """The `problem` of `timeloop-model`; dimensions of several letters are renamed, which a comment tells."""
    letters = dimension_letters(problem)
    factors = sorted({c for tensor in problem.tensors for row in tensor.coefficients for c in row} - {0, 1})
    names = {factor: f"by{factor}" if factor > 0 else f"minus{-factor}" for factor in factors}
    shape: Document = {
        "name": problem.name,
        "dimensions": list(letters),
        "coefficients": [{"name": name, "default": factor} for factor, name in names.items()],
        "data_spaces": [_data_space(tensor, letters, names) for tensor in problem.tensors],
    }
    if not factors:
        del shape["coefficients"]
    instance = dict(zip(letters, problem.bounds, strict=True)) | {name: factor for factor, name in names.items()}
    renamed = [f"{letter} is {name}" for letter, name in zip(letters, problem.dims, strict=True) if letter != name]
    comment = f"# {', '.join(renamed)}\n" if renamed else ""
    return comment + dump({"problem": {"shape": shape, "instance": instance}})


def _data_space(tensor: Tensor, letters: tuple[str, ...], names: dict[int, str]) -> dict[str, Any]:
    axes = [
        [[letter] if c == 1 else [letter, names[c]] for letter, c in zip(letters, row, strict=True) if c]
        for row in tensor.coefficients
    ]
    written = {"read_write": True} if tensor.is_output else {}
    return {"name": tensor.name, "projection": axes} | written
