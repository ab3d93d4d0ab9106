"""The nodes of a mapping tree: what is kept where, loops, instances, and what is computed."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import NoTerminator

from .nest_attributes import BindingAttr, ValuesAttr
from .properties import PlainOp
from .syntax import Binding, Body, Capability, Count, Numbers, Word, Words


@irdl_op_definition
class HoldOp(PlainOp):
    """From here inward these buffers are kept in `memory`, in the size that the dims' current ranges need.

    On entry a buffer is loaded from where it was kept before if the first kernel below that touches it reads it (a
    reduction `into` it reads it too, and one that a loop outside of the hold cuts, once there are sums); on exit it is
    stored back if a kernel below wrote it and it is a result of the group, used by a kernel outside, or such a sum.
    `slots` copies are kept in turns (2: the next load overlaps this tile's work).
    """

    name = "nest.hold"
    memory = prop_def(FlatSymbolRefAttrConstr)
    names = prop_def(ArrayAttr[StringAttr])
    slots = prop_def(IntegerAttr, default_value=IntegerAttr(1, i64), prop_name="buffers")
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Words, Count, Body)
    assembly_format = (
        "$memory custom<Words>($names) (`buffers` custom<Count>($buffers)^)? attr-dict-with-keyword custom<Body>($body)"
    )

    def __init__(self, memory: str, names: Sequence[str], slots: int, body: Region) -> None:
        super().__init__(memory=memory, names=names, buffers=slots, regions=[body])

    @property
    def buffer_names(self) -> tuple[str, ...]:
        """The buffers that are kept."""
        return tuple(n.data for n in self.names)


@irdl_op_definition
class ForOp(PlainOp):
    """Runs over the current range of `dim` in pieces of `step` iterations; the last piece may be shorter."""

    name = "nest.for"
    dim = prop_def(StringAttr)
    step = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Word, Count, Body)
    assembly_format = "custom<Word>($dim) `step` custom<Count>($step) attr-dict-with-keyword custom<Body>($body)"

    def __init__(self, dim: str, step: int, body: Region) -> None:
        super().__init__(dim=dim, step=step, regions=[body])


@irdl_op_definition
class SpatialOp(PlainOp):
    """Spreads the current range of `dim` over `ways` instances of `node` along `axis` (x or y).

    With `step`, instance `i` takes the iterations `i * step .. (i + 1) * step - 1` of the range, as far as there are
    any, and holds below are its own; `node` is a memory or the compute node whose instances these are.  Without, `node`
    is a compute node that takes the whole range in one issue and spreads it evenly itself.
    """

    name = "nest.spatial"
    dim = prop_def(StringAttr)
    ways = prop_def(IntegerAttr)
    node = prop_def(FlatSymbolRefAttrConstr)
    axis = prop_def(StringAttr)
    step = opt_prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Word, Count, Body)
    assembly_format = (
        "custom<Word>($dim) `=` custom<Count>($ways) (`step` custom<Count>($step)^)? `on` $node custom<Word>($axis) "
        "attr-dict-with-keyword custom<Body>($body)"
    )

    def __init__(self, dim: str, ways: int, node: str, axis: str, body: Region, step: int | None = None) -> None:
        super().__init__(dim=dim, ways=ways, node=node, axis=axis, step=step, regions=[body])

    @property
    def piece(self) -> int | None:
        """The iterations that one instance takes, where each has its own."""
        return None if self.step is None else self.step.value.data


@irdl_op_definition
class ComputeOp(PlainOp):
    """Runs `kernel` on the current ranges of its dims; with `on`, as one issue of that capability.

    `dims`: capability dim = kernel dim (a capability dim that is not named has extent 1; a kernel dim that is not named
    must have been brought to extent 1 by loops).  `tensors`: capability operand = tensor of the kernel's statement.
    `functions`: function variable = function.  `immediates`: immediate = value.
    """

    name = "nest.compute"
    kernel = prop_def(SymbolNameConstraint())
    on = opt_prop_def(SymbolRefAttr)
    dims = opt_prop_def(BindingAttr)
    tensors = opt_prop_def(BindingAttr)
    functions = opt_prop_def(BindingAttr)
    immediates = opt_prop_def(ValuesAttr)
    custom_directives = (Capability, Binding, Numbers)
    assembly_format = (
        "$kernel (`on` custom<Capability>($on)^)? (`dims` custom<Binding>($dims)^)? "
        "(`tensors` custom<Binding>($tensors)^)? (`functions` custom<Binding>($functions)^)? "
        "(`immediates` custom<Numbers>($immediates)^)? attr-dict-with-keyword"
    )

    def __init__(
        self,
        kernel: str,
        on: tuple[str, str] | None = None,
        dims: Mapping[str, str] | None = None,
        tensors: Mapping[str, str] | None = None,
        functions: Mapping[str, str] | None = None,
        immediates: Mapping[str, int | float] | None = None,
    ) -> None:
        super().__init__(
            kernel=kernel,
            on=None if on is None else SymbolRefAttr(on[0], [on[1]]),
            dims=None if on is None else BindingAttr.of(dims or {}),
            tensors=None if on is None else BindingAttr.of(tensors or {}),
            functions=BindingAttr.of(functions) if functions else None,
            immediates=ValuesAttr.of(immediates) if immediates else None,
        )

    @property
    def node(self) -> str | None:
        """The compute node, if one is chosen."""
        return None if self.on is None else self.on.root_reference.data

    @property
    def capability(self) -> str | None:
        """The capability of the node, if one is chosen."""
        return None if self.on is None else self.on.nested_references.data[0].data
