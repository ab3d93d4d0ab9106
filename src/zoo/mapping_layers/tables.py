"""Layers by name, from the tables beside this file."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from importlib import resources

from ...costs.hierarchy import Problem
from ...errors import TilewrightError
from .problems import ConvShape, convolution, einsum, weight_update

CONVOLUTIONS = ("alexnet", "covenant", "deepbench", "inception_v3", "resnet18", "resnet50", "resnext50")
KERNELS = ("mmc", "mttkrp", "sddmm", "tcl", "ttmc")
UPDATE = "_wu"
UPDATES = tuple(network + UPDATE for network in CONVOLUTIONS if network != "covenant")
NETWORKS = tuple(sorted((*CONVOLUTIONS, *UPDATES, *KERNELS)))

Row = tuple[tuple[str, ...], ConvShape]
"""Names of equal layers, and their shape."""


def layer(name: str, batch: int = 1) -> Problem:
    """The layer or kernel `network:layer`; `batch` images at once (DeepBench's own batch is multiplied by it)."""
    network, _, which = name.partition(":")
    names = layer_names(network)
    if which not in names:
        raise TilewrightError("layer", name, f"one of {_some(names)}", which or "no layer's name")
    if network in KERNELS:
        _check_batch(name, batch)
        return _kernels()[name]
    shape = next(shape for names, shape in _rows(_table(network)) if which in names)
    return _convolution(network, which, shape, batch)


def layers(network: str, batch: int = 1) -> tuple[tuple[str, Problem, int], ...]:
    """All different layers of a network: `(layer's name, problem, how often it occurs)`, in the order of the table."""
    names = layer_names(network)
    if network in KERNELS:
        _check_batch(network, batch)
        return tuple((name, _kernels()[f"{network}:{name}"], 1) for name in names)
    rows = _rows(_table(network))
    return tuple((names[0], _convolution(network, names[0], shape, batch), len(names)) for names, shape in rows)


def layer_names(network: str) -> tuple[str, ...]:
    """Every name that `layer` knows after `network:`; equal layers have one each."""
    if network not in NETWORKS:
        raise TilewrightError("network", network, f"one of {', '.join(NETWORKS)}", "an unknown name")
    if network in KERNELS:
        return tuple(name.partition(":")[2] for name in _kernels() if name.startswith(f"{network}:"))
    return tuple(name for names, _ in _rows(_table(network)) for name in names)


def _convolution(network: str, which: str, shape: ConvShape, batch: int) -> Problem:
    if batch < 1:
        raise TilewrightError("usage", f"batch of {network}:{which}", "at least 1", str(batch))
    build = weight_update if network.endswith(UPDATE) else convolution
    return build(f"{network}:{which}", replace(shape, batch=shape.batch * batch))


def _check_batch(name: str, batch: int) -> None:
    if batch != 1:
        raise TilewrightError("usage", f"batch of {name}", "1", f"{batch}: the kernel has no batch dimension")


def _table(network: str) -> str:
    return network.removesuffix(UPDATE)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} names)"


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(
        (
            tuple(row["names"].split()),
            ConvShape(
                *(int(row[key]) for key in ("N", "K", "C", "P", "Q", "R", "S")),
                stride=(int(row["stride_p"]), int(row["stride_q"])),
                groups=int(row["groups"]),
            ),
        )
        for row in _read(table)
    )


@cache
def _kernels() -> dict[str, Problem]:
    found: dict[str, Problem] = {}
    for row in _read("tensor_kernels"):
        bounds = {dim: int(bound) for dim, bound in (pair.split("=") for pair in row["bounds"].split())}
        found[row["name"]] = einsum(row["name"], bounds, row["inputs"].split(), row["output"])
    return found


def _read(table: str) -> list[dict[str, str]]:
    text = resources.files(__package__ or __name__).joinpath(f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
