"""The certificate of a mapper's answer."""

from ..certificates import Certificate
from ..certificates.make import MOST_REGIONS, dims_in_order, make_certificate
from ..certificates.space import Question
from ..costs.clock import NO_LIMIT, Limit
from ..costs.hierarchy import Architecture, LoopMapping, Problem
from ..errors import TilewrightError
from ..search.mapping.values import Request


def certify(
    arch: Architecture,
    problem: Problem,
    mapping: LoopMapping,
    request: Request,
    most_regions: int = MOST_REGIONS,
    limit: Limit = NO_LIMIT,
) -> Certificate:
    """The certificate that no mapping of the request's space is better than `mapping`; see `make_certificate`.

    Raises TilewrightError (kind `unsupported`) for spaces without statements, too.
    """
    check_statements(arch, problem.name, request)
    bypass, split_axes, dims = request.space.bypass, request.space.split_axes, dims_in_order(problem)
    question = Question(arch, problem, request.objective, bypass, split_axes, dims)
    return make_certificate(question, mapping, most_regions, limit)


def check_statements(arch: Architecture, kernel: str, request: Request) -> None:
    """Raises TilewrightError (kind `unsupported`) for a space about which no statement of docs/exact-mapper.md is."""
    subject = f"certificate of {kernel} on {arch.name}"
    if request.model != "exact" or request.space.factors != "perfect":
        found = f"model {request.model}, {request.space.factors} factors"
        lever = "take --factors perfect --model exact, or leave out --certificate"
        raise TilewrightError("unsupported", subject, "perfect factors in the exact model", found, lever)
    if arch.sums_apart:
        raise TilewrightError("unsupported", subject, "instances that may add to one sum", f"those of {arch.name}")
    if request.objective == "noc":
        raise TilewrightError("unsupported", subject, "an objective of the cost model", "cycles on a mesh")
