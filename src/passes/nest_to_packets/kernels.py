"""Programs of several kernels as data: statements over named values, and what can be done in one statement.

A sum that starts from another value is a sum and an addition; an elementwise statement whose values only one other
reads, each once, is done where they are read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from ...algebra.element import ELEMENT_TYPES, Array
from ...algebra.expr import (
    Access,
    Call,
    Expr,
    Name,
    Num,
    Statement,
    accesses_of,
    dims_of,
    factors_of,
    reduction_dims,
    substitute,
    substitute_statement,
    sums_pairs,
    walk,
)
from ...errors import TilewrightError
from ..accesses import with_accesses
from .ranges import Range, range_of, range_of_type, within

MOST_CALLS = 48
"""Functions in a statement that others are taken into."""

REDUCTIONS = {"+=": "add", "max=": "max", "min=": "min"}
"""The function that joins two values of a reduction."""


@dataclass(frozen=True)
class Value:
    """A tensor; `array` are its elements if they are constant."""

    shape: tuple[int, ...]
    type_name: str
    array: Array | None = None

    @property
    def elements(self) -> int:
        """How many there are."""
        return prod(self.shape)


@dataclass(frozen=True)
class Step:
    """A statement over values, which are its tensors' names; with `into` the target goes on from that value.

    `layer` is what errors call the layer that it is of.
    """

    name: str
    statement: Statement
    extents: Mapping[str, int]
    pads: Mapping[str, int] = field(default_factory=dict[str, int])
    into: str = ""
    layer: str = ""

    @property
    def target(self) -> Access:
        """The access that is written."""
        assert isinstance(self.statement.target, Access)
        return self.statement.target

    @property
    def result(self) -> str:
        """The value that is made."""
        return self.target.tensor

    @cached_property
    def read(self) -> tuple[Access, ...]:
        """The accesses that are read."""
        return tuple(access for access in accesses_of(self.statement.value) if isinstance(access, Access))

    @property
    def elementwise(self) -> bool:
        """Whether each element is a function of others at its place."""
        return self.statement.reduce == "=" and not self.into and not self.pads


@dataclass(frozen=True)
class Program:
    """Steps in order; `inputs` and `outputs` by the function's names; `aliases` are values that are others reshaped.

    `weights` are constant values by the names of their arrays.
    """

    steps: tuple[Step, ...]
    values: Mapping[str, Value]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    weights: Mapping[str, str] = field(default_factory=dict[str, str])

    def uses(self) -> dict[str, int]:
        """How often each value is read: by accesses, as something to go on from, reshaped, or as an output."""
        counts: dict[str, int] = dict.fromkeys(self.values, 0)
        read = [access.tensor for step in self.steps for access in step.read]
        read += [step.into for step in self.steps if step.into]
        for name in (*read, *self.aliases.values(), *self.outputs.values()):
            counts[name] += 1
        return counts


def limits_of(program: Program) -> dict[str, Range]:
    """The range of each value."""
    limits: dict[str, Range] = {}
    for name, value in program.values.items():
        limits[name] = range_of_type(value.type_name)
        if value.array is not None and value.array.size:
            limits[name] = int(value.array.min()), int(value.array.max())
    written: set[str] = set()
    for step in program.steps:
        found = range_of(step.statement.value, limits)
        if any(step.pads.values()):
            around = {**limits, **{n: (min(limits[n][0], p), max(limits[n][1], p)) for n, p in step.pads.items()}}
            found = range_of(step.statement.value, around)
        if step.statement.reduce == "+=":
            count = prod(step.extents[dim] for dim in reduction_dims(step.statement))
            found = min(count * found[0], 0), max(count * found[1], 0)
        whole = range_of_type(program.values[step.result].type_name)
        if step.into:
            found = min(found[0], limits[step.into][0]), max(found[1], limits[step.into][1])
        found = found if within(found, whole) else whole
        if step.result in written:
            found = min(found[0], limits[step.result][0]), max(found[1], limits[step.result][1])
        written.add(step.result)
        limits[step.result] = found
        for alias, source in program.aliases.items():
            if source == step.result:
                limits[alias] = limits[source]
    return limits


def joined(program: Program) -> Program:
    """The program with initial values added after sums, and elementwise statements taken into those that read them."""
    program = replace(program, steps=tuple(_started(program)), values=dict(program.values))
    program = _in_place(_split(program))
    limits = limits_of(program)  # of all values: what is taken in has the range that it had as a value
    while (shorter := _taken_in(program, limits)) is not None:
        program = shorter
    return program


def _started(program: Program) -> list[Step]:
    """Without `into` where a statement writes every element of its result anew."""
    return [
        replace(step, into="") if step.into and step.statement.reduce == "=" and _covers(step, program) else step
        for step in program.steps
    ]


def _covers(step: Step, program: Program) -> bool:
    shape = program.values[step.result].shape
    sizes = [step.extents[i.id] if isinstance(i, Name) else 1 if i == Num(0) else 0 for i in step.target.indices]
    return tuple(sizes) == shape


def _split(program: Program) -> Program:
    """Reductions that go on from a value: the reduction alone, then both together."""
    steps, values = list[Step](), dict(program.values)
    for step in program.steps:
        if not step.into or step.statement.reduce == "=":
            steps.append(step)
            continue
        alone = f"{step.result}_alone"
        values[alone] = replace(values[step.result], array=None)
        target, fn = Access(alone, step.target.indices), REDUCTIONS[step.statement.reduce]
        steps.append(replace(step, statement=replace(step.statement, target=target), into=""))
        together = Call(fn, (target, Access(step.into, step.target.indices)))
        extents = {dim: step.extents[dim] for dim in dims_of(Statement(step.target, "=", Num(0)))}
        steps.append(Step(f"{step.name}_{fn}", Statement(step.target, "=", together), extents, layer=step.layer))
    return replace(program, steps=tuple(steps), values=values)


def _in_place(program: Program) -> Program:
    """Values that are overwritten in part under the name of what is there afterwards."""
    for number, step in enumerate(program.steps):
        old, new = step.into, step.result
        if not old:
            continue
        if old in program.inputs.values() or program.values[old].array is not None:
            raise TilewrightError("unsupported", step.name, "to overwrite a value that is computed", "another")
        steps = [
            replace(s, statement=substitute_statement(s.statement, tensors={old: new}),
                    into=new if s.into == old else s.into, pads={new if n == old else n: p for n, p in s.pads.items()})
            for s in program.steps
        ]  # fmt: skip
        steps[number] = replace(steps[number], into="")
        outputs = {name: new if value == old else value for name, value in program.outputs.items()}
        aliases = {name: new if value == old else value for name, value in program.aliases.items()}
        values = {name: value for name, value in program.values.items() if name != old}
        program = replace(program, steps=tuple(steps), outputs=outputs, aliases=aliases, values=values)
    return program


def _taken_in(program: Program, limits: Mapping[str, Range]) -> Program | None:
    """One step fewer; None where no step can be taken into another."""
    uses, writers = program.uses(), Counter(step.result for step in program.steps)
    for i, step in enumerate(program.steps):
        if not step.elementwise or uses[step.result] != 1 or writers[step.result] > 1 or not _covers(step, program):
            continue
        for j in range(i + 1, len(program.steps)):
            reader = program.steps[j]
            if step.result in [access.tensor for access in reader.read]:
                value = _value_at(program, step, limits)
                statement = _with(program, step, reader, value) if value is not None else None
                if statement is not None:
                    steps = (*program.steps[:i], *program.steps[i + 1 : j])
                    taken = replace(reader, statement=statement)
                    return replace(program, steps=(*steps, taken, *program.steps[j + 1 :]))
    return None


def _value_at(program: Program, step: Step, limits: Mapping[str, Range]) -> Expr | None:
    """A step's value as its result holds it; None where it would have to wrap."""
    name = program.values[step.result].type_name
    found = range_of(step.statement.value, limits)
    return step.statement.value if within(found, range_of_type(name)) else None


