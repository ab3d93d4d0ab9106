"""Tables as files: CSV, and Parquet, which keeps types."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..extras import extra
from ..files import replacing

Rows = Sequence[Mapping[str, Any]]


def columns_of(rows: Rows) -> list[str]:
    """The keys of all rows, as they come."""
    return list(dict.fromkeys(name for row in rows for name in row))


def write_csv(path: Path, rows: Rows) -> None:
    """A line for each row, below one with the names of the columns."""
    with replacing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns_of(rows))
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(path: Path, rows: Rows, option: str) -> None:
    """The columns of `write_csv`; `TilewrightError` (kind `usage`, for `option`) without the extra `parquet`."""
    arrow, parquet = (extra(name, "parquet", option) for name in ("pyarrow", "pyarrow.parquet"))
    table = arrow.table({name: [row.get(name) for row in rows] for name in columns_of(rows)})
    with replacing(path) as place:
        parquet.write_table(table, place)
