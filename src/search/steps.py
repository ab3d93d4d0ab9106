"""How layers run: steps in order, maps that stay on chip, spans of layers that run sample by sample."""

from dataclasses import dataclass

from .network import Network

OFFCHIP = -1


@dataclass(frozen=True)
class Step:
    """Layers `start` to `stop` (exclusive): `rows` at a time, as a whole (0), or tiled from DRAM alone (`OFFCHIP`).

    The weights of a layer that runs as a whole may be streamed: loaded piece by piece, of which two have `piece_bytes`.
    Its map may lie in the place of the map `overwritten` (-1: of none).
    """

    start: int
    stop: int
    rows: int
    piece_bytes: int = 0
    overwritten: int = -1


@dataclass(frozen=True)
class Span:
    """Layers `start` to `stop` (exclusive) run sample by sample; with `reload` their weights are loaded for each."""

    start: int
    stop: int
    reload: bool = False

    def __contains__(self, place: int) -> bool:
        """Whether a layer is one of them."""
        return self.start <= place < self.stop

    def weight_bytes(self, network: Network) -> int:
        """Of all of them."""
        return sum(layer.weight_bytes for layer in network.layers[self.start : self.stop])


@dataclass(frozen=True)
class Plan:
    """Steps in order, the maps that are kept, and the layers that run sample by sample; what these make and store stays
    `later`, from the first layer after them that reads it.
    """

    steps: tuple[Step, ...]
    kept: frozenset[int]
    spans: tuple[Span, ...] = ()
    later: frozenset[int] = frozenset()
