"""Following a certificate: regions that cover the space are closed by statements that hold."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random

from ..costs.hierarchy import LoopMapping, parse_architecture, parse_mapping, parse_problem
from ..costs.json_fields import bad, list_of, number, object_of, read_json, text
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


def parse_certificate(data: object, where: str) -> Certificate:
    """A certificate from its JSON form, which `make.as_json` writes."""
    found = object_of(data, where)
    arch = parse_architecture(found.get("arch"), f"{where}.arch")
    problem = parse_problem(found.get("problem"), f"{where}.problem")
    words = {"format": (FORMAT,), "factors": ("perfect",), "objective": GOALS}
    for key, values in {**words, "bypass": (True, False), "split_axes": (True, False)}.items():
        if type(found.get(key)) is not type(values[0]) or found.get(key) not in values:
            raise bad(f"{where}.{key}", f"one of {', '.join(map(str, values))}", found.get(key))
    names = list(map(str, list_of(found.get("dims"), f"{where}.dims")))
    if sorted(names) != sorted(problem.dims):
        raise bad(f"{where}.dims", f"each of {', '.join(problem.dims)} once", names)
    if not 0 <= (gap := number(found, "gap", where)) <= 1:
        raise bad(f"{where}.gap", "a number from 0 to 1", gap)
    dims = tuple(map(problem.dims.index, names))
    goal, bypass, split_axes = text(found, "objective", where), bool(found["bypass"]), bool(found["split_axes"])
    question = Question(arch, problem, goal, bypass, split_axes, dims)
    mapping = parse_mapping(found.get("mapping"), arch, problem, f"{where}.mapping")
    return Certificate(question, mapping, text(found, "steps", where), gap)


def check_certificate(path: Path, sample: int | None = None) -> "Follower":
    """Follow the certificate in a file; TilewrightError (kind `refuted`) where a step does not hold.

    With `sample` about so many of the closed regions are recomputed; all of them are seen to cover the space.
    """
    follower = Follower(parse_certificate(read_json(path), str(path)), str(path), sample)
    follower.follow()
    return follower


class Follower:
    """Walks through the regions of a certificate: how many each statement `closed`, how many of these were recomputed
    (`followed`), and how many `mappings` priced."""

    def __init__(self, certificate: Certificate, where: str, sample: int | None = None) -> None:
        self.certificate, self.where = certificate, where
        self.bounds = Bounds(certificate.question)
        closed = sum(letter != SPLIT for letter in certificate.steps)
        self.share, self.random = 1.0 if sample is None else sample / max(1, closed), Random(0)
        self.closed, self.followed, self.mappings = dict.fromkeys(STATEMENTS.values(), 0), 0, 0
        self.target = self.price(certificate.mapping) * SLACK
        self.least = self.target * (1 - certificate.gap)

    def follow(self) -> None:
        """Go through the whole certificate."""
        steps = self.certificate.steps
        if self.target == inf:
            raise self.refuted("the mapping", "one that fits", "one that does not")
        if len(steps) > MAX_REGIONS:
            raise self.refuted("steps", f"at most {MAX_REGIONS} regions", str(len(steps)))
        waiting, place = [Region(self.certificate.question)], 0
        while waiting:
            region, letter = waiting.pop(), steps[place : place + 1]
            if not letter:
                raise self.refuted("steps", "regions that cover the space", f"only {place}, and {region} is left")
            if letter == SPLIT and not region.decided:
                waiting += reversed([part for part, _ in self.bounds.open_parts(region, self.target, self.least)])
            elif not self.closes(region, letter):
                expected = f"{STATEMENTS.get(letter, 'statement 1, 3 or 4')}, to close the region"
                raise self.refuted(f"steps[{place}], {region}", expected, f"{letter}, which does not")
            place += 1
        if place < len(steps):
            raise self.refuted("steps", f"{place} regions", str(len(steps)))

    def closes(self, region: Region, letter: str) -> bool:
        """Whether a statement closes a region; not looked at, if the region is not in the sample."""
        if letter not in STATEMENTS or region.kept is None:
            return letter == BOUND and self.least <= 0
        self.closed[STATEMENTS[letter]] += 1
        if self.random.random() >= self.share:
            return True
        self.followed += 1
        if letter == ARRAY or region.exceeds_array():
            return letter == ARRAY and region.exceeds_array()
        if letter == BOUND:
            return self.bounds.least(region, self.target) >= self.least
        return region.decided and all(self.price(mapping) >= self.least for mapping in region.mappings())

    def price(self, mapping: LoopMapping) -> float:
        """The price of a mapping, which is counted."""
        self.mappings += 1
        question = self.certificate.question
        return price(question.arch, question.problem, mapping, question.goal)

    def refuted(self, subject: str, expected: str, found: str) -> TilewrightError:
        """The error of a certificate that does not hold."""
        lever = "the certificate proves nothing; have another one made"
        return TilewrightError("refuted", f"{self.where}: {subject}"[:300], expected, found[:300], lever)
