"""The part of the `acg` dialect for macro-mnemonics, and its way to and from `machine.macros`.

acg.macro @MULADD execute @VPU::@muladd places ["O SPAD i32", "A SPAD i32"] emits ["MUL O O, A A, SA A.i, FN mul"]
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, lazy_traits_def, prop_def
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ..machine.macros import Emission, Macro
from .acg_attributes import executed


def in_graph() -> tuple[HasParent]:
    """The trait of what stands in a machine's description."""
    from .acg import GraphOp

    return (HasParent(GraphOp),)


@irdl_op_definition
class MacroOp(IRDLOperation):
    """A capability on operands in these places and of these types, as a sequence of instructions."""

    name = "acg.macro"
    sym_name = prop_def(SymbolNameConstraint())
    execute = prop_def(SymbolRefAttr)
    places = prop_def(ArrayAttr[StringAttr])
    emits = prop_def(ArrayAttr[StringAttr])
    traits = lazy_traits_def(in_graph)
    assembly_format = "$sym_name `execute` $execute `places` $places `emits` $emits attr-dict"

    def verify_(self) -> None:
        bad = [place.data for place in self.places if len(place.data.split()) != 3]
        bad += [emit.data for emit in self.emits if any(len(pair.split()) != 2 for pair in _pairs(emit.data))]
        executed(self.execute)
        if bad:
            form = "`operand memory type`, `mnemonic field value, ...`"
            raise VerifyException(f"expected {form}, found {', '.join(bad)}")


def _pairs(text: str) -> list[str]:
    _, _, values = text.partition(" ")
    return values.split(",") if values.strip() else []


def macro_op(macro: Macro) -> Operation:
    """The op of a macro."""
    emits = [f"{e.mnemonic} {', '.join(f'{name} {value}' for name, value in e.values)}" for e in macro.emissions]
    return MacroOp.create(
        properties={
            "sym_name": StringAttr(macro.name),
            "execute": SymbolRefAttr(macro.node, [macro.capability]),
            "places": ArrayAttr(StringAttr(" ".join(place)) for place in macro.places),
            "emits": ArrayAttr(map(StringAttr, emits)),
        }
    )


def macro_values(ops: Iterable[Operation]) -> tuple[Macro, ...]:
    """The macros of a machine's ops."""
    return tuple(_macro(op) for op in ops if isinstance(op, MacroOp))


def _macro(op: MacroOp) -> Macro:
    places = tuple((a, b, c) for a, b, c in (place.data.split() for place in op.places))
    emissions: list[Emission] = []
    for emit in op.emits:
        values = tuple((name, value) for name, value in (pair.split() for pair in _pairs(emit.data)))
        emissions.append(Emission(emit.data.partition(" ")[0], values))
    return Macro(op.sym_name.data, *executed(op.execute), places, tuple(emissions))
