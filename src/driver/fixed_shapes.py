"""Modules with the shapes that a caller asks for."""

from xdsl.dialects.builtin import ModuleOp

from ..frontends.input_shapes import InputShapes
from ..frontends.open_shapes import closed_shapes


def with_fixed_shapes(module: ModuleOp, subject: str, shapes: InputShapes) -> ModuleOp:
    """The module with static shapes: an open graph is fixed at the point that `shapes` gives; of a static one, shapes
    that differ are refused.
    """
    from ..dialects.graph.extents import DIMS, named_shape
    from ..interpreters.graph import argument_names, find_function
    from ..passes.graph.graph_fix_extents import fix_extents

    is_open = any(DIMS in op.attributes for op in module.body.ops)
    if not shapes and not is_open:
        return module
    function = find_function(module)
    arguments = zip(argument_names(function), function.body.block.args, strict=True)
    declared = {name: named_shape(value.type) for name, value in arguments}
    if is_open:
        closed = closed_shapes(declared, shapes)
        pairs = [pair for name, shape in closed.items() for pair in zip(declared[name], shape, strict=True)]
        fix_extents(module, {extent: number for extent, number in pairs if isinstance(extent, str)})
    else:
        shapes.check_fixed(
            subject, {name: [e for e in shape if isinstance(e, int)] for name, shape in declared.items()}
        )
    return module
