"""A mapped program on its mesh: elements that compute, a buffer that sends, memory off chip, cycle by cycle."""

from dataclasses import asdict, dataclass
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ...algebra.element import Ints
from ...errors import TilewrightError
from ..compiled import bare, bare_entry
from ..hierarchy import Architecture
from .mesh import IN, LOCAL
from .network import HOPS, IN_FLIGHT, MOVED, Net, cycle, make_net
from .program import MeshProgram, mesh_level

LATE = 1 << 62

BROUGHT, TAKEN, LEFT, SLOWEST, FROM, TO = range(6)
"""Transfers from and to off chip that are done, results that came in order, steps that all elements have begun, and
when the transfers under way end."""


class Work(NamedTuple):
    """Steps s, elements i, packets p, transfers t.

    `cycles[s, i]`, `arrivals[s, i]` (packets that must have come before a step) and `departures[s, i]` (those that must
    have gone); `nodes[i]`; `begun[i]`, `finished[i]` steps and the `end[i]` of the one under way.  Of packets `step`,
    `gate`, `needs` and the transfers that must be done, `after`; `ups` are results.  Transfers in have
    `ticks_in` and a `gate_in`, those out `ticks_out` and the results that must have come, `after_out`; they are one at
    a time if `shared`.
    """

    cycles: Ints
    arrivals: Ints
    departures: Ints
    nodes: Ints
    begun: Ints
    finished: Ints
    end: Ints
    step: Ints
    gate: Ints
    needs: Ints
    after: Ints
    ups: Ints
    ticks_in: Ints
    gate_in: Ints
    ticks_out: Ints
    after_out: Ints
    shared: bool
    state: Ints


@dataclass(frozen=True)
class MeshRun:
    """What a program took, and what it would take if only one thing limited it.

    `compute_cycles` are those of the busiest element, `sent_flits` and `received_flits` pass the buffer's link out and
    in, `dram_cycles` are those of the memory off chip; `hops` are links passed by flits, with `hop_energy_pj` and
    `tag_energy_pj` (each element compares the tag of each word that is sent, Sunstone's and Eyeriss's multicast).
    `words` are those of each tensor inwards and outwards.
    """

    cycles: int
    compute_cycles: int
    sent_flits: int
    received_flits: int
    dram_cycles: int
    packets: int
    hops: int
    hop_energy_pj: float
    tag_energy_pj: float
    words: dict[str, tuple[int, int]]

    @property
    def bound_by(self) -> str:
        """What takes most of the cycles, if at least four fifths of them; else `waiting`."""
        parts = {"compute": self.compute_cycles, "mesh": max(self.sent_flits, self.received_flits)}
        parts["dram"] = self.dram_cycles
        name = max(parts, key=lambda part: parts[part])
        return name if parts[name] >= 0.8 * self.cycles else "waiting"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        words = {name: {"inwards": inwards, "outwards": out} for name, (inwards, out) in self.words.items()}
        return {**asdict(self), "bound_by": self.bound_by, "words": words}


def run_program(arch: Architecture, program: MeshProgram) -> MeshRun:
    """Run a program from beginning to end."""
    net = _net(program)
    work = _work(arch, program)
    cycles = run_work(net, work)
    if cycles < 0:
        raise TilewrightError("noc", arch.name, "a program that ends", "packets that wait for each other", "report it")
    level = arch.levels[mesh_level(arch)]
    down = program.up == 0
    flits = net.flits
    hops = int(net.counts[HOPS])
    words_sent = float(program.bits[down].sum()) / level.word_bits
    return MeshRun(
        int(cycles),
        int(program.cycles.sum(axis=0).max(initial=0)),
        int(flits[down].sum()),
        int(flits[~down].sum()),
        int(work.ticks_in.sum() + work.ticks_out.sum()),
        len(flits),
        hops,
        hops * program.mesh.flit_bits / level.word_bits * level.hop_energy_pj,
        words_sent * len(program.nodes) * level.tag_energy_pj,
        program.words,
    )


