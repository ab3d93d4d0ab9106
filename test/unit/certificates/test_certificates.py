"""Certificates: statements hold on enumerated spaces, and what is wrong is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from tilewright.certificates.bounds import Bounds
from tilewright.certificates.check import FORMAT, Certificate, Follower, parse_certificate
from tilewright.certificates.make import as_json
from tilewright.certificates.space import Floats, Lattice, Question, Region
from tilewright.cli import main
from tilewright.errors import TilewrightError
from tilewright.mapping import MapOptions, map_kernel
from tilewright.mapping.certify import certify

from .pairs import Pair, pair_of, regions_of

SEEDS, SOME = (*range(60), 104, 134), 4
"""Random pairs, and mappings of each that are compared with bounds.  In the last two the bound of energy anywhere is
tight, and a window rests on when others move."""

ROUNDING = 1 + 1e-9
ABOVE = 1 + 1e-5
"""Bounds are cut off where they reach what they are compared with."""


@cache
def pairs() -> list[Pair]:
    return [found for seed in SEEDS if (found := pair_of(seed, 300)) is not None]


@cache
def certificates() -> list[Certificate]:
    return [certify(p.question.arch, p.question.problem, p.priced[0][1], p.request) for p in pairs()]


def follow(certificate: Certificate, sample: int | None = None) -> Follower:
    follower = Follower(certificate, "certificate", sample)
    follower.follow()
    return follower


def wrongly_closed(pair: Pair) -> int:
    """Regions that a statement closes although a mapping in them fits and costs less."""
    bounds, found = Bounds(pair.question), 0
    for value, mapping in pair.priced[:: -(-len(pair.priced) // SOME)]:
        for region in regions_of(pair.question, mapping):
            found += region.exceeds_array() or bounds.least(region, value * ABOVE + 1e-30) > value * ROUNDING
    return found


def test_statements_hold_of_every_mapping() -> None:
    assert len(pairs()) > 12
    assert [wrongly_closed(pair) for pair in pairs()] == [0] * len(pairs())


def test_regions_split_into_all_mappings() -> None:
    for pair in pairs():
        for _, mapping in pair.priced:
            regions = [Region(pair.question), *regions_of(pair.question, mapping)]
            assert all(inner in outer.parts() for outer, inner in pairwise(regions))


def changed(method: str, change: Callable[[Any], Any], kind: type = Bounds) -> Callable[[pytest.MonkeyPatch], None]:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        right = getattr(kind, method)
        monkeypatch.setattr(kind, method, lambda *given, **named: change(right(*given, **named)))

    return patch


def without_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are taken for operands: what is first written, and never read, is not left out."""
    right = Bounds.crossing

    def crossing(self: Bounds, region: Region, t: int, c: int, lattice: Lattice) -> Any:
        output, self.output = self.output, [False] * len(self.output)
        try:
            return right(self, region, t, c, lattice) * (2 if output[t] else 1)
        finally:
            self.output = output

    monkeypatch.setattr(Bounds, "crossing", crossing)


def in_one_row(self: Question, place: int, factors: Sequence[int]) -> Iterator[Sequence[int]]:
    """Layouts of arrays without rows."""
    yield from [factors] if prod(factors) <= self.arrays[place][1] else []


def _of_each_tile(self: Lattice, tables: Sequence[Floats], dims: frozenset[int]) -> Floats:
    """The least by tile, without tiles that contain it."""
    return np.minimum.reduce([np.broadcast_to(table, self.shape) for table in tables])


