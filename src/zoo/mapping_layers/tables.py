"""Layers by name, from the tables beside this file, as problems."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from ...costs.hierarchy import Problem, Tensor
from ...errors import TilewrightError

Index = tuple[tuple[str, int], ...]
"""One axis of a tensor: dimensions and their coefficients."""


@dataclass(frozen=True)
class ConvShape:
    """A convolution: `channels` K and `depth` C over all `groups`, output `p` x `q`, kernel `r` x `s`."""

    batch: int
    channels: int
    depth: int
    p: int
    q: int
    r: int
    s: int
    stride: tuple[int, int] = (1, 1)
    groups: int = 1


def convolution(name: str, shape: ConvShape) -> Problem:
    """`O[n,k,p,q] += I[n,c,stride*p+r,stride*q+s] * W[k,c,r,s]`; with groups, axis `g` comes before `k` and `c`."""
    image, kernel, output = _tensors(shape)
    return _problem(name, shape, (("I", image), ("W", kernel)), ("O", output))


def weight_update(name: str, shape: ConvShape) -> Problem:
    """`W[k,c,r,s] += I[n,c,stride*p+r,stride*q+s] * O[n,k,p,q]`: the gradient of a convolution's weights."""
    image, kernel, output = _tensors(shape)
    return _problem(name, shape, (("I", image), ("O", output)), ("W", kernel))


def einsum(name: str, bounds: Mapping[str, int], inputs: Sequence[str], output: str) -> Problem:
    """`output += product of inputs`, tensors given by the letters of their dimensions.

    `einsum(name, bounds, ["IK", "KJ"], "IJ")` is a matrix product.  Inputs are called A, B, ...; the output is Z.
    """
    named = [(chr(ord("A") + i), _plain(letters)) for i, letters in enumerate(inputs)]
    return _build(name, bounds, named, ("Z", _plain(output)))


def _tensors(shape: ConvShape) -> tuple[list[Index], list[Index], list[Index]]:
    group = "G" if shape.groups > 1 else ""
    rows: Index = (("P", shape.stride[0]), ("R", 1))
    columns: Index = (("Q", shape.stride[1]), ("S", 1))
    image = [*_plain(f"N{group}C"), rows, columns]
    return image, _plain(f"{group}KCRS"), _plain(f"N{group}KPQ")


def _problem(
    name: str, shape: ConvShape, inputs: Sequence[tuple[str, list[Index]]], output: tuple[str, list[Index]]
) -> Problem:
    bounds = {"N": shape.batch}
    if shape.groups > 1:
        bounds["G"] = shape.groups
    bounds |= {"K": shape.channels // shape.groups, "C": shape.depth // shape.groups}
    bounds |= {"P": shape.p, "Q": shape.q, "R": shape.r, "S": shape.s}
    return _build(name, bounds, inputs, output)


def _plain(letters: str) -> list[Index]:
    return [((letter, 1),) for letter in letters]


def _build(
    name: str, bounds: Mapping[str, int], inputs: Sequence[tuple[str, list[Index]]], output: tuple[str, list[Index]]
) -> Problem:
    dims = tuple(bounds)
    tensors = tuple(
        Tensor(tensor, tuple(tuple(dict(axis).get(dim, 0) for dim in dims) for axis in axes), is_output)
        for tensor, axes, is_output in (*((t, axes, False) for t, axes in inputs), (*output, True))
    )
    return Problem(name, dims, tuple(bounds.values()), tensors)


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
