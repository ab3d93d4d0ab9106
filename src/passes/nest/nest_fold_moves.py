"""The pass `nest-fold-moves`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.affine import Affine, index_forms, make_affine
from ...algebra.expr import Access, accesses_of
from ...dialects import nest
from ...dialects.layer_attributes import nodes_of, set_nodes
from ...dialects.types import element_of, shape_of


@dataclass(frozen=True)
class NestFoldMovesPass(ModulePass):
    """Let groups write where the only group that reads their result moves its channels.

    Before: groups without a mapping.  After: one that only moves channels of what another group makes for it alone, all
    of them or into a part of a larger map, is gone: the other group writes there.

        %y = nest.group @conv dims {g = 4, k = 28, ...} ...
          nest.kernel @requantize "Y[0, 28 * g + k, p, q] = ..."
        %z = nest.group @shuffle dims {d = 4, c = 28, h = 56, w = 56} ins(X = %y)
          nest.kernel @transpose "Y[0, 4 * c + d, h, w] = X[0, c + 28 * d, h, w]"

    becomes

        %z = nest.group @conv dims {g = 4, k = 28, ...} ...
          nest.kernel @requantize "Y[0, 4 * k + g, p, q] = ..."
    """

    name = "nest-fold-moves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for move in list(moves(op)):
            _fold(move)


class Move(NamedTuple):
    """A group that moves what the last kernel of another group makes, and where that kernel writes it then."""

    op: nest.GroupOp
    writer: nest.KernelOp
    target: tuple[Affine, ...]


def moves(module: ModuleOp) -> Iterator[Move]:
    """Groups that only move channels of what another group makes for them alone."""
    for op in module.walk():
        if isinstance(op, nest.GroupOp) and not op.is_mapped and (move := _move_of(op)) is not None:
            yield move


def _move_of(op: nest.GroupOp) -> Move | None:
    if len(op.kernels) != 1 or len(op.inputs) != 1 or not isinstance(source := op.inputs[0], OpResult):
        return None
    (kernel,), maker = op.kernels, source.owner
    moved, written = kernel.statement.data, _last_writer(maker)
    if written is None or len(list(source.uses)) != 1 or not isinstance(moved.value, Access):
        return None
    if kernel.pads or kernel.init or moved.reduce != "=" or not isinstance(moved.target, Access):
        return None
    target, read = index_forms(moved.target), index_forms(moved.value)
    if len(target) != len(read) or target[:1] + target[2:] != read[:1] + read[2:]:
        return None
    places = _places(read, op.extents, index_forms(_target(written)), written.group.extents)
    if places is None or element_of(kernel.result) != element_of(written.result):
        return None
    return Move(op, written, tuple(form.substitute(places) for form in target))


def _last_writer(maker: Operation | Block) -> nest.KernelOp | None:
    """The kernel that writes all of the only result of a group last, and whose result no other reads."""
    if not isinstance(maker, nest.GroupOp) or maker.is_mapped or len(maker.yielded) != 1:
        return None
    found = maker.yielded[0].owner
    if not isinstance(found, nest.KernelOp) or len(list(found.result.uses)) != 1:
        return None
    statement = found.statement.data
    if statement.reduce != "=" or not isinstance(statement.target, Access):
        return None
    return found if found.init is None or _is_in_place(found) else None


def _is_in_place(kernel: nest.KernelOp) -> bool:
    """Whether a kernel writes each element in the place of the one that it is made of, so that it may lie elsewhere."""
    target, extents, values = index_forms(_target(kernel)), kernel.group.extents, kernel.operands_by_name
    read = [access for access in accesses_of(kernel.statement.data.value) if values[access.tensor] is kernel.init]
    same = all(isinstance(access, Access) and index_forms(access) == target for access in read)
    sizes = tuple(_size(form, extents) if form.terms else 1 for form in target)
    return bool(read) and same and not isinstance(kernel.init, BlockArgument) and sizes == shape_of(kernel.result)


def _target(kernel: nest.KernelOp) -> Access:
    target = kernel.statement.data.target
    assert isinstance(target, Access)
    return target


def _places(
    read: Sequence[Affine], extents: Mapping[str, int], written: Sequence[Affine], made: Mapping[str, int]
) -> dict[str, Affine] | None:
    """Each dim of what is read by those of what is written; None where elements are cut otherwise."""
    found: list[tuple[str, Affine]] = []
    for form, other in zip(read, written, strict=True):
        if form.const == 0 and [c for _, c in form.terms] == [1] and extents[form.names[0]] == _size(other, made):
            found.append((form.names[0], other))
            continue
        terms = sorted((factor, extents[dim], dim) for dim, factor in form.terms)
        others = sorted((factor, made[dim], dim) for dim, factor in other.terms)
        if form.const != other.const or [term[:2] for term in terms] != [term[:2] for term in others]:
            return None
        found += [(first[2], make_affine(0, {second[2]: 1})) for first, second in zip(terms, others, strict=True)]
    places = dict(found)
    return places if len(found) == len(places) == len(extents) else None


def _size(form: Affine, extents: Mapping[str, int]) -> int:
    """How many places an index that reaches each of them from 0 on has."""
    low, high = form.range(extents)
    return high + 1 if low == 0 and prod(extents[dim] for dim in form.names) == high + 1 else 0


def _fold(move: Move) -> None:
    """Let the maker write where the move does, in place of both."""
    writer, maker = move.writer, move.writer.group
    target = Access(_target(writer).tensor, tuple(form.to_expr() for form in move.target))
    statement, type_ = replace(writer.statement.data, target=target), move.op.outs[0].type
    Rewriter.replace_op(writer, writer.like(statement, None, result_type=type_))
    body = maker.detach_region(maker.body)
    group = nest.GroupOp(maker.sym_name.data, maker.extents, maker.inputs_by_name, [type_], body)
    kept = {key: value for key, value in maker.attributes.items() if key != "name"}  # of what is nowhere now
    group.attributes.update(kept | move.op.attributes)
    set_nodes(group, [*nodes_of(maker), *nodes_of(move.op)])
    group.outs[0].name_hint = move.op.outs[0].name_hint
    Rewriter.insert_op(group, InsertPoint.before(maker))
    Rewriter.replace_op(move.op, [], [group.outs[0]])
    Rewriter.erase_op(maker)
