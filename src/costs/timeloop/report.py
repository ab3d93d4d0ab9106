"""What the model answers."""

from dataclasses import dataclass

Json = dict[str, object]


@dataclass(frozen=True)
class Violation:
    """Why a mapping is not valid: `demand` of `resource` exceeds (or for factors, differs from) `bound`, in `unit`."""

    level: str
    resource: str
    demand: int
    bound: int
    unit: str

    def as_json(self) -> Json:
        """The fields, and a sentence."""
        text = f"{self.level}: {self.demand} {self.unit} of {self.resource}, bound {self.bound}"
        return {
            "level": self.level,
            "resource": self.resource,
            "demand": self.demand,
            "bound": self.bound,
            "unit": self.unit,
            "message": text,
        }


@dataclass(frozen=True)
class TensorReport:
    """Counts of one tensor at one level, in words per instance; energy in pJ of all utilised instances."""

    tile_words: int
    partition_words: int
    instances: int
    reads: int
    fills: int
    updates: int
    energy_pj: float

    def as_json(self) -> Json:
        """The keys that Timeloop's statistics have."""
        return {
            "partition_size": self.partition_words,
            "utilized_capacity": self.tile_words,
            "utilized_instances": self.instances,
            "reads": self.reads,
            "fills": self.fills,
            "updates": self.updates,
            "energy_pJ": self.energy_pj,
        }


@dataclass(frozen=True)
class NetworkReport:
    """What one instance of a level exchanges with its children for one tensor.

    `signatures` holds (multicast, scatter, words): `scatter` groups of `multicast` children, each word sent once per
    group.  `link_words` come from neighbours instead.  `hop_words` is the sum of words times hops before masking.
    """

    signatures: tuple[tuple[int, int, float], ...]
    link_words: int
    hop_words: float
    energy_pj: float
    link_energy_pj: float

    def as_json(self) -> Json:
        """Signature, link transfers and energy."""
        return {
            "signature": [list(s) for s in self.signatures],
            "link_transfers": self.link_words,
            "energy_pJ": self.energy_pj,
            "link_energy_pJ": self.link_energy_pj,
        }


@dataclass(frozen=True)
class LevelReport:
    """One level: cycles at its own bandwidth, its slowdown, the tensors it keeps, the network to its children."""

    cycles: int
    throttling: float
    tensors: dict[str, TensorReport]
    networks: dict[str, NetworkReport]

    def as_json(self) -> Json:
        """As in Timeloop's statistics."""
        return {
            "cycles": self.cycles,
            "throttling": self.throttling,
            "tensors": {name: tensor.as_json() for name, tensor in self.tensors.items()},
            "networks": {name: network.as_json() for name, network in self.networks.items()},
        }


@dataclass(frozen=True)
class Prices:
    """The price of a mapping: cycles, energy in pJ per component, and all counts per level and tensor."""

    violations: tuple[Violation, ...]
    cycles: int
    energy_pj: float
    energy_by_component_pj: dict[str, float]
    utilization: float
    macs: int
    levels: dict[str, LevelReport]

    @property
    def valid(self) -> bool:
        """Whether the machine can run the mapping."""
        return not self.violations

    @property
    def edp_j_cycle(self) -> float:
        """Energy times delay, in joule cycles."""
        return self.energy_pj * 1e-12 * self.cycles

    def as_json(self) -> Json:
        """The answer of `tilewright price` for one entry."""
        return {
            "valid": self.valid,
            "violations": [v.as_json() for v in self.violations],
            "cycles": self.cycles,
            "energy_pj": self.energy_pj,
            "energy_pJ": self.energy_pj,
            "energy_by_component_pJ": dict(self.energy_by_component_pj),
            "edp_J_cycle": self.edp_j_cycle,
            "utilization": self.utilization,
            "macs": self.macs,
            "levels": {name: level.as_json() for name, level in self.levels.items()},
        }
