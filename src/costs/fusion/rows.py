"""Groups that run by full rows: maps whose columns are taken as channels, so that tiles are cut along rows only."""

from __future__ import annotations

from dataclasses import replace

from .graph import POINT, WHOLE, Edge, LayerGraph, Shape

ROW_TILES = tuple((rows, 1) for rows in (1, 2, 4, 8, 16, 32))
"""Tiles of some full rows of a group's last layers."""


def by_rows(graph: LayerGraph) -> LayerGraph:
    """`graph` with maps of one column: weights, traffic and products stay, regions are of full rows."""
    inputs = tuple(replace(item, shape=_rows(item.shape)) for item in graph.inputs)
    layers = tuple(
        replace(layer, shape=_rows(layer.shape), edges=tuple(_edge(edge) for edge in layer.edges))
        for layer in graph.layers
    )
    return LayerGraph(graph.name, inputs, layers, graph.outputs)


def _rows(shape: Shape) -> Shape:
    return Shape(shape.channels * shape.width, shape.height, 1)


def _edge(edge: Edge) -> Edge:
    whole = edge.rows.whole or edge.columns.whole
    return Edge(edge.producer, WHOLE if whole else edge.rows, WHOLE if whole else POINT)
