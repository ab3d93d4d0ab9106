import pytest

from tilewright.cli.tables import energy, number, print_table, progress_bar, size


@pytest.mark.parametrize(
    ("value", "unit", "step", "text"),
    [
        (0, "", 1000, "0"),
        (999, "B", 1000, "999 B"),
        (1000, "B", 1000, "1.00 KB"),
        (3_141_592, "cycles", 1000, "3.14 Mcycles"),
        (0.25, "uJ", 1000, "0.25 uJ"),
        (1e30, "", 1000, "1000000000000000.00 P"),
    ],
)
def test_numbers(value: float, unit: str, step: int, text: str):
    assert number(value, unit, step) == text


@pytest.mark.parametrize(("energy_pj", "text"), [(0.5, "0.50 pJ"), (2e6, "2.00 uJ"), (3.5e12, "3.50 J")])
def test_energies(energy_pj: float, text: str):
    assert energy(energy_pj) == text


@pytest.mark.parametrize(("size_bytes", "text"), [(416, "416 B"), (8 * 2**20, "8.00 MiB"), (2**33, "8.00 GiB")])
def test_sizes(size_bytes: int, text: str):
    assert size(size_bytes) == text


def test_table(capsys: pytest.CaptureFixture[str]):
    print_table("Title", ["a", "b"], [["x", "1"], ["y", "2"]])
    out = capsys.readouterr().out
    assert "Title" in out
    assert out.index("x") < out.index("y")


def test_lines_of_a_table_that_no_terminal_shows_are_whole(capsys: pytest.CaptureFixture[str]):
    print_table("Title", [f"column {n}" for n in range(20)], [[f"{n}.25 K" for n in range(20)]])
    row = next(line for line in capsys.readouterr().out.splitlines() if "0.25 K" in line)
    assert all(f" {n}.25 K " in row for n in range(20))


def test_no_progress_bar_without_a_terminal():
    with progress_bar() as progress:
        assert progress is None
