// A mapping that ran: its cards, its loops as a tree of memories, energy, and words counted beside those of the cost model.

function makeCards() {
  const least = answer.lower_bound, over = (value, bound) => (bound ? `${(100 * (value / bound - 1)).toFixed(1)} % above the least of any mapping` : "");
  $("cards").replaceChildren(
    card("Latency", parted(`${exact(answer.cycles)} cycles`), over(answer.cycles, least.cycles), meter(least.cycles / answer.cycles)),
    card("Energy", parted(energy(answer.energy_pj)), over(answer.energy_pj, least.energy_pj), meter(least.energy_pj / answer.energy_pj)),
    card("Off-chip traffic", parted(bytes(answer.dram_bytes))),
    ...Object.entries(answer.utilization).map(([name, part]) => card(`Use of ${name}`, parted(`${(100 * part).toFixed(1)} %`),
      `${exact(answer.counts.macs)} operations in ${exact(answer.counts.steps)} steps`, meter(part))),
    card("As the cost model says", answer.model.equal ? "equal" : "differs",
      answer.proven === true ? "the best mapping, proven" : answer.proven === false ? "the best that was found" : "a mapping by hand"),
    ...(answer.noc ? [card("Latency on the mesh", parted(`${exact(answer.noc.cycles)} cycles`), `bound by ${answer.noc.bound_by}`)] : []));
}

// Memories inside of each other, outermost first, each with the loops that run in it.
function makeTree() {
  let place = $("tree");
  for (const level of [...answer.tree].reverse()) {
    const loops = level.loops.map((text) => make("code", { textContent: text }));
    const box = make("details", { open: true, className: "level" }, make("summary", {}, make("b", { textContent: level.memory }),
      make("span", { className: "soft", textContent: level.keeps.length ? ` keeps ${level.keeps.join(", ")}` : "" })), ...loops);
    place.append(box);
    place = box;
  }
  place.append(make("code", { textContent: answer.statement }));
}

function makeEnergy() {
  const whole = Math.max(answer.energy_pj, 1e-9), { cycles } = answer.counts;
  const parts = Object.entries(answer.energy_by_component_pj).filter(([, pj]) => pj > 0).sort((a, b) => b[1] - a[1]);
  const time = Object.entries(cycles).filter(([, value]) => value > 0);
  const kind = (name) => (name === answer.offchip ? "dram" : name in answer.utilization ? "array" : name in answer.counts.memories ? "other" : "waiting");
  $("energy-body").replaceChildren(
    bars("Energy", parts.map(([name, pj]) => ({ name, kind: kind(name), part: pj / whole, text: energy(pj) }))),
    bars("Cycles", time.map(([name, value]) => ({ name, kind: name === "steady" ? "array" : "waiting", part: value / Math.max(1, answer.cycles), text: exact(value) }))));
}

const COUNTS = ["reads", "fills", "updates"];

function makeTable() {
  const wanted = $("filter").value.trim().toLowerCase();
  const shown = Object.entries(answer.counts.memories).reverse().flatMap(([memory, one]) => Object.entries(one.tensors)
    .map(([tensor, words]) => ({ memory, tensor, words, model: answer.model.memories[memory].tensors[tensor], network: one.network_words[tensor] })))
    .filter(({ memory, tensor }) => `${memory} ${tensor}`.toLowerCase().includes(wanted));
  const cell = (words, model, key) => exact(words[key]) + (words[key] === model[key] ? "" : ` (model: ${exact(model[key])})`);
  $("table").replaceChildren(...tableRows(["memory", "tensor", ...COUNTS, "on the network below"],
    shown.map(({ memory, tensor, words, model, network }) => [memory, tensor, ...COUNTS.map((key) => cell(words, model, key)), exact(network ?? 0)]), 2));
  $("equal").textContent = answer.model.equal ? "counted in the run; the cost model says the same" : "counted in the run; what the model says otherwise stands beside";
}

$("title").append(answer.name, make("span", { textContent: ` on ${answer.target}` }));
startPage([["/", "filter the words", () => $("filter").focus()]]);
makeCards();
makeTree();
makeEnergy();
makeTable();
$("filter").addEventListener("input", makeTable);
finish();
