"""Shapes that a model's file leaves open, completed by what the caller says."""

import logging
from collections.abc import Mapping, Sequence
from shlex import quote

from ..errors import TilewrightError
from .input_shapes import InputShapes, unknown_name
from .input_shapes import shape_text as option_text

Extent = int | str | None
"""A number, the name of an open extent, or None where it is open without a name."""

logger = logging.getLogger(__name__)


def closed_shapes(declared: Mapping[str, tuple[Extent, ...] | None], given: InputShapes) -> dict[str, tuple[int, ...]]:
    """The shape of each input, of which the file says what is `declared` (None where it says nothing).

    A named extent is the same in all inputs.  `given.batch` is for the leading extents that are open, and has to be
    that of the first of them; where none is, that of the first input.  Where nothing is said, an open leading extent
    is 1, with a warning; any other is refused with the options that would fix it.
    """
    open_shapes = _OpenShapes(declared)
    for name, extent in given.dims.items():
        open_shapes.name_extent(name, extent)
    for name, shape in given.shapes.items():
        open_shapes.give(name, shape)
    if given.batch is not None:
        open_shapes.give_batch(given.batch)
    else:
        open_shapes.assume_batch()
    return open_shapes.closed()


class _OpenShapes:
    """Shapes of inputs while their open extents become known."""

    def __init__(self, declared: Mapping[str, tuple[Extent, ...] | None]) -> None:
        self.shapes: dict[str, tuple[Extent, ...] | None] = dict(declared)
        self.declared = declared
        self.named: dict[str, tuple[int, str]] = {}  # an extent's number, and which option gave it

    def known_names(self) -> list[str]:
        shapes = [shape for shape in self.declared.values() if shape is not None]
        return list(dict.fromkeys(extent for shape in shapes for extent in shape if isinstance(extent, str)))

    def name_extent(self, name: str, extent: int) -> None:
        if name not in self.known_names():
            raise unknown_name("--dim", name, "an open extent", self.known_names())
        self._bind(name, extent, f"--dim {name}={extent}")

    def _bind(self, name: str, extent: int, option: str) -> None:
        before, source = self.named.setdefault(name, (extent, option))
        if before != extent:
            expected = f"the {before} of {source} for extent {name!r}"
            raise TilewrightError("shape", option, expected, str(extent), "give each extent one number")
        self.shapes = {
            key: None if shape is None else tuple(extent if e == name else e for e in shape)
            for key, shape in self.shapes.items()
        }

    def give(self, name: str, shape: tuple[int, ...]) -> None:
        if name not in self.shapes:
            raise unknown_name("--shape", name, "an input", self.shapes)
        declared, option = self.declared[name], f"--shape {name}={option_text(shape)}"
        self.shapes[name] = shape
        if declared is None:
            return
        fits = len(declared) == len(shape) and all(
            not isinstance(old, int) or old == new for old, new in zip(declared, shape, strict=True)
        )
        if not fits:
            lever = "the numbers in the file are fixed; only open extents can be given"
            raise TilewrightError("shape", option, f"the file's {shape_text(declared)}", shape_text(shape), lever)
        for old, new in zip(declared, shape, strict=True):
            if isinstance(old, str):
                self._bind(old, new, option)

    def open_leading(self) -> list[str]:
        """The inputs whose leading extent is open."""
        return [name for name, shape in self.shapes.items() if shape and not isinstance(shape[0], int)]

    def give_batch(self, batch: int) -> None:
        self._lead(batch, f"--batch {batch}")
        opened = [self.shapes[name] for name, shape in self.declared.items() if shape and not isinstance(shape[0], int)]
        first = next((shape for shape in opened or self.shapes.values() if shape), None)
        if first is not None and first[0] != batch:
            lever = "leave out --batch, or export the model with an open leading extent"
            raise TilewrightError("batch", "model", f"the file's batch of {first[0]}", f"--batch {batch}", lever)

    def _lead(self, batch: int, option: str) -> None:
        for name in self.open_leading():
            shape = self.shapes[name]
            if not shape or isinstance(shape[0], int):  # known since the extent's name is
                continue
            if shape[0] is None:
                self.shapes[name] = (batch, *shape[1:])
            else:
                self._bind(shape[0], batch, option)

    def assume_batch(self) -> None:
        names = self.open_leading()
        if names and not self._open_elsewhere():
            which = ", ".join(f"{name!r} {shape_text(self.declared[name])}" for name in names[:5])
            logger.warning("batch 1 is assumed for input %s, whose leading extent is open; see --batch", which)
            self._lead(1, "the batch of 1 that is assumed")

    def _open_elsewhere(self) -> bool:
        leading = {shape[0] for shape in self.shapes.values() if shape}
        return any(
            shape is None or any(not isinstance(e, int) and (e is None or e not in leading) for e in shape[1:])
            for shape in self.shapes.values()
        )

    def closed(self) -> dict[str, tuple[int, ...]]:
        """The shapes, which must be known by now."""
        closed: dict[str, tuple[int, ...]] = {}
        for name, shape in self.shapes.items():
            numbers = tuple(extent for extent in shape or () if isinstance(extent, int))
            if shape is None or len(numbers) < len(shape):
                found = shape_text(self.declared[name])
                raise TilewrightError("shape", f"input {name!r}", "a static shape", found, self._lever())
            closed[name] = numbers
        return closed

    def _lever(self) -> str:
        """The options that would fix what is open, with extents as an example."""
        options: dict[str, None] = {}
        for name, shape in self.shapes.items():
            if shape is None:
                options[f"--shape {name}=1x3x224x224"] = None
            elif any(extent is None for extent in shape):
                numbers = [e if isinstance(e, int) else _example(axis, len(shape)) for axis, e in enumerate(shape)]
                options[f"--shape {name}={option_text(numbers)}"] = None
            else:
                for axis, extent in enumerate(shape):
                    if isinstance(extent, str):
                        options[f"--dim {extent}={_example(axis, len(shape))}"] = None
        return f"fix it with the extents that you want, such as {' '.join(map(_quoted, options))}"


def _quoted(option: str) -> str:
    """An option as a shell takes it."""
    word, _, value = option.partition(" ")
    return f"{word} {quote(value)}"


def _example(axis: int, rank: int) -> int:
    """A usual extent: batch 1, 3 channels of 224 rows and columns, 128 tokens."""
    if axis == 0:
        return 1
    return (3 if axis == 1 else 224) if rank == 4 else 128


def shape_text(shape: Sequence[Extent] | None) -> str:
    """A shape as messages have it; `?` is open without a name."""
    if shape is None:
        return "no shape"
    return f"[{', '.join('?' if extent is None else str(extent) for extent in shape)}]"
