"""Every file below this folder that has a RUN line is one test, run by lit inside pytest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lit.discovery
import lit.LitConfig
import pytest

from ..warm_commands import folder

SUFFIXES = (".mlir", ".acg", ".test")


@cache
def lit_config() -> Any:
    os.environ["WARM_COMMANDS"] = str(folder())
    return lit.LitConfig.LitConfig(
        progname="pytest",
        path=[],
        diagnostic_level="note",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="lexical",
        params={},
    )


class LitFile(pytest.File):
    def collect(self) -> Iterator[LitItem]:
        yield LitItem.from_parent(self, name="lit")


class LitItem(pytest.Item):
    def runtest(self) -> None:
        (test,) = lit.discovery.find_tests_for_inputs(lit_config(), [str(self.path)])
        result = test.config.test_format.execute(test, lit_config())
        if result.code.isFailure:
            pytest.fail(f"{result.code.name}: {result.output}", pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    if file_path.suffix in SUFFIXES:
        return LitFile.from_parent(parent, path=file_path)
    return None
