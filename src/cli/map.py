"""Map a kernel, or all layers of a network, on a machine: tiles, loop orders, spatial unrolling, what is kept where.

The mapping is printed as a loop nest, with a table of the words that move and the energy they take at each memory, and
how far its price is above what any mapping needs.  `proven` says that no mapping of the space is better.

KERNEL is one of
  einsum text with bounds   'O[n,k,p,q] += I[n,c,2*p+r,2*q+s] * W[k,c,r,s]; n=1 k=64 c=64 p=56 q=56 r=3 s=3'
  a layer of a network      resnet18:conv2_1, mttkrp:netflix
  a layer of a model        model.onnx:NODE
  a whole network           resnet50, model.onnx, model.mlir (nest, linalg, StableHLO or graph)
  a problem                 Timeloop's (.yaml)
T is a shipped machine (`tilewright targets` lists them), an .acg file, or a Timeloop architecture (.yaml).

examples:
  tilewright map 'O[m,n] += A[m,k] * B[k,n]; m=512 n=512 k=512' --target eyeriss_like
  tilewright map resnet18:conv2_1 --target simba_like -o conv.svg --write-timeloop conv/
  tilewright map resnet50 --target eyeriss_like --jobs 2
  tilewright map resnet18:conv5_1 --target conventional --method sunstone --model timeloop
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..files import write_file
from ..interruption import answer_with_best
from ..search.mapping.registry import mapper_names
from .command_line import Unused, UsageError
from .mapping_tables import show_cases, show_kernel, show_network
from .options import (
    WRITTEN,
    add_alias,
    add_effort,
    add_model_options,
    add_objective,
    add_types,
    check_written,
    element_types,
    model_shapes,
    unused_for_kernel,
)
from .tables import progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", nargs="?", metavar="KERNEL", help="a kernel or network, see above")
    parser.add_argument("--target", metavar="T", help="the machine")
    parser.add_argument("--cases", type=Path, metavar="FILE", help="instead of KERNEL: a .json list of cases")
    search = parser.add_argument_group("search")
    add_objective(search, ("edp", "energy", "latency", "dram", "noc"), "edp")
    search.add_argument(
        "--method",
        choices=mapper_names(),
        default="exact",
        help="exact: proven best where it ends; refine: a good one soon; cosa, sunstone: the papers' searches; "
        "random, hybrid: Timeloop's (default: exact)",
    )
    add_alias(search, "--mapper", "--method", choices=mapper_names())
    search.add_argument(
        "--factors",
        choices=["imperfect", "perfect"],
        help="may the last tile be shorter, or must loop bounds divide (default: imperfect; perfect for timeloop)",
    )
    search.add_argument(
        "--model",
        choices=["exact", "timeloop"],
        help="cost model: exact, or timeloop's with its simplifications (default: exact; for --cases timeloop)",
    )
    search.add_argument("--no-bypass", action="store_true", help="keep every tensor in every memory that may hold it")
    add_effort(search, " per layer (default: 30; 1 in networks)", jobs="processes that map layers")
    add_types(search, "one word of each memory")
    add_model_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="draw the mapping to FILE (.svg), or write the mapped kernel as IR of the nest dialect (.mlir); may be "
        "repeated",
    )
    output.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="write a proof that no mapping is better (.json, for `tilewright check`); perfect factors and small "
        "kernels only",
    )
    for old in ("--svg", "--mlir"):
        output.add_argument(old, type=Path, help=argparse.SUPPRESS)
    output.add_argument(
        "--write-timeloop",
        type=Path,
        metavar="DIR",
        help="write problem, arch and mapping as YAML for timeloop-model; no dimension is then spread over both axes",
    )


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    if arguments.cases is not None:
        output = "output", "svg", "mlir", "write_timeloop", "certificate"
        searched = "target", "no_bypass", "seed", "gap", "jobs", "batch", "shape", "dim", "tokens", "types"
        yield Unused((*output, *searched), "with --cases")
    elif arguments.kernel is not None:
        yield from unused_for_kernel(arguments.kernel)
    if arguments.method != "exact":
        yield Unused(("gap",), f"with --method {arguments.method}")


def kernels(arguments: argparse.Namespace) -> str | None:
    """The search whose kernels are called; cases are many, and compiling is worth it at once."""
    if arguments.cases is not None:
        return None
    if arguments.model == "timeloop":
        known = {"exact": "exact mapper of Timeloop's model", "refine": "refine mapper"}
        return known.get(arguments.method)
    return {"exact": "exact mapper", "refine": "refine mapper"}.get(arguments.method, "cost model")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.cases is not None:
        return _cases(arguments)
    if arguments.kernel is None or arguments.target is None:
        missing = "KERNEL" if arguments.kernel is None else "--target"
        raise UsageError("usage", "tilewright map", "KERNEL and --target, or --cases", f"no {missing}")
    return _map(arguments)


def _map(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..mapping import find_architecture, find_layers, map_layers
    from ..mapping.certify import check_statements

    options = _options(arguments)
    layers = find_layers(arguments.kernel, options.shapes, options.types)
    several = len(layers) > 1
    if several and hasattr(arguments, "first_answer"):
        options = replace(options, time_limit_s=arguments.time_limit / len(layers))
    pictures, texts = _files(arguments)
    if several and (pictures or texts or arguments.write_timeloop or arguments.certificate):
        found = f"{len(layers)} layers"
        raise UsageError("usage", "--output, --write-timeloop, --certificate", "one kernel", found, "name one of them")
    arch = find_architecture(arguments.target)
    if arguments.certificate is not None:
        check_statements(arch, "the kernel", options.request(0))
    answer_with_best()
    with progress_bar() as progress:
        mapped = map_layers(arguments.kernel, layers, arch, options, progress)
    if several:
        return mapped.as_dict()
    (layer,) = mapped.layers
    answer = layer.as_dict()
    contents = {path: layer.svg() for path in pictures} | {path: layer.mlir(arguments.target) for path in texts}
    if arguments.certificate is not None:
        contents[arguments.certificate] = layer.certificate()
    for path, content in contents.items():
        write_file(path, content)
    written = [*contents, *(layer.write_timeloop(arguments.write_timeloop) if arguments.write_timeloop else ())]
    answer["files"] = [str(path) for path in written]
    answer["loops"] = layer.loops
    answer["traffic"] = [row.__dict__ for row in layer.traffic]
    return answer


def _files(arguments: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """Where to draw the mapping, and where to write it as IR."""
    found: dict[str, list[Path]] = {suffix: [] for suffix in WRITTEN}
    for path in arguments.output:
        check_written(path)
        found[path.suffix].append(path)
    pictures, texts = found.values()
    pictures += [arguments.svg] if arguments.svg is not None else []
    texts += [arguments.mlir] if arguments.mlir is not None else []
    return pictures, texts


def _options(arguments: argparse.Namespace) -> Any:
    from ..mapping import MapOptions

    return MapOptions(
        objective=arguments.objective,
        mapper=arguments.method,
        factors=arguments.factors,
        model=arguments.model or "exact",
        bypass=not arguments.no_bypass,
        split_axes=arguments.write_timeloop is None,
        seed=arguments.seed,
        time_limit_s=arguments.time_limit,
        jobs=arguments.jobs,
        shapes=model_shapes(arguments, arguments.kernel),
        types=element_types(arguments.types),
        gap=arguments.gap,
    )


def _cases(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..mapping.cases import cases_file

    if arguments.kernel is not None:
        raise UsageError("usage", "tilewright map", "KERNEL or --cases", "both")
    if arguments.model == "exact" or arguments.factors == "imperfect" or arguments.method != "exact":
        expected = "--method exact --model timeloop --factors perfect"
        raise UsageError("usage", "--cases", expected, "other options", "leave them out")
    answer_with_best()
    with progress_bar() as progress:
        return cases_file(
            arguments.cases,
            arguments.objective,
            arguments.time_limit,
            progress=lambda done, total: progress("cases", done, total) if progress is not None else None,
        )


def show(answer: dict[str, Any]) -> None:
    if "results" in answer:
        show_cases(answer)
    elif "layers" in answer and isinstance(answer["layers"], list):
        show_network(answer)
    else:
        show_kernel(answer)
