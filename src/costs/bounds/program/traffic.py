"""What every program of a network loads and stores at least."""

from .demand import Demand, Need, covered, elements, need, union, whole
from .network import Network, Step


class Traffic:
    """`needs` of each kernel, `loads` and `stores` in bytes, and the bytes of each result by its value, `outputs`.

    What is needed of each input and weight comes in, and each result goes out, once.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.steps = [step for step in network.steps if isinstance(step, Step)]
        self.made = {step.target: step for step in network.steps}
        self.needs, wanted = self._needs()
        self.loads = sum(
            elements(demand) * network.values[value].element_bytes
            for value, demand in wanted.items()
            if network.values[value].external
        )
        self.outputs = {value: self._output_bytes(value) for value in network.outputs}
        self.stores = sum(self.outputs.values())

    def _needs(self) -> tuple[list[Need], dict[int, Demand]]:
        """What the results need of each step, and of each value."""
        shapes = [value.shape for value in self.network.values]
        wanted: dict[int, Demand] = {value: whole(shapes[value]) for value in self.network.outputs}
        found: dict[int, Need] = {}
        for step in reversed(self.network.steps):
            if step.target in wanted:
                found[step.target] = need(step, wanted[step.target], shapes)
                for value, demand in found[step.target].reads:
                    wanted[value] = union(wanted.get(value), demand)
        nothing = Need(0, 0, ())
        return [found.get(step.target, nothing) for step in self.steps], wanted

    def _output_bytes(self, value: int) -> int:
        """Bytes of a result that are written at all."""
        item, step = self.network.values[value], self.made[value]
        boxes: list[Demand] = []
        while isinstance(step, Step):
            box = covered(step, item.shape)
            boxes += [box] if box is not None else []
            if step.init is None or step.init not in self.made:
                break
            step = self.made[step.init]
        if not isinstance(step, Step) or step.init is not None:
            return item.bytes
        most: Demand = (0,) * len(item.shape)
        for box in sorted(boxes, key=elements, reverse=True):
            most = union(most if elements(most) else None, box)
        return elements(most) * item.element_bytes
