"""A mesh between a buffer and its processing elements, flit by flit, and mapped programs on it."""

from .mesh import Mesh
from .program import make_program, mesh_of, with_link_bandwidth
from .run import MeshRun, run_program

__all__ = ["Mesh", "MeshRun", "make_program", "mesh_of", "run_program", "with_link_bandwidth"]
