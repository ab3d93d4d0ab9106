"""Making a certificate of how good a mapping is: regions are split, the least bound first, until all are closed."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from ..costs.clock import NO_LIMIT, Limit
from ..costs.exact.axes import axes_of
from ..costs.hierarchy import LoopMapping, Problem, mapping_as_json
from ..costs.hierarchy.parse import architecture_as_json, problem_as_json
from ..costs.json_fields import Json
from ..errors import TilewrightError
from .bounds import Bounds, price
from .check import ARRAY, BOUND, FORMAT, PRICED, SLACK, SPLIT, Certificate
from .space import Question, Region

MOST_REGIONS, MOST_MAPPINGS = 5_000, 3_000
"""Regions that are bounded, and mappings priced, before the certificate says less than `no mapping is better`."""


@dataclass(order=True)
class _Node:
    """A region with its bound, the letter that it was left with, and its parts; `floor` is its bound as such a part."""

    low: float
    number: int
    region: Region = field(compare=False)
    floor: float = field(compare=False, default=0.0)
    letter: str = field(compare=False, default=BOUND)
    parts: "list[_Node]" = field(compare=False, default_factory=list["_Node"])


def make_certificate(
    question: Question, mapping: LoopMapping, most_regions: int = MOST_REGIONS, limit: Limit = NO_LIMIT
) -> Certificate:
    """The certificate that no mapping of a question's space is better than `mapping`, or by how much at most.

    After `most_regions` were bounded, or when the limit is over, what is left makes the gap.

    Raises TilewrightError (kind `refuted`) where a better mapping turns up.
    """
    value = price(question.arch, question.problem, mapping, question.goal)
    assert value < inf
    tree, target = _Tree(question, value * SLACK, limit), value * SLACK
    root, low = tree.grow(most_regions)
    gap = min(1.0, (1 - low / target) * (1 + 1e-9)) if low < target else 0.0
    return Certificate(question, mapping, "".join(_steps(root, target * (1 - gap))), gap)


def as_json(certificate: Certificate) -> Json:
    """The certificate's file."""
    question = certificate.question
    return {
        "format": FORMAT,
        "arch": architecture_as_json(question.arch),
        "problem": problem_as_json(question.problem),
        "objective": question.goal,
        "factors": "perfect",
        "bypass": question.bypass,
        "split_axes": question.split_axes,
        "dims": [question.problem.dims[d] for d in question.dims],
        "mapping": mapping_as_json(question.arch, question.problem, certificate.mapping),
        "gap": certificate.gap,
        "steps": certificate.steps,
    }


def dims_in_order(problem: Problem) -> tuple[int, ...]:
    """Filters of windows first, as statement 3b wants, then the largest."""
    windows = [window.dims for tensor in problem.tensors for window in axes_of(tensor, problem.bounds).windows]
    largest = {max(dims, key=lambda d: problem.bounds[d]) for dims in windows}
    small = {d for dims in windows for d in dims} - largest
    return tuple(sorted(range(len(problem.dims)), key=lambda d: (d not in small, -problem.bounds[d])))


class _Tree:
    """Regions of a question, none of which costs less than `target` if the mapping is the best."""

    def __init__(self, question: Question, target: float, limit: Limit) -> None:
        self.question, self.target, self.limit = question, target, limit
        self.bounds, self.count, self.priced = Bounds(question), 0, 0

    def grow(self, most_regions: int) -> tuple[_Node, float]:
        """Split the region of the least bound until none is below the target, or there are too many."""
        root = self.node(Region(self.question), 0.0)
        waiting = [root]
        while waiting and waiting[0].low < self.target and self.count < most_regions:
            node = waiting[0]
            if not (self.settle(node) if node.region.decided else self.split(node)):
                break
            heapq.heappop(waiting)
            for part in node.parts:
                heapq.heappush(waiting, part)
        return root, min(self.target, waiting[0].low) if waiting else self.target

    def split(self, node: _Node) -> bool:
        """Bound the parts of a region; whether there was time for all."""
        parts: list[_Node] = []
        for part, floor in self.bounds.open_parts(node.region, self.target, self.target):
            if self.limit.late:
                return False
            parts.append(self.node(part, floor))
        node.letter, node.parts = SPLIT, parts
        return True

    def node(self, region: Region, floor: float) -> _Node:
        """A region and its bound."""
        self.count += 1
        if region.kept is None:
            return _Node(0.0, self.count, region)
        if region.exceeds_array():
            return _Node(inf, self.count, region, floor, ARRAY)
        return _Node(self.bounds.least(region, self.target), self.count, region, floor)

    def settle(self, node: _Node) -> bool:
        """Price every order; none may be better.  Whether there were few."""
        question = self.question
        self.priced += node.region.most_mappings()
        if self.priced > MOST_MAPPINGS:
            return False
        for mapping in node.region.mappings():
            if self.limit.late:
                return False
            found = price(question.arch, question.problem, mapping, question.goal)
            if found < self.target:
                subject = f"certificate of {question.problem.name} on {question.arch.name}"
                lever = "this is a fault of the search: please report it"
                raise TilewrightError("refuted", subject, "no better mapping", f"one of {found:.6g}", lever)
        node.letter = PRICED
        return True


def _steps(root: _Node, least: float) -> Iterator[str]:
    """The letters of regions, parents first; regions whose bound is `least` are not split."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        closed = node.letter == SPLIT and node.low >= least
        yield BOUND if closed else node.letter
        if node.letter == SPLIT and not closed:
            waiting += reversed([part for part in node.parts if part.floor < least])
