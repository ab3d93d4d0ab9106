"""Plans of which a schedule of another search says the groups and what is kept: followed as far as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass

from .network import Network, RowsOf
from .residency import Search
from .steps import Plan, Step


@dataclass(frozen=True)
class Group:
    """Layers `start` to `stop` (exclusive) of a layer group, to run tile by tile, or one after another."""

    start: int
    stop: int
    layer_group: int
    tiled: bool


@dataclass
class _Follower(Search):
    groups: Sequence[Group] = ()

    def path(self) -> tuple[list[Step], int]:
        """Steps of as many layers of a group as there is room for; those so far and a layer that nothing fits for."""
        steps: list[Step] = []
        for group in self.groups:
            at = group.start
            while at < group.stop:
                stops = range(group.stop, at, -1) if group.tiled else (at + 1,)
                step = next((found for stop in stops if (found := self.step(at, stop)[0]) is not None), None)
                if step is None:
                    return [], at
                steps.append(step)
                at = step.stop
        return steps, -1

    def ring_cycles(self, rings_bytes: int) -> float:
        """Nothing: tiles are as large as the schedule says, where there is room."""
        return 0.0

    def follow(self) -> Plan:
        """The plan, with maps that further layer groups read kept, too, where nothing has to give way for them."""
        network = self.network
        number = {place: group.layer_group for group in self.groups for place in range(group.start, group.stop)}
        touching: dict[int, list[int]] = {}
        for place, layer in enumerate(network.layers):
            for value in {*layer.reads, *layer.makes}:
                touching.setdefault(value, []).append(number[place])
        crossing = {value for value in self.kept if len(set(touching[value])) > 1 and len(self.makers(value)) == 1}
        self.kept -= crossing
        found = self.run()
        assert found is not None
        near = (value for value in crossing if touching[value][1] == touching[value][0])
        for value in sorted(near, key=lambda value: network.map_bytes[value]):
            self.kept = found.kept | {value}
            if self.path() == ([*found.steps], -1):
                found = Plan(found.steps, found.kept | {value})
        return found


def follow(network: Network, groups: Sequence[Group], rows_of: RowsOf, share: float = 0.5) -> Plan:
    """The plan of `groups`, which hold all layers in order.

    A map stays on chip where all that read it are in the layer group of what makes it.  Where a group has too little
    room, as many of its layers as fit run together, then one by one, then fewer maps are kept.
    """
    return _Follower(network, rows_of, share, groups=groups).follow()