def _with(program: Program, step: Step, reader: Step, value: Expr) -> Statement | None:
    """The reader's statement with a step's value in it; None where it would be computed more than once, or too long."""
    access = next(access for access in reader.read if access.tensor == step.result)
    elements = program.values[step.result].elements
    if prod(reader.extents[dim] for dim in dims_of(reader.statement)) != elements:
        return None
    if step.result in reader.pads or reader.into:
        return None
    if not all(isinstance(index, Name | Num) for index in reader.target.indices):
        return None  # copies to other lanes are bytes moved as they are
    if reader.statement.reduce != "=" and is_byte_product(reader.statement, program.values):
        return None
    calls = [e for inner in (value, reader.statement.value) for e in walk(inner) if isinstance(e, Call)]
    if len(calls) > MOST_CALLS:
        return None
    pairs = zip(step.target.indices, access.indices, strict=True)
    names = {index.id: at for index, at in pairs if isinstance(index, Name)}
    placed = substitute(value, names)
    return replace(reader.statement, value=replaced(reader.statement.value, access, placed))


def is_byte_product(statement: Statement, values: Mapping[str, Value]) -> bool:
    """Whether a statement sums products of two tensors of bytes."""
    types = [values[factor.tensor].type_name for factor in factors_of(statement.value)]
    return sums_pairs(statement) and all(ELEMENT_TYPES[type_name].itemsize == 1 for type_name in types)


def replaced(expr: Expr, access: Access, value: Expr) -> Expr:
    """An expression with a value in the place of an access."""
    return with_accesses(expr, lambda found: value if found == access else found)
