"""The networks that partitions are compared on, as layer tables with the shapes of their papers.

Batch normalisation, biases and activation functions are free; a layer that reads several results reads their
concatenation.  RandWire is drawn from fixed seeds.
"""

from collections.abc import Callable
from functools import cache

from ...errors import TilewrightError
from ..schedule_networks import NAMES as SCHEDULE_NAMES
from ..schedule_networks import Network, schedule_network
from ..schedule_networks.images import resnet, vgg
from ..schedule_networks.tables import TRANSFORMERS
from .networks import googlenet, gpt, nasnet, randwire_a, randwire_b, transformer

BUILDERS: dict[str, Callable[[], Network]] = {
    "googlenet": googlenet,
    "gpt": gpt,
    "nasnet": nasnet,
    "randwire_a": randwire_a,
    "randwire_b": randwire_b,
    "resnet152": lambda: resnet("resnet152", (3, 8, 36, 3)),
    "transformer": transformer,
    "vgg16": lambda: vgg("vgg16", (2, 2, 3, 3, 3)),
}

NAMES = tuple(sorted((*BUILDERS, *SCHEDULE_NAMES)))
"""Every network that `network` makes."""

LANGUAGE = ("gpt", "transformer", *TRANSFORMERS)
"""Those on sequences of tokens."""

COCCO_NAMES = (
    "vgg16",
    "resnet50",
    "resnet152",
    "googlenet",
    "transformer",
    "gpt",
    "randwire_a",
    "randwire_b",
    "nasnet",
)
"""The nine networks of Cocco's evaluation (Tan et al. 2024, section 5.1.1)."""


@cache
def network(name: str, tokens: int | None = None) -> Network:
    """The network called `name`, one of `NAMES`; `tokens` is the sequence length of a block of a language model."""
    if name in BUILDERS:
        return BUILDERS[name]()
    if name in SCHEDULE_NAMES:
        return schedule_network(name, tokens)
    raise TilewrightError("network", name, f"one of {', '.join(NAMES)}", "an unknown name")


__all__ = ["BUILDERS", "COCCO_NAMES", "LANGUAGE", "NAMES", "Network", "network"]
