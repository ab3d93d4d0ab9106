"""A program's kernels as a graph of values, each written once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ....algebra.affine import Affine
from ....algebra.expr import Access, Num
from ...mapping.problem import Group, Kernel


@dataclass(frozen=True)
class Value:
    """A tensor's contents; `external`: an input or a weight, off chip from the beginning."""

    shape: tuple[int, ...]
    element_bytes: int
    external: bool = False

    @property
    def bytes(self) -> int:
        """All of it."""
        return prod(self.shape) * self.element_bytes


@dataclass(frozen=True)
class Read:
    """An access of a kernel; reads out of a `padded` value's bounds give a constant."""

    value: int
    tensor: str
    forms: tuple[Affine, ...]
    padded: bool


@dataclass(frozen=True)
class Step:
    """A kernel that makes `target` out of what it reads, and of `init`, which it continues or writes into."""

    name: str
    kernel: Kernel
    extents: Mapping[str, int]
    target: int
    reads: tuple[Read, ...]
    init: int | None

    @property
    def sources(self) -> tuple[int, ...]:
        """Values that it reads, continues or writes into."""
        return (*(read.value for read in self.reads), *(() if self.init is None else (self.init,)))

    @property
    def is_free(self) -> bool:
        """Whether it only moves or fills: it may become part of a transfer, or of where things lie."""
        value, types = self.kernel.statement.value, {name for _, name in self.kernel.types}
        return (
            self.kernel.statement.reduce == "="
            and (isinstance(value, Num) or isinstance(value, Access))
            and (len(types) == 1)
        )


@dataclass(frozen=True)
class View:
    """The same bytes under another shape."""

    source: int
    target: int

    @property
    def sources(self) -> tuple[int, ...]:
        """The one."""
        return (self.source,)


@dataclass(frozen=True)
class Join:
    """Values side by side along an axis."""

    sources: tuple[int, ...]
    axis: int
    target: int


@dataclass(frozen=True)
class Network:
    """Values, what makes them in order, and which of them are different results."""

    values: tuple[Value, ...]
    steps: tuple[Step | View | Join, ...]
    outputs: tuple[int, ...]


@dataclass
class NetworkBuilder:
    """Collects a network; values are known by number."""

    values: list[Value] = field(default_factory=list[Value])
    steps: list[Step | View | Join] = field(default_factory=list[Step | View | Join])

    def add_tensor(self, shape: Sequence[int], element_bytes: int) -> int:
        """An input or a weight."""
        return self._value(shape, element_bytes, True)

    def add_group(self, group: Group, inputs: Mapping[str, int], name: str = "") -> dict[str, int]:
        """The kernels of a group called `name` on values by buffer; gives what each buffer holds at last."""
        held = dict(inputs)
        for kernel in group.kernels:
            target, padded = kernel.target, set(kernel.padded)
            reads = tuple(Read(held[u.buffer], u.tensor, u.forms, u.tensor in padded) for u in kernel.uses[1:])
            buffer = group.by_name[target.buffer]
            value = self._value(buffer.shape, buffer.element_bytes, False)
            init = held.get(target.buffer) if kernel.continues else None
            called = f"{name}.{kernel.name}" if name else kernel.name
            self.steps.append(Step(called, kernel, group.extents, value, reads, init))
            held[target.buffer] = value
        return held

    def add_view(self, source: int, shape: Sequence[int]) -> int:
        """A value under another shape."""
        target = self._value(shape, self.values[source].element_bytes, False)
        self.steps.append(View(source, target))
        return target

    def add_join(self, sources: Sequence[int], axis: int, shape: Sequence[int]) -> int:
        """Values side by side."""
        target = self._value(shape, self.values[sources[0]].element_bytes, False)
        self.steps.append(Join(tuple(sources), axis, target))
        return target

    def network(self, outputs: Sequence[int]) -> Network:
        """What was collected; results that are the same bytes as others, inputs or weights need no stores."""
        seen = {step.target: step.source for step in self.steps if isinstance(step, View)}
        roots: dict[int, None] = {}
        for value in outputs:
            while value in seen:
                value = seen[value]
            if not self.values[value].external:
                roots[value] = None
        return Network(tuple(self.values), tuple(self.steps), tuple(roots))

    def _value(self, shape: Sequence[int], element_bytes: int, external: bool) -> int:
        self.values.append(Value(tuple(shape), element_bytes, external))
        return len(self.values) - 1
