"""What a caller says about shapes, checked against files that fix theirs."""

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes

INPUTS = {"scale": (), "x": (4, 3)}


@pytest.mark.parametrize("shapes", [InputShapes(), InputShapes(4), InputShapes(shapes={"x": (4, 3), "scale": ()})])
def test_the_same_numbers_are_taken(shapes: InputShapes) -> None:
    shapes.check_fixed("a.mlir", INPUTS)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (InputShapes(2), ("a.mlir", "the file's batch of 4", "--batch 2")),
        (InputShapes(shapes={"x": (1, 3)}), ("--shape x", "4x3", "1x3")),
        (InputShapes(shapes={"y": (1, 3)}), ("--shape y", "'scale', 'x'")),
        (InputShapes(dims={"n": 1}), ("--dim n", "none")),
    ],
)
def test_other_numbers_and_names_are_refused(shapes: InputShapes, words: tuple[str, ...]) -> None:
    with pytest.raises(TilewrightError) as caught:
        shapes.check_fixed("a.mlir", INPUTS)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("extent", [0, -1, 1 << 40])
def test_extents_have_a_range(extent: int) -> None:
    for wrong in (lambda: InputShapes(extent), lambda: InputShapes(shapes={"x": (1, extent, 1)})):
        with pytest.raises(TilewrightError, match="at least 1, at most"):
            wrong()
    with pytest.raises(TilewrightError, match="--dim n"):
        InputShapes(dims={"n": extent})
