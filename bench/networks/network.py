# pyright: basic, reportMissingImports=false
"""What a network of `make.py` is: a module, inputs for one sample, and the exporter that writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Network:
    """`build` makes the module; `inputs` are for two samples, by name; `dynamo` says which exporter is used.

    `dynamic` are inputs whose other axes are open, too: by name, axis and the name of the extent.
    """

    build: Callable[[], nn.Module]
    inputs: Callable[[], dict[str, Tensor]]
    dynamo: bool = False
    outputs: tuple[str, ...] = ("y",)


def image(size: int = 32, channels: int = 3) -> Callable[[], dict[str, Tensor]]:
    """A square image."""
    return lambda: {"image": torch.randn(2, channels, size, size)}


def numbers(*shape: int, name: str = "x") -> Callable[[], dict[str, Tensor]]:
    """One tensor of this shape for a sample."""
    return lambda: {name: torch.randn(2, *shape)}


def tokens(length: int = 16, vocabulary: int = 100, mask: bool = False) -> Callable[[], dict[str, Tensor]]:
    """Numbers of tokens, with a mask of those that count."""

    def make() -> dict[str, Tensor]:
        made = {"input_ids": torch.randint(3, vocabulary, (2, length))}
        return made | ({"attention_mask": torch.ones(2, length, dtype=torch.int64)} if mask else {})

    return make


class Part(nn.Module):
    """Of a module's result (a mapping or a structure) the named part; keyword arguments by position."""

    def __init__(self, module: nn.Module, part: str | int | None, names: tuple[str, ...] = (), **fixed: object) -> None:
        super().__init__()
        self.module, self.part, self.names, self.fixed = module, part, names, fixed

    def forward(self, *inputs: Tensor) -> Tensor:
        """The part."""
        if self.names:
            result = self.module(**dict(zip(self.names, inputs, strict=True)), **self.fixed)
        else:
            result = self.module(*inputs, **self.fixed)
        if isinstance(self.part, str):
            return result[self.part]
        return result if self.part is None else result[self.part]