FAULTS = {
    "bound": changed("by_tile", lambda found: found * 1.001),
    "units": changed("units", lambda found: found * 1.001),
    "cycles": changed("cycles", lambda found: found * 1.001),
    "costs to go": changed("_to_end", lambda found: found * 1.001),
    "costs to go of one memory": changed("_to_go", lambda found: found * 1.001),
    "costs between tiles": changed("_between", lambda found: found * 1.001),
    "costs anywhere": changed("_anywhere", lambda found: found * 1.001),
    "costs of words": changed("word", lambda found: (found[0] * 1.001, found[1] * 1.001)),
    "copies": changed("copies", lambda found: found * 2),
    "crossing": changed("crossing", lambda found: found * 1.001 + 0.001),
    "results": without_results,
    "operands": changed("operands", lambda found: found + 1),
    "free children": changed("free", lambda found: max(1, found // 2)),
    "memories": changed("fits", lambda found: np.where(found.cumsum().reshape(found.shape) < 3, np.inf, found)),
    "words of ports": changed("least_words", lambda found: [[2 * words for words in both] for both in found]),
    "first tiles": changed("first_tiles", lambda found: found + 1),
    "latency": changed("latency", lambda found: found + 1),
    "dimensions at rest": changed("free_dims", lambda found: frozenset()),
    "tensors that move one by one": changed("left", lambda found: {frozenset()}),
    "larger tiles": lambda patch: patch.setattr(Lattice, "least_beyond", _of_each_tile),
    "words of tiles": changed("tile_words", lambda found: found * 1.001, Lattice),
    "layouts": lambda patch: patch.setattr(
        Question,
        "layouts",
        lambda self, place, factors: iter([factors] if prod(factors) <= self.arrays[place][1] else []),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_sweep_catches_wrong_bounds(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    assert any(wrongly_closed(pair) for pair in pairs())


def test_certificates_are_accepted() -> None:
    for certificate in certificates():
        again = parse_certificate(json.loads(json.dumps(as_json(certificate))), "text")
        assert again == certificate
        follower = follow(again)
        assert follower.followed == sum(follower.closed.values()) == sum(step != "s" for step in again.steps)
        assert follow(again, 3).followed <= follower.followed
        assert again.gap == 0


def test_worse_mappings_have_no_certificate() -> None:
    tried = 0
    for pair, certificate in zip(pairs(), certificates(), strict=True):
        worse = next((mapping for value, mapping in pair.priced if value > pair.priced[0][0] * (1 + 1e-6)), None)
        if worse is None:
            continue
        tried += 1
        with pytest.raises(TilewrightError, match="expected"):
            follow(replace(certificate, mapping=worse))
        with pytest.raises(TilewrightError, match="no better mapping"):
            certify(pair.question.arch, pair.question.problem, worse, pair.request)
    assert tried > 5


def test_corrupted_steps_are_refused() -> None:
    refused = 0
    for certificate in certificates():
        steps = certificate.steps
        places = [place for place, step in enumerate(steps) if step in "bp"][:4]
        broken = [steps[:-1], steps + "b", "b" + steps[1:], steps.replace("s", "x", 1)]
        broken += [steps[:place] + "a" + steps[place + 1 :] for place in places]
        for wrong in broken:
            with pytest.raises(TilewrightError):
                follow(replace(certificate, steps=wrong))
            refused += 1
    assert refused > 60


def test_other_machines_are_refused() -> None:
    refused = 0
    for certificate in certificates():
        levels = certificate.question.arch.levels
        for n, level in enumerate(levels):
            cheaper = replace(level, energy_pj=level.energy_pj / 100, write_energy_pj=None)
            other = replace(certificate.question.arch, levels=(*levels[:n], cheaper, *levels[n + 1 :]))
            try:
                follow(replace(certificate, question=replace(certificate.question, arch=other)))
            except TilewrightError:
                refused += 1
    assert refused > 2


@pytest.mark.parametrize(
    ("changed", "subject"),
    [
        ({"format": "other"}, FORMAT),
        ({"factors": "imperfect"}, "perfect"),
        ({"objective": "area"}, "edp, energy, latency, dram"),
        ({"dims": ["m", "m"]}, "once"),
        ({"bypass": 1}, "True, False"),
        ({"gap": 2}, "from 0 to 1"),
        ({"steps": 3}, "steps"),
    ],
)
def test_other_forms_are_refused(changed: dict[str, Any], subject: str) -> None:
    with pytest.raises(TilewrightError, match=subject):
        parse_certificate({**as_json(certificates()[0]), **changed}, "text")
    with pytest.raises(TilewrightError, match="an object"):
        parse_certificate([], "text")


def test_large_spaces_are_refused_soon() -> None:
    question = certificates()[0].question
    huge = replace(question.problem, bounds=(2**10 * 3**10 * 5**5,) * len(question.problem.dims))
    with pytest.raises(TilewrightError, match="tiles"):
        list(Region(replace(question, problem=huge), question.keeps[0], ((1,) * len(question.arrays),) * 3).parts())


GEMM = "O[m,n] += A[m,k] * B[k,n]; m=4 n=4 k=4"
LARGE = "O[m,n] += A[m,k] * B[k,n]; m=512 n=512 k=512"


def test_real_layers_have_certificates() -> None:
    kernel = "O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=64"
    mapped = map_kernel(kernel, "conventional", MapOptions(factors="perfect", time_limit_s=20))
    certificate = parse_certificate(json.loads(mapped.certificate()), "text")
    assert certificate.gap == 0
    assert follow(certificate, 100).followed > 50


def test_the_time_limit_holds_for_certificates() -> None:
    kernel = "O[i,j] += A[i,k,l] * B[k,j] * C[l,j]; i=12096 k=9216 l=28800 j=32"
    mapped = map_kernel(kernel, "conventional", MapOptions(factors="perfect", time_limit_s=30))
    short = replace(mapped, request=replace(mapped.request, time_limit_s=mapped.mapped.cpu_s + 0.5))
    begun = process_time()
    certificate = parse_certificate(json.loads(short.certificate()), "text")
    assert process_time() - begun < 5
    assert certificate.gap == 1  # nothing is said in so short a time, and that is accepted
    follow(certificate)


def test_what_is_left_open_makes_a_gap() -> None:
    open_ones = 0
    for pair in pairs()[:7]:
        certificate = certify(pair.question.arch, pair.question.problem, pair.priced[0][1], pair.request, 12)
        follow(certificate)
        if certificate.gap > 1e-6:
            open_ones += 1
            with pytest.raises(TilewrightError, match="to close the region"):
                follow(replace(certificate, gap=certificate.gap * 0.9))
    assert open_ones > 1


@pytest.mark.parametrize(
    ("kernel", "options", "kind", "expected"),
    [
        (GEMM, MapOptions(factors="imperfect", time_limit_s=20), "unsupported", "perfect factors in the exact model"),
        (GEMM, MapOptions(model="timeloop", time_limit_s=20), "unsupported", "perfect factors in the exact model"),
        (LARGE, MapOptions(factors="perfect", mapper="random", time_limit_s=0.1), "unsupported", "proven best"),
        (
            "O[p+r] += A[p] * W[r]; p=4 r=3",
            MapOptions(factors="perfect", time_limit_s=20),
            "unsupported",
            "indices are no sums",
        ),
    ],
)
def test_what_has_no_statements_is_refused_by_name(kernel: str, options: MapOptions, kind: str, expected: str) -> None:
    with pytest.raises(TilewrightError, match=expected) as error:
        map_kernel(kernel, "conventional", options).certificate()
    assert error.value.kind == kind


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "best.json"
    command = ["map", GEMM, "--target", "tpu_like", "--factors", "perfect", "--certificate", str(path), "--json"]
    assert main(command) == 0
    mapped = json.loads(capsys.readouterr().out)
    assert main(["check", str(path), "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["edp"] == mapped["edp"]
    assert checked["proven"]
    assert checked["accepted"]
    assert not checked["refused"]
    assert 0 < checked["checked"] <= checked["regions"]
    assert main(["check", str(path)]) == 0
    assert "accepted: no mapping" in capsys.readouterr().out
    path.write_text(path.read_text().replace('"steps": "s', '"steps": "b'))
    assert main(["check", str(path)]) == 1
    assert "refuted" in capsys.readouterr().err


def test_statements_are_found_by_their_numbers() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs/exact-mapper.md").read_text()
    checked = "".join(path.read_text() for path in (root / "src/certificates").glob("*.py"))
    of_checker = re.findall(r"^\*\*(\d+)\. ", page, re.MULTILINE)
    assert of_checker == [
        number for number in of_checker if re.search(rf"(?i)statement {number}|{number}[a-d]:", checked)
    ]
    rows = re.findall(r"^\| (\d+) \|.*?\| (`[^|]*) \| (`[^|]*) \|$", page, re.MULTILINE)
    numbers = [int(number) for number in [*of_checker, *(row[0] for row in rows)]]
    assert numbers == [*range(1, 9), *range(10, 18)]  # 9 has left, others keep their numbers
    for number, files, tests in rows:
        for name in re.findall(r"`(\w+/\w+)`", files):
            text = (root / f"src/search/mapping/exact/{name}.py").read_text()
            assert re.search(rf"Statements? [\d and]*\b{number}\b", text), name
        for name in re.findall(r"`(test_\w+)`", tests):
            assert list((root / "test/unit/search/mapping/exact").glob(f"*/{name}.py")), name
