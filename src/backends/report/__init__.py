"""Mappings for people: the loop nest as text, tables of what moves where, and a picture."""

from .nest_text import loop_nest
from .traffic_table import TrafficRow, traffic_rows
from .tree_svg import mapping_svg

__all__ = ["TrafficRow", "loop_nest", "mapping_svg", "traffic_rows"]
