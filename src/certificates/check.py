"""Following a certificate: regions that cover the space are closed by statements that hold."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random

from ..costs.hierarchy import mapping_as_json, parse_architecture, parse_mapping, parse_problem
from ..costs.hierarchy.parse import architecture_as_json, problem_as_json
from ..costs.hierarchy.values import LoopMapping
from ..costs.json_fields import Json, bad, list_of, number, object_of, read_json, text
from ..errors import TilewrightError
from .bounds import Bounds, price
from .space import GOALS, Question, Region

FORMAT = "tilewright certificate 1"

SLACK = 1 - 1e-9
"""Prices that differ by less are one price, as for `proven`."""

SPLIT, ARRAY, BOUND, PRICED = "sabp"
"""What is done with a region, a letter each, in the order in which regions are split."""

STATEMENTS = {ARRAY: "statement 1, arrays", BOUND: "statement 3, bounds", PRICED: "statement 4, prices"}

MAX_REGIONS = 2_000_000


@dataclass(frozen=True)
class Certificate:
    """That no mapping of `question` costs less than `mapping` by more than `gap` (0.01: 1 %).

    `steps` has a letter for each region, parents first.
    """

    question: Question
    mapping: LoopMapping
    steps: str
    gap: float = 0.0

    def as_json(self) -> Json:
        """The certificate's file."""
        question = self.question
        return {
            "format": FORMAT,
            "arch": architecture_as_json(question.arch),
            "problem": problem_as_json(question.problem),
            "objective": question.goal,
            "factors": "perfect",
            "bypass": question.bypass,
            "split_axes": question.split_axes,
            "dims": [question.problem.dims[d] for d in question.dims],
            "mapping": mapping_as_json(question.arch, question.problem, self.mapping),
            "gap": self.gap,
            "steps": self.steps,
        }


@dataclass(frozen=True)
class Checked:
    """An accepted certificate: its question, the price of its mapping, and how many regions each statement closed;
    `followed` of them were recomputed."""

    certificate: Certificate
    value: float
    closed: dict[str, int]
    followed: int
    mappings: int
    cpu_s: float


def parse_certificate(data: object, where: str) -> Certificate:
    """A certificate from its JSON form."""
    found = object_of(data, where)
    if found.get("format") != FORMAT or found.get("factors") != "perfect":
        raise bad(f"{where}.format", f"{FORMAT} of perfect factors", (found.get("format"), found.get("factors")))
    arch = parse_architecture(found.get("arch"), f"{where}.arch")
    problem = parse_problem(found.get("problem"), f"{where}.problem")
    goal, names = text(found, "objective", where), list_of(found.get("dims"), f"{where}.dims")
    if goal not in GOALS:
        raise bad(f"{where}.objective", f"one of {', '.join(GOALS)}", goal)
    if sorted(map(str, names)) != sorted(problem.dims):
        raise bad(f"{where}.dims", f"each of {', '.join(problem.dims)} once", names)
    flags = [found.get(name) for name in ("bypass", "split_axes")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise bad(f"{where}.bypass, split_axes", "true or false", flags)
    dims = tuple(problem.dims.index(str(name)) for name in names)
    question = Question(arch, problem, goal, bool(flags[0]), bool(flags[1]), dims)
    mapping = parse_mapping(found.get("mapping"), arch, problem, f"{where}.mapping")
    gap = number(found, "gap", where)
    if not 0 <= gap <= 1:
        raise bad(f"{where}.gap", "a number from 0 to 1", gap)
    return Certificate(question, mapping, text(found, "steps", where), gap)


def check_certificate(path: Path, sample: int | None = None, seed: int = 0) -> Checked:
    """Follow the certificate in a file; TilewrightError (kind `refuted`) where a step does not hold.

    With `sample` about so many of the closed regions are recomputed; all of them are seen to cover the space.
    """
    start, certificate = time.process_time(), parse_certificate(read_json(path), str(path))
    return Follower(certificate, str(path), sample, seed).follow(start)


class Follower:
    """Walks through the regions of a certificate."""

    def __init__(self, certificate: Certificate, where: str, sample: int | None, seed: int) -> None:
        self.certificate, self.where = certificate, where
        self.question, self.bounds = certificate.question, Bounds(certificate.question)
        closed = sum(letter != SPLIT for letter in certificate.steps)
        self.share = 1.0 if sample is None else sample / max(1, closed)
        self.random = Random(seed)
        self.closed = dict.fromkeys(STATEMENTS.values(), 0)
        self.followed = self.mappings = 0

    def follow(self, start: float) -> Checked:
        """The whole certificate."""
        question, steps = self.question, self.certificate.steps
        if len(steps) > MAX_REGIONS:
            raise bad(f"{self.where}.steps", f"at most {MAX_REGIONS} regions", len(steps))
        value = price(question.arch, question.problem, self.certificate.mapping, question.goal)
        if value == inf:
            raise self.refuted("the mapping", "one that fits", "one that does not")
        target = value * SLACK
        least, waiting, place = target * (1 - self.certificate.gap), [Region(question)], 0
        while waiting:
            region = waiting.pop()
            if place == len(steps):
                raise self.refuted("steps", "regions that cover the space", f"only {place}, and {region} is left")
            self.step(region, steps[place], place, (target, least))
            if steps[place] == SPLIT:
                waiting += reversed(list(self.bounds.open_parts(region, target, least)))
            place += 1
        if place < len(steps):
            raise self.refuted("steps", f"{place} regions", str(len(steps)))
        seconds = time.process_time() - start
        return Checked(self.certificate, value, self.closed, self.followed, self.mappings, seconds)

    def step(self, region: Region, letter: str, place: int, limits: tuple[float, float]) -> None:
        """One region, which must cost at least so much, or be empty, or be split."""
        subject = f"steps[{place}], {region}"
        if letter == SPLIT:
            if region.decided:
                raise self.refuted(subject, "a region with factors to decide", "a split")
            return
        if letter not in STATEMENTS:
            raise self.refuted(subject, f"one of {SPLIT}, {', '.join(STATEMENTS)}", letter)
        self.closed[STATEMENTS[letter]] += 1
        if self.random.random() >= self.share:
            return
        self.followed += 1
        if not self.holds(region, letter, *limits):
            raise self.refuted(subject, f"{STATEMENTS[letter]}, to close the region", "that it does not")

    def holds(self, region: Region, letter: str, target: float, least: float) -> bool:
        """Whether a statement closes a region."""
        if region.kept is None:
            return False
        if letter == ARRAY:
            return region.exceeds_array()
        if region.exceeds_array():
            return False
        if letter == BOUND:
            return self.bounds.least(region, target) >= least
        if not region.decided:
            return False
        question = self.question
        for mapping in region.mappings():
            self.mappings += 1
            if price(question.arch, question.problem, mapping, question.goal) < least:
                return False
        return True

    def refuted(self, subject: str, expected: str, found: str) -> TilewrightError:
        """The error of a certificate that does not hold."""
        lever = "the certificate proves nothing; have another one made"
        return TilewrightError("refuted", f"{self.where}: {subject}"[:300], expected, found[:300], lever)
