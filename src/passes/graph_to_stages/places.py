"""Where tensors of a program of stages lie off chip: maps by blocks of channels, weights by blocks of both, vectors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...algebra.allocation import BumpAllocator
from ...algebra.blocked import BlockedLayout
from ...dialects.mnemonic import TensorOp
from ...dialects.roles import Role
from ...dialects.types import shape_of, si8, tensor, tensor_type
from ...errors import TilewrightError
from ...machine.stage_isa import StageIsa
from ...resources import Resources
from .works import Plane

Numbers = NDArray[np.int64]


@dataclass
class Places:
    """Tensors one after another, each from a multiple of the largest element on."""

    isa: StageIsa
    resources: Resources
    bump: BumpAllocator = field(init=False)
    ops: list[TensorOp] = field(default_factory=list[TensorOp])
    names: set[str] = field(default_factory=set[str])
    planes: dict[SSAValue, Plane] = field(default_factory=dict[SSAValue, Plane])
    pads: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        isa = self.isa
        self.memory = next(memory.name for memory in isa.machine.memories if memory.offchip)
        self.bump = BumpAllocator(max(isa.element_bytes(m) for m in (isa.rows, isa.blocks, isa.sums, isa.micro)))

    def name(self, wanted: str) -> str:
        """A name that no tensor has yet."""
        number, found = 0, wanted
        while found in self.names:
            number += 1
            found = f"{wanted}.{number}"
        self.names.add(found)
        return found

    def plane(self, value: SSAValue, inside: tuple[SSAValue, int, int] | None = None) -> Plane:
        """The place of a map: one of its own, or some blocks of another's: its first and how many."""
        if value not in self.planes:
            plane = self.another(value) if inside is None else self.planes[inside[0]].part(inside[1], inside[2])
            self.planes[value] = plane
        return self.planes[value]

    def another(self, value: SSAValue) -> Plane:
        """A place for a map beside the one that it has."""
        plane, size = plane_of(value, self.isa.lanes), self.isa.element_bytes(self.isa.rows)
        return replace(plane, element=self.bump.take(plane.elements * size) // size)

    def note(self, value: SSAValue, name: str, role: Role, plane: Plane) -> None:
        """A map that the program's user sees."""
        address = plane.element * self.isa.element_bytes(self.isa.rows)
        layout = layout_of(shape_of(value), self.isa.lanes)
        self.ops.append(TensorOp(self.name(name), role, tensor_type(value), self.memory, address, layout))

    def constant(self, name: str, array: NDArray[Any], element_bytes: int) -> int:
        """Stores an array; the number of its first element of so many bytes."""
        address = self.bump.take(array.nbytes)
        kind = si8 if array.dtype == np.int8 else i32
        found = self.resources.add(self.name(name), array)
        self.ops.append(TensorOp(found, Role.WEIGHT, tensor(array.shape, kind), self.memory, address))
        return address // element_bytes

    def weights(self, name: str, weights: Numbers) -> int:
        """Blocks of [out, in, taps] weights; the first element."""
        lanes, depth = self.isa.lanes, self.isa.depth
        if weights.min(initial=0) < -128 or weights.max(initial=0) > 127:
            raise TilewrightError("unsupported", name, "weights of 8 bits", f"{abs(weights).max()}")
        out, inner = -weights.shape[0] % lanes, -weights.shape[1] % depth
        full = np.pad(weights, ((0, out), (0, inner), (0, 0))).astype(np.int8)
        cut = full.reshape(-1, lanes, full.shape[1] // depth, depth, full.shape[2])
        blocks = np.ascontiguousarray(cut.transpose(0, 2, 4, 1, 3))
        return self.constant(f"{name}.blocks", blocks, self.isa.element_bytes(self.isa.blocks))

    def diagonals(self, name: str, weights: Numbers, channels: int) -> tuple[int, bool]:
        """Blocks for [sources, channels or 1, taps] of each channel alone; the first, and whether all share them."""
        lanes = self.isa.lanes
        shared = weights.shape[1] == 1
        wide = np.broadcast_to(weights, (weights.shape[0], lanes, weights.shape[2])) if shared else weights
        full = np.pad(wide, ((0, 0), (0, -wide.shape[1] % lanes), (0, 0)))
        sources, count, taps = full.shape
        cut = full.reshape(sources, count // lanes, lanes, taps)
        blocks = np.zeros((count // lanes, sources, taps, lanes, lanes), np.int8)
        for lane in range(lanes):
            blocks[:, :, :, lane, lane] = cut[:, :, lane].transpose(1, 0, 2)
        return self.constant(f"{name}.diagonals", blocks, self.isa.element_bytes(self.isa.blocks)), shared

    def filled(self, number: int) -> int:
        """An element of rows that has a number in all lanes."""
        if number not in self.pads:
            size = self.isa.element_bytes(self.isa.rows)
            self.pads[number] = self.constant(f"pad.{number}", np.full(self.isa.depth, number, np.int8), size)
        return self.pads[number]

    def vector(self, name: str, values: Numbers, channels: int) -> int:
        """A number for each channel among the sums; the first element."""
        wide = np.broadcast_to(values, (channels,)) if values.size == 1 else values
        full = np.pad(wide, (0, -channels % self.isa.lanes)).astype(np.int32)
        return self.constant(name, full, self.isa.element_bytes(self.isa.sums))


def plane_of(value: SSAValue, lanes: int) -> Plane:
    """A map at element 0; rows of a matrix are samples of a single element."""
    shape = shape_of(value)
    if len(shape) not in (2, 4):
        lever = "give a network of layers in place of a kernel, or its extents of 1, too"
        raise TilewrightError("unsupported", "a tensor", "images of channels, or a matrix", f"{list(shape)}", lever)
    height, width = shape[2:] or (1, 1)
    return Plane.of(0, -(-shape[1] // lanes), height, width, shape[0])


def layout_of(shape: tuple[int, ...], lanes: int) -> BlockedLayout:
    """How a map lies (`Plane.of`): lanes innermost."""
    rest = len(shape) - 2
    pads = ((0, 0), (0, -shape[1] % lanes), *[(0, 0)] * rest)
    outer = (1, 0) if prod(shape[2:]) == 1 else (0, 1)
    return BlockedLayout(pads, (0, lanes, *[0] * rest), (*outer, *range(3, 3 + rest), 2))


def digits_of(weights: Numbers) -> Numbers:
    """Numbers as digits of 8 bits with a sign, the highest first: [digits, ...]."""
    found: list[Numbers] = []
    rest = weights
    while not found or rest.any():
        low = ((rest + 128) & 255) - 128
        found.append(low)
        rest = (rest - low) >> 8
    return np.stack(found[::-1])
