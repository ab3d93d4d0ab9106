"""What `acg` means: a machine is described, and nothing is done."""

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from ..dialects import acg


@register_impls
class AcgFunctions(InterpreterFunctions):
    """Semantics of `acg.graph`: a description, which does nothing."""

    @impl(acg.GraphOp)
    def run_graph(self, interpreter: Interpreter, op: acg.GraphOp, args: PythonValues) -> PythonValues:
        return ()
