"""String literals that are never closed, found before the parser meets them."""

from pathlib import Path

import pytest

from tilewright.driver import load_model
from tilewright.errors import TilewrightError
from tilewright.frontends.mlir_text import check_strings
from tilewright.opt import main


@pytest.mark.parametrize("text", ["", 'a "b" c', r'"a\"b\n\0A"', '// it\'s "open\n"closed"', '"" ""'])
def test_closed(text: str) -> None:
    check_strings(text, "x.mlir")


@pytest.mark.parametrize(
    ("text", "place"),
    [('"', "1:1"), ('a\n b "c\n"d"', "2:4"), (r'"a\q"', "1:1"), ('"a" "' + 100_000 * "a", "1:5")],
)
def test_open(text: str, place: str) -> None:
    with pytest.raises(TilewrightError) as error:
        check_strings(text, "x.mlir")
    assert error.value.subject == f"x.mlir:{place}"


def test_tools_answer_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.mlir"
    path.write_text('"test.op"() {x = "' + 60 * "a" + "} : () -> ()\n")
    assert main([str(path)]) == 1
    assert "closed string literal" in capsys.readouterr().err
    with pytest.raises(TilewrightError, match="closed string literal"):
        load_model(path)
