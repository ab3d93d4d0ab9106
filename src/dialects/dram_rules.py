"""What the verifier of the `dram` dialect asks for; what needs tiles is asked by the pass `dram-verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.utils.exceptions import VerifyException

from .dram_syntax import LOAD, MOST, STORE, Row, ints

if TYPE_CHECKING:
    from .dram import LayerOp, NetworkOp, ScheduleOp, TransfersOp


EXTENT = 1 << 22
"""Channels, rows, columns and windows are at most so large."""


def check_layer(op: LayerOp) -> None:
    """Extents are positive and of the right number."""
    for name, count in (("shape", 3), ("kernel", 2), ("stride", 2), ("permutation", 3)):
        found = list(ints(op.properties[name]))
        least, most = (0, 2) if name == "permutation" else (1, EXTENT)
        if len(found) != count or not all(least <= value <= most for value in found):
            raise VerifyException(f"expected {name} of {count} numbers from {least} to {most}, found {found}")
    for name in ("groups", "operands_count"):
        attribute = op.properties[name]
        assert isinstance(attribute, IntegerAttr)
        if not 1 <= attribute.value.data < MOST:
            raise VerifyException(f"expected {name.removesuffix('_count')} of 1 or more, found {attribute.value.data}")


def check_network(op: NetworkOp) -> None:
    """Names are used once, and layers read what comes before them."""
    inputs = [item.sym_name.data for item in op.inputs]
    seen: set[str] = set()
    if not op.layers:
        raise VerifyException("expected a layer")
    if len(op.inputs) + len(op.layers) != len(list(op.body.block.ops)):
        raise VerifyException("expected inputs and layers, and nothing else, in a network")
    if len(set(inputs)) != len(inputs):
        raise VerifyException(f"expected each name of an input once, found {inputs}")
    for layer in op.layers:
        name = layer.sym_name.data
        if name in seen:
            raise VerifyException(f"expected each name of a layer once, found {name!r} twice")
        for source in layer.inputs:
            if source.data not in seen and source.data not in inputs:
                raise VerifyException(f"expected layer {name!r} to read what comes before it, found {source.data!r}")
        for source in layer.weights:
            if source.data not in seen:
                raise VerifyException(f"expected weights of {name!r} from a layer before it, found {source.data!r}")
        seen.add(name)


def network_of(op: ScheduleOp) -> NetworkOp:
    """The network that a schedule names."""
    from .dram import NetworkOp

    module = op.parent_op()
    name = op.network.root_reference.data
    for other in module.body.block.ops if isinstance(module, ModuleOp) else ():
        if isinstance(other, NetworkOp) and other.sym_name.data == name:
            return other
    raise VerifyException(f"expected dram.network @{name} in the module, found none")


def check_schedule(op: ScheduleOp) -> None:
    """Each layer in one fused group, after those that it reads; tensors of known layers."""
    from .dram import FusedGroupOp, LayerGroupOp, TransfersOp

    if not 1 <= op.batch.value.data < 1 << 20:
        raise VerifyException(f"expected a batch of 1 or more, found {op.batch.value.data}")
    kinds: list[type] = [type(item) for item in op.body.block.ops]
    groups = len(op.layer_groups)
    ends: tuple[list[type], ...] = ([], [TransfersOp])
    if kinds[:groups] != [LayerGroupOp] * groups or kinds[groups:] not in ends:
        raise VerifyException("expected layer groups, then perhaps transfers")
    network = network_of(op)
    reads = {layer.sym_name.data: {name.data for name in (*layer.inputs, *layer.weights)} for layer in network.layers}
    done: set[str] = set()
    fused: list[FusedGroupOp] = [group for outer in op.layer_groups for group in outer.fused_groups]
    for name in (name.data for group in fused for name in group.layers):
        if name not in reads:
            raise VerifyException(f"expected a layer of @{network.sym_name.data}, found {name!r}")
        if name in done:
            raise VerifyException(f"expected each layer once, found {name!r} twice")
        late = sorted(source for source in reads[name] & reads.keys() - done if source != name)
        if late:
            raise VerifyException(f"expected {late[0]!r} before {name!r}, which reads it, found it later")
        done.add(name)
    if missing := sorted(reads.keys() - done):
        raise VerifyException(f"expected each layer once, found no {missing[0]!r}")
    if op.transfers is not None:
        _check_names(op.transfers, network)


def _check_names(op: TransfersOp, network: NetworkOp) -> None:
    for given, known in ((op.layer_names, network.layers), (op.input_names, network.inputs)):
        unknown = {name.data for name in given} - {item.sym_name.data for item in known}
        if unknown:
            raise VerifyException(f"expected names of @{network.sym_name.data}, found {min(unknown)!r}")


def check_rows(op: TransfersOp) -> None:
    """Rows are whole, of the right kind, and count in the names that are there."""
    try:
        rows = op.rows
    except ValueError as error:
        raise VerifyException(f"expected rows of six numbers, but {error}") from None
    for row in rows:
        _check_row(op, row)


def _check_row(op: TransfersOp, row: Row) -> None:
    if not LOAD <= row.kind <= STORE:
        raise VerifyException(f"expected loads and stores only, found kind {row.kind}")
    known = row.kind != LOAD or -len(op.input_names) <= row.source < len(op.layer_names)
    if not (0 <= row.layer < len(op.layer_names) and known):
        raise VerifyException(f"expected a layer and a source among the names, found {row.layer} and {row.source}")
    if not (0 <= row.tile < MOST and -1 <= row.start < row.end < MOST):
        raise VerifyException(f"expected a life [start, end) from -1 on, found [{row.start}, {row.end})")
