"""What a reader finds in MLIR text, whatever its dialect: functions of operations with operands, words and values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ...errors import TilewrightError

Array = NDArray[Any]

LINEAR_CONSTANT = -1
"""The key of the constant in a row of an affine map."""


@dataclass(frozen=True)
class Type:
    """A scalar type (`shape` None), a tensor of elements (an open extent is None), or another type as its text."""

    element: str
    shape: tuple[int | None, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return self.element
        extents = "".join("?x" if extent is None else f"{extent}x" for extent in self.shape)
        return f"tensor<{extents}{self.element}>"


@dataclass(frozen=True)
class Dense:
    """A constant tensor: its elements, or one number for all of them."""

    array: Array
    type: Type


@dataclass(frozen=True)
class AffineMap:
    """Rows `sum(coefficient * dim) + constant` of a map of `dims` dims; the constant stands at `LINEAR_CONSTANT`."""

    dims: int
    rows: tuple[dict[int, int], ...]


@dataclass(frozen=True)
class Reference:
    """A value of the function where an attribute may stand: an operand in a list of sizes."""

    name: str


@dataclass
class Region:
    """Arguments and operations of a block."""

    arguments: list[tuple[str, Type]] = field(default_factory=list[tuple[str, Type]])
    ops: list[Op] = field(default_factory=list["Op"])


@dataclass
class Op:
    """An operation: `results` with how many values each stands for, and whatever its text has.

    `groups` are operands in parentheses behind a word (`ins`, `outs`); they are among `operands`, too.  `lists` are
    those in brackets without a name, `values` constants without a name.
    """

    name: str
    line: int
    results: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    operands: list[str] = field(default_factory=list[str])
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    words: list[str] = field(default_factory=list[str])
    lists: list[list[Any]] = field(default_factory=list[list[Any]])
    values: list[Any] = field(default_factory=list[Any])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    regions: list[Region] = field(default_factory=list[Region])
    operand_types: list[Type] = field(default_factory=list[Type])
    result_types: list[Type] = field(default_factory=list[Type])

    @property
    def type(self) -> Type:
        """The type of the first result."""
        if not self.result_types:
            raise self.error("a result type", "none", kind="parse")
        return self.result_types[0]

    def error(self, expected: str, found: str, lever: str = "", kind: str = "unsupported") -> TilewrightError:
        """The error about this operation; its line is the reader's."""
        return TilewrightError(kind, f"{self.name} (line {self.line})", expected, found, lever)

    def integers(self, name: str, default: list[int] | None = None) -> list[int]:
        """The integers of attribute `name`, one number being one for all of a vector."""
        value = self.attributes.get(name, default)
        if isinstance(value, Dense):
            shape = tuple(e or 0 for e in value.type.shape or ())
            value = (
                [value.array.item()] * min(shape[0], 64) if value.array.ndim == 0 and shape else value.array.tolist()
            )
        if value is None:
            raise self.error(f"integers as {name}", "none", kind="parse")
        return self.whole_numbers(value, name)

    def whole_numbers(self, values: object, name: str) -> list[int]:
        """The list `values`, which has to be one of integers."""
        if not isinstance(values, list | tuple) or not all(isinstance(value, int) for value in values):
            raise self.error(f"integers as {name}", str(values)[:80])
        return [value for value in values if isinstance(value, int)]

    def dictionary(self, name: str) -> dict[str, Any]:
        """The attribute `name` that has parts with names; empty where there is none."""
        value = self.attributes.get(name, {})
        if not isinstance(value, dict):
            raise self.error(f"parts with names as {name}", str(value)[:80], kind="parse")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """The integer attribute `name`."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise self.error(f"an integer as {name}", "none" if value is None else str(value)[:80], kind="parse")
        return value

    def region(self) -> Region:
        """The only region."""
        if len(self.regions) != 1:
            raise self.error("one region", str(len(self.regions)), kind="parse")
        return self.regions[0]


@dataclass
class Function:
    """A function: arguments, result types, names that the text gives to results, and its body."""

    name: str
    line: int
    body: Region
    attributes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Those of each argument."""
    results: list[Type] = field(default_factory=list[Type])
    result_names: list[str] = field(default_factory=list[str])
    private: bool = False


@dataclass
class Source:
    """A module."""

    functions: dict[str, Function] = field(default_factory=dict[str, Function])
