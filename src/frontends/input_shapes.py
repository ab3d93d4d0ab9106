"""What a caller says about the shapes of a model's inputs, where its file leaves them open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

from ..errors import TilewrightError, check_type
from ..option_fields import check_fields

MAX_EXTENT = 1 << 31
"""The largest extent that a caller may give."""


@dataclass(frozen=True)
class InputShapes:
    """Extents for what a model's file leaves open.

    `batch` is the leading extent of the inputs, `shapes` has whole shapes by input, `dims` the extents that the file
    calls by a name.  What the file fixes stays: another number is refused.
    """

    batch: int | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    dims: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        """Refuse what is no extent."""
        check_fields(self)
        given = [("--batch", self.samples)] + [(f"--dim {name}", extent) for name, extent in self.dims.items()]
        given += [(f"--shape {name}", extent) for name, shape in self.shapes.items() for extent in shape]
        for subject, extent in given:
            check_type(subject, extent, Integral, "a whole number")
            if not 1 <= extent <= MAX_EXTENT:
                raise TilewrightError("usage", subject, f"at least 1, at most {MAX_EXTENT}", str(extent))

    def __bool__(self) -> bool:
        return self.batch is not None or bool(self.shapes) or bool(self.dims)

    @property
    def samples(self) -> int:
        """The batch, 1 where nothing is said."""
        return 1 if self.batch is None else self.batch

    def refuse_names(self, subject: str) -> None:
        """Refuse `shapes` and `dims` for `subject`, which is no file with open extents."""
        for option, given in (("--shape", self.shapes), ("--dim", self.dims)):
            if given:
                expected = f"a model in a file, whose inputs {option} can name"
                raise TilewrightError("usage", option, expected, subject, f"leave out {option}")

    def refuse(self, subject: str) -> None:
        """Refuse whatever is given for `subject`, which has its shapes in it: a kernel with bounds, a program."""
        self.refuse_names(subject)
        if self.batch is not None:
            expected = "a model or network, whose batch can be chosen"
            raise TilewrightError("usage", "--batch", expected, subject, "leave out --batch")

    def check_fixed(self, subject: str, inputs: Mapping[str, Sequence[int]]) -> None:
        """Refuse what differs from the shapes of `inputs`, all of which the file of `subject` fixes."""
        lever = "its inputs are fixed: leave the option out, or export the model with open extents"
        for name, shape in self.shapes.items():
            if name not in inputs:
                raise unknown_name("--shape", name, "an input", inputs)
            if tuple(inputs[name]) != shape:
                raise TilewrightError("shape", f"--shape {name}", shape_text(inputs[name]), shape_text(shape), lever)
        for name in self.dims:
            raise unknown_name("--dim", name, "an open extent", ())
        leading = next((shape[0] for shape in inputs.values() if len(shape)), None)
        if self.batch is not None and self.batch != leading:
            found = f"--batch {self.batch}"
            raise TilewrightError("batch", subject, f"the file's batch of {leading}", found, lever)


def shape_text(shape: Sequence[object]) -> str:
    """A shape as `--shape` takes it: `1x3x8x8`."""
    return "x".join(map(str, shape)) or "scalar"


def unknown_name(option: str, name: str, what: str, known: Mapping[str, object] | Sequence[str]) -> TilewrightError:
    """The error about a name that the file does not have."""
    listed = ", ".join(map(repr, list(known)[:20]))
    expected = f"{what} of the model: {listed}" if listed else f"{what} of the model, which has none"
    return TilewrightError("shape", f"{option} {name}", expected, repr(name))
