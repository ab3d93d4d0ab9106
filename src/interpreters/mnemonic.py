"""What a program of instructions means: what the simulator makes of its bytes, by the machine in the same module."""

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl_callable, register_impls

from ..backends.link import link
from ..backends.simulator import simulate
from ..dialects import mnemonic
from ..dialects.types import Role


@register_impls
class MnemonicFunctions(InterpreterFunctions):
    """Semantics of `mnemonic.program`: called with its inputs in order, it returns its outputs in order.

    The machine is the module's `acg.graph`, the weights are the module's resources.
    """

    @impl_callable(mnemonic.ProgramOp)
    def call_program(self, interpreter: Interpreter, op: mnemonic.ProgramOp, args: PythonValues) -> PythonValues:
        names = (tensor.tensor_name.data for tensor in op.tensors(Role.INPUT))
        result = simulate(link(interpreter.module), dict(zip(names, args, strict=True)), timing=False)
        return tuple(result.outputs[tensor.tensor_name.data] for tensor in op.tensors(Role.OUTPUT))
