"""Which layers run sample by sample: with weights loaded for each sample, or kept in one short span after another."""

from .network import Network, RowsOf
from .residency import Search, plan
from .steps import Span


def reloaded_spans(network: Network, rows_of: RowsOf, share: float = 0.5) -> list[range]:
    """Such spans of layers, the cheapest first; the other layers run with all samples together.

    A span costs the traffic of maps, the work that tiles of few rows have beyond that of whole layers, and the weights
    that are loaded again.  It ends where fewer bytes of maps are left for later layers than after one layer less, and
    no more than after one layer more.  It begins with the first layer, or where such a span could end: at the first
    such place from which on each layer has room for one sample.
    """
    ends = _ends(network)
    together = [place for place, layer in enumerate(network.layers) if not layer.by_sample]
    prices: dict[range, float] = {}
    for end in ends:
        apart = max((place for place in together if place < end), default=-1)
        start = 0 if apart < 0 else next((other for other in ends if other > apart), end)
        while end - start > 1:
            span = Span(start, end, reload=True)
            search = Search(network, rows_of, share, (span,))
            if search.run() is not None:
                again = (network.samples - 1) * span.weight_bytes(network)
                prices[range(start, end)] = search.price + again / network.bytes_per_cycle
                break
            start = next((other for other in ends if other > search.stuck), end)
    return sorted(prices, key=lambda span: prices[span])


def kept_cuts(network: Network, rows_of: RowsOf, weight_bytes: int, most_bytes: int = 0) -> tuple[int, ...]:
    """Borders of spans one after another, each the longest whose weights take at most so many bytes; none without two.

    They begin after the last layers that run in rows where all samples run together, where a span can end.  Where the
    shortest span takes more, it is the next if it takes at most `most_bytes`.
    """
    ends = _ends(network)
    rows = max((step.stop for step in plan(network, rows_of).steps if step.rows), default=0)
    cuts = [next((end for end in ends if end >= rows > 0), rows)]
    while later := [end for end in ends if end > cuts[-1] + 1]:
        fitting = [end for end in later if _is_kept(network, Span(cuts[-1], end), weight_bytes)]
        if not fitting and not _is_kept(network, Span(cuts[-1], later[0]), most_bytes):
            break
        cuts.append(fitting[-1] if fitting else later[0])
    return tuple(cuts) if len(cuts) > 2 else ()


def _is_kept(network: Network, span: Span, weight_bytes: int) -> bool:
    """Whether layers can run sample by sample, and their weights take at most so many bytes."""
    apart = all(layer.by_sample for layer in network.layers[span.start : span.stop])
    return apart and span.weight_bytes(network) <= weight_bytes


def _ends(network: Network) -> list[int]:
    """Layers before which fewer bytes of maps are left to later ones than one earlier, and no more than one later."""
    count = len(network.layers)
    sizes = [sum(network.map_bytes[n] for n in network.leaving(span)) for span in range(count + 1)]
    return [span for span in range(2, count) if sizes[span - 1] > sizes[span] <= sizes[span + 1]]
