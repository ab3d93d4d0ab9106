"""Mappings for people: the loop nest as text, tables of what moves where, and a picture."""

from .mapping import TrafficRow, loop_nest, mapping_svg, traffic_rows

__all__ = ["TrafficRow", "loop_nest", "mapping_svg", "traffic_rows"]
