"""Which of the first layers run sample by sample where their weights are loaded for each sample."""

from .network import Network, RowsOf
from .residency import Search


def reloaded_spans(network: Network, rows_of: RowsOf, share: float = 0.5) -> list[range]:
    """Such spans of layers, the cheapest first; the other layers run with all samples together.

    A span costs the traffic of maps, the work that tiles of few rows have beyond that of whole layers, and the weights
    that are loaded again.  It ends where fewer bytes of maps are left for later layers than after one layer less, and
    no more than after one layer more.  It begins with the first layer, or where such a span could end: at the first
    such place from which on each layer has room for one sample.
    """
    count = len(network.layers)
    sizes = [sum(network.map_bytes[n] for n in network.leaving(span)) for span in range(count + 1)]
    ends = [span for span in range(2, count) if sizes[span - 1] > sizes[span] <= sizes[span + 1]]
    together = [place for place, layer in enumerate(network.layers) if not layer.by_sample]
    prices: dict[range, float] = {}
    for end in ends:
        apart = max((place for place in together if place < end), default=-1)
        start = 0 if apart < 0 else next((other for other in ends if other > apart), end)
        while end - start > 1:
            search = Search(network, rows_of, share, end, reload=True, first=start)
            if search.run() is not None:
                again = (network.samples - 1) * search.span_bytes
                prices[range(start, end)] = search.price + again / network.bytes_per_cycle
                break
            start = next((other for other in ends if other > search.stuck), end)
    return sorted(prices, key=lambda span: prices[span])
