"""A group of kernels as plain data: what the mapping search is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import cast

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Statement, accesses, dims_of, reduction_dims, target_dims


@dataclass(frozen=True)
class Buffer:
    """The storage of a tensor; `is_input`, `is_result`: it lives outside of the group before or after it."""

    name: str
    shape: tuple[int, ...]
    type_name: str
    element_bytes: int
    is_input: bool
    is_result: bool


@dataclass(frozen=True)
class Use:
    """One access of a kernel: the statement's tensor, the buffer behind it, the index form of each coordinate."""

    tensor: str
    buffer: str
    forms: tuple[Affine, ...]


@dataclass(frozen=True)
class Kernel:
    """A statement whose tensors are bound to buffers; `continues`: it starts from what its target holds."""

    name: str
    statement: Statement
    buffers: tuple[tuple[str, str], ...]  # tensor of the statement -> buffer, the target first
    types: tuple[tuple[str, str], ...]  # tensor of the statement -> element type, the target first
    continues: bool
    padded: tuple[str, ...] = ()

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """All dims, the target's first."""
        return dims_of(self.statement)

    @cached_property
    def reductions(self) -> tuple[str, ...]:
        """Dims that are reduced over."""
        return reduction_dims(self.statement)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Dims that the target indexes."""
        return target_dims(self.statement)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The target's access, then those of the value."""
        bound = dict(self.buffers)
        return tuple(Use(a.tensor, bound[a.tensor], index_forms(cast(Access, a))) for a in accesses(self.statement))

    @property
    def target(self) -> Use:
        """The write."""
        return self.uses[0]

    @property
    def reads_target(self) -> bool:
        """Whether it needs the old contents of its target: a continued reduction, or a target read in place."""
        continued = self.continues and self.statement.reduce != "="
        return continued or any(use.buffer == self.target.buffer for use in self.uses[1:])


@dataclass(frozen=True)
class Group:
    """Kernels in order, over dims with extents, on buffers."""

    dims: tuple[tuple[str, int], ...]
    kernels: tuple[Kernel, ...]
    buffers: tuple[Buffer, ...]

    @cached_property
    def extents(self) -> Mapping[str, int]:
        """Dim -> extent."""
        return dict(self.dims)

    @cached_property
    def by_name(self) -> Mapping[str, Buffer]:
        """Buffers by name."""
        return {buffer.name: buffer for buffer in self.buffers}

    @cached_property
    def tileable(self) -> tuple[str, ...]:
        """Dims that a loop around all kernels may cut without changing what is computed.

        Each kernel that has the dim has it in its target, and where one kernel reads what another wrote, both index by
        it in the same way.  A dim that indexes a coordinate of a result together with others must be its coarsest
        digit, so that what a tile writes is dense.
        """
        kept = {dim for dim, extent in self.dims if extent > 1}
        for kernel in self.kernels:
            kept -= set(kernel.reductions)
            kept -= _fine_digits(self, kernel.target, self.extents)
        while bad := _misaligned(self, kept):
            kept -= bad
        return tuple(dim for dim, _ in self.dims if dim in kept)

    def iterations(self, kernel: Kernel) -> int:
        """Points of a kernel's iteration space."""
        return prod(self.extents[dim] for dim in kernel.dims)


def _fine_digits(group: Group, use: Use, extents: Mapping[str, int]) -> set[str]:
    if not group.by_name[use.buffer].is_result:
        return set()
    fine: set[str] = set()
    for form in use.forms:
        digits = sorted((c, name) for name, c in form.terms if extents[name] > 1)
        fine |= {name for _, name in digits[:-1]}
    return fine


def _misaligned(group: Group, looped: set[str]) -> set[str]:
    """Dims of `looped` that cut a written coordinate elsewhere than a later kernel reads it."""
    bad: set[str] = set()
    written: dict[str, Use] = {}
    for kernel in group.kernels:
        reads = kernel.uses if kernel.continues else kernel.uses[1:]
        for use in reads:
            maker = written.get(use.buffer)
            if maker is None:
                continue
            for w, r in zip(maker.forms, use.forms, strict=True):
                cut = {name for name in w.names if name in looped}
                if cut and w != r:
                    bad |= cut
        written[kernel.target.buffer] = kernel.target
    return bad


def touches(group: Group, buffer: str, kernels: tuple[Kernel, ...] | None = None) -> tuple[Use, ...]:
    """All accesses of kernels to a buffer."""
    return tuple(use for k in kernels or group.kernels for use in k.uses if use.buffer == buffer)
