"""An accelerator as plain frozen data: what the text of an `.acg` file says, for code that needs no IR.

`frontends.acg` parses text to `dialects.acg` IR; `Machine` is its value form, used by `costs`, `search`, the assembler
and the simulator.  Units: bits in declarations of widths, bytes, cycles and pJ elsewhere.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

from ..algebra.expr import Expr, Statement, tensors_of
from .attributes import resolved
from .dram import DramTiming
from .fields import Field, Ranged
from .macros import Macro
from .packets import PackedMnemonic, PacketIsa
from .stages import StagesIsa, sized

MIN_BANDWIDTH = 1e-9
"""Bytes or words per cycle: with less, times have no meaning."""

UNLIMITED_BYTES = 1 << 62
"""What is said of the capacity of a memory without a depth."""


@dataclass(frozen=True)
class Ports:
    """How an instance of a memory is accessed: rates in words of its `data_width_bits` per cycle (None: no limit).

    `read_energy_pj` and `write_energy_pj` are paid per access, which moves up to `block_words` (None: see the energies
    per byte; a write without its own costs what a read does).  The network to what the memory feeds carries
    `network_bandwidth` and takes `hop_energy_pj` per word and hop; `latency_cycles` pass until a word is
    there.  With `flit_bits` that network is a mesh of routers that hold `queue_flits` of each neighbour and take
    `router_cycles`; each child compares the tag of each word that is sent, for `tag_energy_pj`.
    """

    block_words: int = 1
    read_energy_pj: float | None = None
    write_energy_pj: float | None = None
    read_bandwidth: float | None = None
    write_bandwidth: float | None = None
    shared_bandwidth: float | None = None
    network_bandwidth: float | None = None
    hop_energy_pj: float = 0.0
    latency_cycles: int = 0
    flit_bits: int = 0
    queue_flits: int = 4
    router_cycles: int = 1
    tag_energy_pj: float = 0.0


@dataclass(frozen=True)
class Memory:
    """A storage node; an element is `data_width_bits * banks` wide and `depth` elements deep (Covenant, section 2).

    There are `instances_x * instances_y` of it in an array, each with all of that.  Without a depth there is no limit.
    `holds` names the operands of a multiply-accumulate that may be kept here (None: all that links let pass); of each
    `buffering` copies are kept, so that one fills while another is used.  Fused layers lie in at most `regions` regions
    (0: no limit).  Off chip, `timing` is the device behind the links (None: they alone say how long a transfer takes).
    `area_mm2`: see `area`.
    """

    name: str
    data_width_bits: int
    banks: int
    depth: int | None
    offchip: bool = False
    align_bytes: int = 1
    read_energy_pj_per_byte: float = 0.0
    write_energy_pj_per_byte: float = 0.0
    instances_x: int = 1
    instances_y: int = 1
    holds: tuple[str, ...] | None = None
    buffering: float = 1.0
    ports: Ports = Ports()
    regions: int = 0
    timing: DramTiming | None = None
    area_mm2: Expr | None = None

    @property
    def capacity_bytes(self) -> int:
        """Bytes that fit into one instance; `UNLIMITED_BYTES` without a depth."""
        return UNLIMITED_BYTES if self.depth is None else self.data_width_bits * self.banks * self.depth // 8

    @property
    def element_bytes(self) -> int:
        """Bytes of an element, or row: all banks at one depth."""
        return self.data_width_bits * self.banks // 8


@dataclass(frozen=True)
class CapabilityDim:
    """One loop of a capability: at most `limit` iterations per issue; `lanes` of them run at once in each instance."""

    name: str
    limit: int
    lanes: int = 1


@dataclass(frozen=True)
class Capability:
    """What a node can do in one issue, and what that costs.

    `statement` uses `Strided` accesses over `dims`; `types` lists the allowed element types, target first, then the
    other operands in order of first appearance in the value.  `functions` maps a function variable of the statement to
    the functions that it may stand for.  `immediates` are scalars of the value given by the instruction (name -> type).
    `splits` are the dims that may be spread over the instances of the node (one per axis).
    `cycles` and `energy_pj` are formulas over dim extents (`k`), the instances that a dim is spread over (`k_ways`) and
    `ops` (the product of all extents); `written` are both as the file has them, if these name attributes of the machine
    (`attributes`), whose numbers stand in `cycles` and `energy_pj`.
    """

    name: str
    node: str
    dims: tuple[CapabilityDim, ...]
    statement: Statement
    types: tuple[tuple[str, ...], ...]
    cycles: Expr
    energy_pj: Expr
    functions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    immediates: tuple[tuple[str, str], ...] = ()
    splits: tuple[str, ...] = ()
    written: tuple[Expr, Expr] | None = None

    @property
    def formulas(self) -> tuple[Expr, Expr]:
        """Cycles and energy as the file has them."""
        return self.written or (self.cycles, self.energy_pj)

    @property
    def operands(self) -> tuple[str, ...]:
        """Tensor names, target first, in the order of `types`."""
        return tensors_of(self.statement)


@dataclass(frozen=True)
class Compute:
    """A compute node: `instances_x` by `instances_y` copies that work on one issue together; `area_mm2`: see `area`."""

    name: str
    instances_x: int
    instances_y: int
    capabilities: tuple[Capability, ...]
    area_mm2: Expr | None = None


@dataclass(frozen=True)
class Link:
    """A directed edge; `src <-> dst` in the text makes two.  Its bandwidth is infinite where the text names none."""

    src: str
    dst: str
    bandwidth_bytes_per_cycle: float
    latency_cycles: int = 0
    channel: str = ""  # transfers over links of one channel exclude each other (`<->` shares one)
    capabilities: tuple[Capability, ...] = ()
    back: bool = False  # the `dst -> src` half of a `src <-> dst`
    area_mm2: Expr | None = None  # of both halves of a `src <-> dst` together (see `area`)

    @property
    def name(self) -> str:
        """How mnemonics and capabilities name the link: `SRC->DST`."""
        return f"{self.src}->{self.dst}"

    def reversed(self) -> "Link":
        """The other half of a `<->`, with the same capabilities the other way round."""
        back = replace(self, src=self.dst, dst=self.src, back=not self.back)
        return replace(back, capabilities=tuple(replace(c, node=back.name) for c in self.capabilities))


@dataclass(frozen=True)
class OperandBinding:
    """Where an operand of the capability lies: `memory[address field]`, element type, and byte stride fields per dim.

    `type_name` is an element type or the name of an efield whose enumerators are element types.
    """

    operand: str
    memory: str
    address: str
    type_name: str
    strides: tuple[tuple[str, str], ...]  # (capability dim, field)


@dataclass(frozen=True)
class Mnemonic:
    """An instruction: its word (opcode, header fields, own fields, padded to the ISA's alignment) and its
    meaning, an execution of `capability` with everything bound to fields.  The binding is read both ways: the code
    generator fills fields with it, the simulator executes with it.
    """

    name: str
    opcode: int
    unit: str
    fields: tuple[Field, ...]  # own fields, without opcode and header
    node: str = ""  # node or link ("DRAM->GBUF") of the capability
    capability: str = ""
    extents: tuple[tuple[str, str], ...] = ()  # (dim, field)
    operands: tuple[OperandBinding, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()  # (function variable, efield of function names)
    immediates: tuple[tuple[str, str], ...] = ()  # (immediate, field holding its bits)
    accumulate: str = ""  # 1-bit field: 1 keeps the target's old value, 0 starts from the identity
    spread_x: str = ""  # efield of dim names (`none` for no dim): which dim the x axis carries
    spread_y: str = ""
    action: "Action | None" = None  # control model `loops`: what it configures, instead of executing something
    named: str = ""  # efield whose names stand for the mnemonic in assembly text


@dataclass(frozen=True)
class Action:
    """What an instruction of control model `loops` does: an action with its roles bound to fields or to literals.

    Kinds and roles are those of `loop_rules.ACTIONS`.
    """

    kind: str
    roles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Engine:
    """What a unit of control model `loops` does by itself, between rows of memories (a row: all banks at one depth).

    With a capability it is an array: each innermost iteration executes it once on `operands`, whose addresses are byte
    offsets in their rows; `initial` is the row from which a reduction starts.  Without one it runs bodies of
    instructions.  `levels` are kinds of loops with the first id of each.  Off chip, transfers of a memory are in
    `granules` of so many bytes; in a row order where consecutive bytes go to `interleave` consecutive rows.  Results
    appear `latency_cycles` after the last issue.
    """

    node: str = ""
    capability: str = ""
    operands: tuple[OperandBinding, ...] = ()
    initial: tuple[OperandBinding, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    granules: tuple[tuple[str, str], ...] = ()
    interleave: tuple[tuple[str, str], ...] = ()
    latency_cycles: int = 0


@dataclass(frozen=True)
class Unit:
    """An in-order queue: instructions of one unit run one after another, units run concurrently."""

    name: str
    depth: int = 0  # instructions that may wait in the queue; 0 for no limit
    engine: Engine | None = None  # control model `loops`


@dataclass(frozen=True)
class PlacedField(Ranged):
    """A field's place in its word: `width_bits` bits from `offset_bits` on, counted from the most significant bit."""

    name: str
    offset_bits: int
    width_bits: int
    signed: bool


@dataclass(frozen=True)
class Word:
    """The layout of an instruction word of `bits` bits; the first field is `OPCODE`.

    Bytes of `little` words are stored the least significant first.
    """

    mnemonic: Mnemonic
    fields: tuple[PlacedField, ...]
    bits: int
    little: bool = False

    @property
    def bytes(self) -> int:
        """Length in bytes."""
        return self.bits // 8

    @cached_property
    def by_name(self) -> dict[str, PlacedField]:
        """The fields by name, without the opcode."""
        return {item.name: item for item in self.fields[1:]}


@dataclass(frozen=True)
class Machine:
    """One accelerator.

    Every instruction starts with an `opcode_bits` opcode and the `header` fields.  Control model `queues`: on
    completion an instruction adds 1 to the counter of tag `signal` (0 for none); it starts only when for each
    (tag, count) pair of `waits` with a tag other than 0 that counter has reached the count.  Attributes that formulas
    name are resolved whenever a machine is made, so that a changed copy follows.
    """

    name: str
    control: str
    memories: tuple[Memory, ...]
    computes: tuple[Compute, ...]
    links: tuple[Link, ...]
    units: tuple[Unit, ...] = ()
    mnemonics: tuple[Mnemonic, ...] = ()
    opcode_bits: int = 8
    instruction_align_bits: int = 8
    instruction_bits: int = 0  # every word is so long; 0: each as long as its fields, padded to the alignment
    header: tuple[Field, ...] = ()
    signal: str = ""
    waits: tuple[tuple[str, str], ...] = ()
    positional: bool = False  # assembly text gives fields in order, without names
    little: bool = False  # bits are counted from the least significant one, whose byte comes first
    frequency_hz: float = 1e9
    packets: PacketIsa | None = None  # control model `packets`
    macros: tuple[Macro, ...] = ()
    stages: StagesIsa | None = None  # control model `stages`
    source: str = field(default="", compare=False)  # the text it was read from

    def __post_init__(self) -> None:
        computes, links = resolved(self)
        object.__setattr__(self, "computes", computes)
        object.__setattr__(self, "links", links)
        header, *own, micro = sized(self)
        object.__setattr__(self, "header", header)
        pairs = zip(self.mnemonics, own, strict=True)
        object.__setattr__(self, "mnemonics", tuple(m if m.fields == f else replace(m, fields=f) for m, f in pairs))
        if self.stages is not None:
            object.__setattr__(self, "stages", replace(self.stages, fields=micro))

    def __repr__(self) -> str:
        parts = ((self.memories, "memories"), (self.computes, "compute nodes"), (self.mnemonics, "mnemonics"))
        counts = ", ".join(f"{len(found)} {what}" for found, what in parts)
        return f"<Machine {self.name}: control {self.control}, {counts}>"

    @property
    def has_isa(self) -> bool:
        """Whether anything is said about instructions."""
        shared = (self.opcode_bits, self.instruction_align_bits, self.instruction_bits, self.signal, self.waits)
        return bool(self.mnemonics or self.header or self.positional or self.little) or shared != (8, 8, 0, "", ())

    def executed(self, by: Mnemonic | PackedMnemonic | Engine) -> Capability | None:
        """The capability that an instruction or engine executes; None where the machine has no such."""
        owners = (owner for owner in (*self.computes, *self.links) if owner.name == by.node)
        return next((c for owner in owners for c in owner.capabilities if c.name == by.capability), None)

    @cached_property
    def memory_by_name(self) -> dict[str, Memory]:
        """Its memories, by their names."""
        return {memory.name: memory for memory in self.memories}

    @cached_property
    def compute_by_name(self) -> dict[str, Compute]:
        """Its compute nodes, by their names."""
        return {compute.name: compute for compute in self.computes}

    @cached_property
    def offchip(self) -> tuple[str, ...]:
        """The names of the memories off chip."""
        return tuple(memory.name for memory in self.memories if memory.offchip)

    def fields_of(self, mnemonic: Mnemonic) -> dict[str, Field]:
        """The fields of an instruction by their names: the header's, then its own."""
        return {item.name: item for item in (*self.header, *mnemonic.fields)}

    @cached_property
    def words(self) -> dict[str, Word]:
        """The instruction word of each mnemonic, by the mnemonic's name."""
        return {mnemonic.name: self.word(mnemonic) for mnemonic in self.mnemonics}

    def word(self, mnemonic: Mnemonic) -> Word:
        """The layout of an instruction: `OPCODE`, the header's fields, the mnemonic's own, padding to the alignment.

        Of `little` words the fields stand the other way round, the opcode in the least significant bits.
        """
        placed: list[PlacedField] = []
        end = longest = 0
        for item in (Field("OPCODE", self.opcode_bits), *self.header, *mnemonic.fields):
            start = end if item.at_bit is None else item.at_bit
            end = start + item.width_bits
            longest = max(longest, end)
            placed.append(PlacedField(item.name, start, item.width_bits, item.signed))
        aligned = -(-longest // self.instruction_align_bits) * self.instruction_align_bits
        bits = self.instruction_bits or aligned
        if self.little:
            placed = [replace(item, offset_bits=bits - item.offset_bits - item.width_bits) for item in placed]
        return Word(mnemonic, tuple(placed), bits, self.little)
