"""What the page unpacks is the run."""

import base64
import zlib

import numpy as np

from tilewright.backends.assembler import disassemble
from tilewright.backends.report.page.timeline import COLUMNS, pack_timeline, packed
from tilewright.backends.simulator.waiting import waits_of

from .conftest import Report


def test_columns_are_the_instructions(report: Report):
    stream, issues = report.result.stream, report.result.issues
    assert stream is not None
    text, plans = pack_timeline(stream, issues, waits_of(stream, issues))
    steps, kinds, units, _ = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<f8").reshape(len(COLUMNS), -1)
    last = [0.0] * len(stream.machine.units)
    ends: list[float] = []
    for step, kind, unit in zip(steps, kinds, units, strict=True):
        last[int(unit)] += step
        ends.append(last[int(unit)] + plans[int(kind)]["cycles"])
    assert ends == [issue.end_cycle for issue in sorted(issues, key=lambda issue: issue.index)]
    assert max(ends) == report.result.cycles


def test_assembly_is_in_the_page(report: Report):
    assert packed(disassemble(report.program.machine, report.program.code).encode()) in report.page.read_text()
