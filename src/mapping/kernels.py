"""Kernels as a person names them: einsum text, a layer of a network, a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ..algebra.expr import accesses_of, reduction_dims, tensors_of
from ..costs.hierarchy import Problem
from ..dialects import nest
from ..driver import load_model, make_context, parse_passes
from ..errors import TilewrightError
from ..files import MODEL_SUFFIXES
from ..frontends.einsum import is_kernel
from ..frontends.input_shapes import InputShapes
from ..passes.nest.trees import problem_of, types_of

FORMS = (
    "einsum text with bounds ('O[m,n] += A[m,k] * B[k,n]; m=8 n=8 k=8')",
    "a layer (resnet18:conv2_1)",
    "a network (resnet18)",
    "a model (model.onnx, model.onnx:node, model.tflite, model.mlir: nest, linalg, StableHLO or graph)",
    "a Timeloop problem (.yaml)",
)


@dataclass(frozen=True)
class Layer:
    """A kernel to map; a network has `repeats` of it.  `types` are the element types of its tensors, where known."""

    name: str
    problem: Problem
    repeats: int = 1
    types: Mapping[str, str] | None = field(default=None, compare=False)


def find_layers(
    text: str, shapes: InputShapes | None = None, types: Mapping[str, str] | None = None
) -> tuple[Layer, ...]:
    """The layers that `text` names, one for a kernel; `FORMS` says what it may be.

    `types` gives element types of an einsum's tensors by name; without, each element is one word of whatever memory it
    is in.  Layers of models have the types of the model.  Of a model, the kernels that sum products are taken.
    `shapes` has the batch of a network of the zoo, and what a model leaves open.
    """
    shapes = shapes or InputShapes()
    if is_kernel(text) or ";" in text:
        shapes.refuse(text)
        return (_einsum(text, types),)
    if types is not None:
        raise TilewrightError("usage", "types", "an einsum, whose tensors have none of their own", text)
    file, _, which = text.partition(":") if not Path(text).suffix else _split(text)
    suffix = Path(file).suffix
    if suffix in MODEL_SUFFIXES:
        return _of_model(text, file, which, shapes)
    if suffix in (".yaml", ".yml"):
        from ..frontends.timeloop import load_problem

        shapes.refuse(text)
        problem = load_problem(Path(file))
        return (Layer(problem.name, problem),)
    shapes.refuse_names(text)
    return _of_zoo(text, shapes.samples)


def _split(text: str) -> tuple[str, str, str]:
    """A file and what is behind its suffix: `model.onnx:/layer1/conv` names a node."""
    for suffix in MODEL_SUFFIXES:
        file, colon, which = text.partition(f"{suffix}:")
        if colon:
            return file + suffix, ":", which
    return text, "", ""


def _einsum(text: str, types: Mapping[str, str] | None) -> Layer:
    from ..frontends.einsum import einsum_module, parse_einsum

    statement, _ = parse_einsum(text)
    tensors = tensors_of(statement)
    if types is not None and set(types) != set(tensors):
        expected = f"a type for each of {', '.join(tensors)}"
        raise TilewrightError("usage", "types", expected, ", ".join(types) or "none")
    module = einsum_module(text, types)
    kernel = next(op for op in module.walk() if isinstance(op, nest.KernelOp))
    problem = problem_of(kernel, "kernel", typed=types is not None)
    return Layer("kernel", problem, types=types)


def _of_zoo(text: str, batch: int) -> tuple[Layer, ...]:
    from ..zoo.mapping_layers import NETWORKS, layer, layers

    network, colon, _ = text.partition(":")
    if network not in NETWORKS:
        near = get_close_matches(network, NETWORKS, 1)
        lever = f"did you mean {near[0]}?" if near else f"networks: {', '.join(NETWORKS)}"
        raise TilewrightError("kernel", text, f"one of: {'; '.join(FORMS)}", "none of these", lever)
    if colon:
        return (Layer(text, layer(text, batch)),)
    return tuple(Layer(f"{network}:{name}", problem, repeats) for name, problem, repeats in layers(network, batch))


def _of_model(text: str, file: str, which: str, shapes: InputShapes) -> tuple[Layer, ...]:
    if not Path(file).is_file():
        raise TilewrightError("file", file, "a model", "no such file")
    module = load_model(file, shapes)
    written = has_groups(module)
    if not written:
        parse_passes("graph-normalize,graph-quantize,convert-graph-to-nest").apply(make_context(), module)
    found = tuple(_layers_of(module, every=written or bool(which)))
    if not found:
        raise TilewrightError("kernel", text, "layers that sum products", "none")
    return _chosen(text, found, which)


def has_groups(module: ModuleOp) -> bool:
    """Whether a module is written in kernels, not in layers of a graph that are still to become kernels."""
    return any(isinstance(op, nest.GroupOp) for op in module.walk())


def _chosen(text: str, found: tuple[Layer, ...], which: str) -> tuple[Layer, ...]:
    if not which:
        return found
    names = [layer.name for layer in found]
    chosen = [layer for layer in found if layer.name == which or layer.name.endswith(f"/{which}")]
    if not chosen:
        near = get_close_matches(which, names, 3) or names[:6]
        raise TilewrightError("kernel", text, f"a node of the model, such as {', '.join(near)}", which)
    return (max(chosen, key=lambda layer: layer.problem.macs),)


def _layers_of(module: ModuleOp, every: bool) -> Iterator[Layer]:
    """A layer for each group's largest kernel; unless `every`, only where that sums products."""
    for group in module.walk():
        if not isinstance(group, nest.GroupOp) or not group.kernels:
            continue
        kernel = max(group.kernels, key=lambda k: (_sums_products(k), problem_of(k).macs))
        if every or _sums_products(kernel):
            name = _name_of(group)
            yield Layer(name, problem_of(kernel, name), types=types_of(kernel))


def _sums_products(kernel: nest.KernelOp) -> bool:
    statement = kernel.statement.data
    tensors = {access.tensor for access in accesses_of(statement.value)}
    return statement.reduce == "+=" and bool(reduction_dims(statement)) and len(tensors) > 1


def _name_of(group: nest.GroupOp) -> str:
    name = group.attributes.get("name")
    return getattr(name, "data", None) or group.sym_name.data
