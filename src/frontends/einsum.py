"""Einsum text with bounds: one kernel of tensor algebra, as the command line takes it.

O[n,k,p,q] += I[n,c,2*p+r,2*q+s] * W[k,c,r,s]; n=1 k=64 c=64 p=56 q=56 r=3 s=3
"""

import re
from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from ..algebra.affine import Affine, index_forms
from ..algebra.expr import (
    Access,
    Statement,
    accesses,
    accesses_of,
    dims_of,
    print_expr,
    print_statement,
    scalars_of,
    tensors_of,
)
from ..algebra.parser import parse_statement
from ..dialects import nest
from ..dialects.types import Tensor, element_type, tensor
from ..errors import TilewrightError
from .main_function import main_module

MAX_TEXT = 10_000
MAX_EXTENT = 1 << 40

_BOUND = re.compile(r"([A-Za-z_]\w*)\s*=\s*(\d+)")


def is_kernel(text: str) -> bool:
    """Whether `text` is meant as einsum text, not as the name of a file."""
    return "[" in text and "=" in text and not Path(text).suffix[1:].isalpha()


def parse_einsum(text: str) -> tuple[Statement, dict[str, int]]:
    """The statement and the extent of each of its dims, in the order of the bounds.

    Raises `TilewrightError` (kind `parse`) where the text is wrong, a dim has no bound or a bound no dim, or `=` may
    write an element more than once.
    """
    if len(text) > MAX_TEXT:
        raise _error("einsum text", f"at most {MAX_TEXT} characters", str(len(text)))
    body, separator, bounds = text.partition(";")
    if not separator:
        raise _error(text.strip(), "`statement; dim=extent ...`", "no `;`", "add the extents of the dims")
    lead = len(body) - len(body.lstrip())
    statement = parse_statement(body.strip(), "einsum", 1, 1 + lead)
    extents = _parse_bounds(bounds, len(body) + 2)
    dims = dims_of(statement)
    for dim in dims:
        if dim not in extents:
            raise _error(f"dim {dim}", "an extent", "none", f"add `{dim}=...` after the `;`")
    for dim in extents:
        if dim not in dims:
            raise _error(f"bound {dim}", f"one of the dims {', '.join(dims)}", dim)
    _check_once(statement, extents)
    return statement, extents


def _check_once(statement: Statement, extents: Mapping[str, int]) -> None:
    """Refuse `=` where several iterations may write one element of the target.

    An index determines its dims if each stride is larger than all that smaller strides add up to.  Dims that are
    determined are constants in the other indices.
    """
    if statement.reduce != "=" or not isinstance(statement.target, Access):
        return
    forms, open_dims = index_forms(statement.target), {dim for dim, extent in extents.items() if extent > 1}

    def determined(form: Affine) -> set[str]:
        reach, dims = 0, open_dims & set(form.names)
        for stride, dim in sorted((abs(form.coefficient(dim)), dim) for dim in dims):
            if stride <= reach:
                return set()
            reach += stride * (extents[dim] - 1)
        return dims

    while dims := set[str]().union(*map(determined, forms)):
        open_dims -= dims
    if open_dims:
        expected = "each element written once, or a reduction (`+=`, `max=`, `min=`)"
        found = f"elements that several values of {', '.join(sorted(open_dims))} may write"
        raise _error(print_statement(statement), expected, found, "reduce, or give each dim an index of its own")


def _parse_bounds(text: str, column: int) -> dict[str, int]:
    rest = _BOUND.sub(lambda found: " " * len(found.group()), text).replace(",", " ")
    if rest.strip():
        word = rest.split()[0]
        raise _error(f"einsum:1:{column + rest.index(word)}", "`dim=extent ...` after the `;`", f"`{word}`")
    extents: dict[str, int] = {}
    for name, digits in _BOUND.findall(text):
        extent = int(digits) if len(digits) < 20 else MAX_EXTENT + 1
        if name in extents or not 1 <= extent <= MAX_EXTENT:
            raise _error(f"bound {name}", f"one extent from 1 to {MAX_EXTENT}", digits)
        extents[name] = extent
    return extents


