"""How many of the first layers run sample by sample where their weights are loaded for each sample."""

from __future__ import annotations

from .residency import Network, RowsOf, Search


def reloaded_spans(network: Network, rows_of: RowsOf, share: float = 0.5) -> list[int]:
    """Lengths of such a span, the cheapest first; the other layers follow with all samples together.

    A length costs the traffic of maps, the work that tiles of few rows have beyond that of whole layers, and the
    weights that are loaded again.  Looked at are lengths after which fewer bytes of maps are left for later layers than
    after one layer less, and no more than after one layer more.
    """
    count = len(network.layers)
    sizes = [sum(network.map_bytes[n] for n in network.leaving(span)) for span in range(count + 1)]
    prices: dict[int, float] = {}
    for span in range(2, count):
        if sizes[span - 1] > sizes[span] <= sizes[span + 1]:
            search = Search(network, rows_of, share, span, reload=True)
            if search.run() is not None:
                prices[span] = search.price + (network.samples - 1) * search.span_bytes / network.bytes_per_cycle
    return sorted(prices, key=lambda span: prices[span])
