"""What any group costs at least, layer by layer and transfer by transfer, under each metric."""

from __future__ import annotations

from ...costs.fusion.graph import LayerGraph, mask_of
from .evaluate import Evaluator
from .space import Space
from .tolls import Tolls


def tolls_of(graph: LayerGraph, space: Space, evaluator: Evaluator, batch: int) -> Tolls:
    """The bound that adds up under the metric of `evaluator`.

    Bytes: the weights of a layer once (what it loads again on its own where they do not fit counts too), results times
    the batch.
    """
    sizes = [float(layer.output_bytes * batch) for layer in graph.layers]
    readers: dict[int, int] = {}
    for layer in graph.layers:
        for producer in sorted({edge.producer for edge in layer.edges if edge.producer < 0}):
            readers[producer] = readers.get(producer, 0) + 1
    floors: list[float] = []
    for layer in graph.layers:
        alone = {edge.producer for edge in layer.edges if edge.producer < 0 and readers[edge.producer] == 1}
        given = sum(graph.inputs[-1 - i].shape.volume * graph.inputs[-1 - i].element_bytes for i in sorted(alone))
        floors.append(float(layer.weight_bytes + given * batch))
    return Tolls(space, floors, sizes, sizes, mask_of(graph.exits))