def _net(program: MeshProgram) -> Net:
    mesh = program.mesh
    flits = mesh.header_flits + -(-program.bits // mesh.flit_bits)
    sources = [np.flatnonzero(program.up == 0)]
    for node in range(1, mesh.nodes):
        sends = (program.routes[:, node] >> (IN + LOCAL) & 1).astype(bool)
        sources.append(np.flatnonzero((program.up == 1) & sends[program.route]))
    return make_net(mesh, program.routes, program.route, flits, sources)


def _work(arch: Architecture, program: MeshProgram) -> Work:
    count, elements = program.cycles.shape
    arrivals, sent = np.zeros((count, elements), np.int64), np.zeros((count, elements), np.int64)
    for route in range(len(program.routes)):
        steps = np.bincount(program.step[program.route == route], minlength=count)
        row = program.routes[route, program.nodes]
        up = bool(((row >> (IN + LOCAL)) & 1).any())
        ends = np.flatnonzero(row >> (IN + LOCAL if up else LOCAL) & 1)
        (sent if up else arrivals)[:, ends] += steps[:, None]
    before = np.concatenate([np.zeros((1, elements), np.int64), np.cumsum(sent, axis=0)[:-1]])
    came_in, went_out = np.flatnonzero(program.brought), np.flatnonzero(program.taken)
    ups = np.flatnonzero(program.up == 1)
    rate_in, rate_out, shared = _rates(arch)
    gates = np.concatenate([np.full(2, -1), came_in[1:-1]])[: len(came_in)]
    return Work(
        cycles=program.cycles,
        arrivals=np.cumsum(arrivals, axis=0),
        departures=np.maximum(before - 1, 0),
        nodes=program.nodes,
        begun=np.zeros(elements, np.int64),
        finished=np.zeros(elements, np.int64),
        end=np.full(elements, -1),
        step=program.step,
        gate=program.gate,
        needs=program.needs,
        after=np.searchsorted(came_in, program.step, side="right"),
        ups=ups,
        ticks_in=_ticks(program.brought[came_in], rate_in),
        gate_in=gates,
        ticks_out=_ticks(program.taken[went_out], rate_out),
        after_out=np.searchsorted(program.step[ups], went_out, side="right"),
        shared=shared,
        state=np.zeros(6, np.int64),
    )


def _rates(arch: Architecture) -> tuple[float, float, bool]:
    """Bits a cycle from and to the memory off chip, and whether that is both together."""
    level = arch.levels[-1]
    if level.shared_bandwidth is not None:
        return level.shared_bandwidth * level.word_bits, level.shared_bandwidth * level.word_bits, True
    rates = (inf if rate is None else rate * level.word_bits for rate in (level.read_bandwidth, level.write_bandwidth))
    return next(rates), next(rates), False


def _ticks(bits: Ints, rate: float) -> Ints:
    return np.array([ceil(int(n) / rate) for n in bits], np.int64)


@bare
def _compute(net: Net, work: Work, now: int) -> None:
    """Elements that end a step, begin one, and let results go."""
    steps = work.cycles.shape[0]
    for i in range(len(work.nodes)):
        node = work.nodes[i]
        moved = False
        while True:
            if work.end[i] >= 0:
                if work.end[i] > now:
                    break
                work.finished[i] += 1
                work.end[i] = -1
                moved = True
            s = work.begun[i]
            if s == steps or net.arrived[node] < work.arrivals[s, i] or net.sent[node] < work.departures[s, i]:
                break
            work.begun[i] += 1
            work.end[i] = now + work.cycles[s, i]
        if moved:
            last = net.first[node + 1] - net.first[node]
            while net.allowed[node] < last:
                packet = net.sources[net.first[node] + net.allowed[node]]
                if work.step[packet] >= work.finished[i]:
                    break
                net.allowed[node] += 1
                net.awake[node] = min(net.awake[node], now)
    slowest = steps
    for i in range(len(work.nodes)):
        slowest = min(slowest, int(work.begun[i]))
    work.state[SLOWEST] = slowest


@bare
def _offchip(net: Net, work: Work, now: int) -> None:
    """Transfers that end, and the next ones: of two that share the port, what comes in goes first."""
    state = work.state
    while state[LEFT] < len(work.ups) and net.done[work.ups[state[LEFT]]] >= 0:
        state[LEFT] += 1
    if state[FROM] and state[FROM] <= now:
        state[FROM] = 0
        state[BROUGHT] += 1
    if state[TO] and state[TO] <= now:
        state[TO] = 0
        state[TAKEN] += 1
    while state[FROM] == 0 and not (work.shared and state[TO]):
        number = state[BROUGHT]
        if number == len(work.ticks_in) or work.gate_in[number] >= state[SLOWEST]:
            break
        if work.ticks_in[number] == 0:
            state[BROUGHT] += 1
            continue
        state[FROM] = now + work.ticks_in[number]
    while state[TO] == 0 and not (work.shared and state[FROM]):
        number = state[TAKEN]
        if number == len(work.ticks_out) or work.after_out[number] > state[LEFT]:
            break
        if work.ticks_out[number] == 0:
            state[TAKEN] += 1
            continue
        state[TO] = now + work.ticks_out[number]


@bare
def _send(net: Net, work: Work, now: int) -> None:
    """What the buffer may send: in order, once there is room for it and it is there."""
    state = work.state
    while net.allowed[0] < net.first[1]:
        packet = net.sources[net.allowed[0]]
        needs = work.needs[packet]
        if work.gate[packet] >= state[SLOWEST] or work.after[packet] > state[BROUGHT]:
            return
        if needs >= 0 and net.done[needs] < 0:
            return
        net.allowed[0] += 1
        net.awake[0] = min(net.awake[0], now)


@bare
def _ended(net: Net, work: Work) -> bool:
    state = work.state
    if state[TAKEN] < len(work.ticks_out) or state[LEFT] < len(work.ups) or net.counts[IN_FLIGHT]:
        return False
    for i in range(len(work.nodes)):
        if work.finished[i] < work.cycles.shape[0]:
            return False
    return True


@bare
def _next(work: Work) -> int:
    """When something ends that is under way."""
    found = LATE
    for i in range(len(work.end)):
        if work.end[i] >= 0:
            found = min(found, int(work.end[i]))
    for part in (FROM, TO):
        if work.state[part]:
            found = min(found, int(work.state[part]))
    return found


@bare_entry
def run_work(net: Net, work: Work) -> int:
    """Cycles to the end; -1 if nothing can go on."""
    now, waits = 0, 0
    while True:
        _compute(net, work, now)
        _offchip(net, work, now)
        _send(net, work, now)
        if _ended(net, work):
            return now
        cycle(net, now)
        waits = 0 if net.counts[MOVED] else waits + 1
        later = _next(work)
        if net.counts[MOVED] == 0 and net.counts[IN_FLIGHT] == 0 and waits > 1:
            if later == LATE:
                return -1
            now = max(now, later - 1)
        if waits > net.delay + 1 and later == LATE:
            return -1
        now += 1