def einsum_module(text: str, types: Mapping[str, str] | None = None) -> ModuleOp:
    """A module whose `main` is the kernel: operands in, the target out.

    Tensors are as large as their indices reach.  `types` gives the element types of tensors (`i8`, `i32`, ...); f32
    where it says nothing.
    """
    statement, extents = parse_einsum(text)
    if names := scalars_of(statement):
        raise _error(print_statement(statement), "tensors, dims and numbers", f"the name {names[0]}")
    tensor_types = {name: _tensor_type(statement, name, extents, types or {}) for name in tensors_of(statement)}
    target, *operands = tensor_types
    block = Block(arg_types=[tensor_types[name] for name in operands])
    for arg, name in zip(block.args, operands, strict=True):
        arg.name_hint = name
    group = nest.GroupOp("kernel", extents, dict(zip(operands, block.args, strict=True)), [tensor_types[target]])
    inside = dict(zip(operands, group.body.block.args, strict=True))
    kernel = nest.KernelOp(_kernel_name(target, operands), statement, inside, tensor_types[target])
    group.body.block.add_ops([kernel, nest.YieldOp(kernel.result)])
    block.add_op(group)
    return main_module(block, operands, [target], group.outs)


def integer_types(statement: Statement, products: tuple[str, str] = ("u8", "i8")) -> dict[str, str]:
    """Element types for a statement that says nothing of them, on a machine without floats.

    Products sum elements of the types `products` (first factor, second) into i32; everything else is i32.
    """
    factors = [access.tensor for access in accesses_of(statement.value) if isinstance(access, Access)]
    types = dict.fromkeys((*tensors_of(statement), *factors), "i32")
    if statement.reduce == "+=" and len(set(factors)) == 2:
        types |= dict(zip(factors, products, strict=True))
    return types


def check_written(statement: Statement, extents: Mapping[str, int]) -> None:
    """Refuses (`TilewrightError`, kind `parse`) a statement that leaves elements of its target unwritten.

    The statement is one that `einsum_module` takes.

    Every element of a box is written where no two axes have a dim in common, and on each axis sums of strides, smallest
    first, leave no gap; otherwise a corner of the box, or the element after such a sum, is not.
    """
    assert isinstance(statement.target, Access)
    forms, seen = index_forms(statement.target), set[str]()
    shape = _tensor_type(statement, statement.target.tensor, extents, {}).get_shape()
    for form, size in zip(forms, shape, strict=True):
        low, high = form.range(extents)
        dims, reach = {name for name in form.names if extents[name] > 1}, 0
        for stride, name in sorted((abs(form.coefficient(name)), name) for name in dims):
            reach += stride * (extents[name] - 1) if stride <= reach + 1 else 0
        if low or high + 1 != size or reach != high or dims & seen:
            expected = "every element of the target written"
            found = f"a target of {' by '.join(map(str, shape))} with elements that are not"
            raise _error(print_statement(statement), expected, found, "give the target an index for each axis alone")
        seen |= dims


def _kernel_name(target: str, operands: list[str]) -> str:
    return target if target not in operands else f"{target}_out"


def _tensor_type(statement: Statement, name: str, extents: Mapping[str, int], types: Mapping[str, str]) -> Tensor:
    sizes: list[int] = []
    for access in accesses(statement):
        if access.tensor != name:
            continue
        if not isinstance(access, Access):
            raise _error(print_expr(access), "indices in square brackets", "free strides")
        reach = [_reach(access, form, extents) for form in index_forms(access)]
        if sizes and len(sizes) != len(reach):
            raise _error(print_expr(access), f"{len(sizes)} indices, as before", str(len(reach)))
        sizes = [max(a, b) for a, b in zip(sizes or reach, reach, strict=True)]
    return tensor(sizes, element_type(types.get(name, "f32")))


def _reach(access: Access, form: Affine, extents: Mapping[str, int]) -> int:
    low, high = form.range(extents)
    if low < 0:
        raise _error(print_expr(access), "indices of at least 0", str(low), f"add {-low} to the index")
    return high + 1


def _error(subject: str, expected: str, found: str, lever: str = "") -> TilewrightError:
    return TilewrightError("parse", subject, expected, found, lever)
