"""The ways to run a schedule, and the page that lists them."""

import re
from pathlib import Path

from tilewright.driver.pipelines import Room

PAGE = Path(__file__).parents[3] / "docs" / "default-flow.md"

CHANGED = {
    "hidden_share": 1 / 16,
    "rows_share": 1 / 2,
    "slack": 0,
    "span": 5,
    "unfold_worth": 1,
    "first": 5,
    "cuts": (5, 5, 5),
}
"""Fields that are no flags, with a value that is not the default one."""

UNNAMED = {"share", "unpadded"}
"""What the words do not tell: room that was too small."""


def test_words_of_all_ways_are_those_on_the_page():
    """In the first column of its table."""
    changed = {name: CHANGED.get(name, not default) for name, default in Room._field_defaults.items()}
    rooms = [Room()._replace(**{name: value}) for name, value in changed.items() if name not in UNNAMED]
    rooms += [Room(unfold=True, unfold_worth=1), Room(holes=True, slack=0)]
    text = ", ".join(room.words for room in rooms)
    text = (
        text.replace(" after", ", after").replace(" (rows not counted)", ", rows not counted").replace(" (slack 0)", "")
    )
    words = {re.sub(r"\b5\b", "N", each) for each in text.split(", ")} - {"schedule"}
    table = PAGE.read_text().partition("| words |")[2].partition("\n\n")[0]
    assert words == set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))
