// Cards, remarks, the roofline, and energy, memories and units as bars.

function makeCards() {
  const least = answer.lower_bound ?? {}, cards = [];
  const add = (label, value, lines, part = null) => cards.push(card(label, value, ...lines, meter(part)));
  add("Latency", [exact(answer.cycles), unit("cycles")],
    [`${seconds(answer.cycles)} at ${count(answer.target.frequency_hz, "Hz")}`, predictedLine("cycles")]);
  if (least.cycles) {
    add("Least of any program", [exact(least.cycles), unit("cycles")],
      [`${(100 * answer.gap).toFixed(1)} % above it, bound by ${answer.bound_by}`], least.cycles / answer.cycles);
  }
  if (answer.energy_pj !== null) {
    add("Energy", parted(energy(answer.energy_pj)), [least.energy_pj ? `at least ${energy(least.energy_pj)}` : ""],
      least.energy_pj ? least.energy_pj / answer.energy_pj : null);
  }
  add("Off-chip traffic", parted(bytes(answer.dram_bytes)), [least.dram_bytes ? `at least ${bytes(least.dram_bytes)}` : ""],
    least.dram_bytes ? least.dram_bytes / answer.dram_bytes : null);
  const array = answer.target.array;
  if (array && array in answer.utilization) {
    add(`Use of ${array}`, [(100 * answer.utilization[array]).toFixed(1), unit("% of its peak")],
      [`${exact(answer.counts.computes[array].ops)} operations`], answer.utilization[array]);
  }
  for (const memory of answer.target.memories.filter((one) => !one.offchip && answer.peak_bytes[one.name])) {
    const used = answer.peak_bytes[memory.name];
    add(`Highest byte used in ${memory.name}`, parted(capacity(used)), [`of ${capacity(memory.capacity_bytes)}`], used / memory.capacity_bytes);
  }
  $("cards").replaceChildren(...cards);
}

function predictedLine(key) {
  const told = answer.predicted[key];
  if (!told || Math.round(told) === Math.round(answer[key])) return told ? "as predicted" : "";
  return `predicted ${exact(told)} (${(100 * (told / answer[key] - 1)).toFixed(1)} %)`;
}

function makeAdvice() {
  if (!answer.advice.length) { $("advice").remove(); return; }
  const list = make("ol", {}, ...answer.advice.map((remark) => {
    const text = make("span");
    const name = remark.layer === null ? "" : layers[remark.layer].name;
    if (name && remark.text.startsWith(name)) {
      text.append(make("a", { href: "#", textContent: name, onclick: (event) => { event.preventDefault(); select(remark.layer, null, "advice"); } }),
        remark.text.slice(name.length));
    } else text.append(remark.text);
    const lost = remark.cycles >= 1 ? `${share(remark.cycles / answer.cycles)} of the run` : "";
    return make("li", {}, text, make("span", { className: "lever" }, ...coded(remark.lever)), make("span", { className: "lost", textContent: lost }));
  }));
  $("advice").append(make("details", { open: true }, make("summary", { textContent: "What stands out" }), list));
}

// What `explain` found: the network compiled again with more of each resource.
function makeLevers() {
  const levers = (answer.levers ?? []).filter((lever) => !lever.error);
  if (!levers.length) return;
  const most = Math.max(0.01, ...levers.map((lever) => Math.abs(lever.faster)));
  const rows = [...levers].sort((a, b) => b.faster - a.faster).map((lever) => ({
    name: `${lever.attribute} \u00d7 ${lever.factor}`, kind: lever.faster < 0 ? "array" : "vector", part: Math.abs(lever.faster) / most,
    text: `${exact(lever.cycles)} cycles`, note: `${Math.abs(100 * lever.faster).toFixed(1)} % ${lever.faster < 0 ? "slower" : "faster"}`,
    title: lever.lower_bound ? `least of any program: ${exact(lever.lower_bound.cycles)} cycles, by ${lever.bound_by}` : "" }));
  $("summary").append(make("div", { className: "panel", id: "levers" }, bars("With more of each resource, compiled again", rows)));
}

const coded = (text) => text.split("`").map((part, place) => (place % 2 ? make("code", { textContent: part }) : part));

// --- roofline

function makeRoofline() {
  const array = answer.target.array, holder = $("roofline-body");
  const points = layers.map((layer, number) => ({ layer, number })).filter(({ layer }) => array && layer.ops > 0);
  if (!points.length) {
    $("roofline").hidden = true;
    return;
  }
  for (const point of points) {
    const { layer } = point;
    point.rate = layer.ops / Math.max(layer.cycles, layer.busy_cycles[array] ?? 0, 1);
    point.intensity = layer.dram_bytes ? layer.ops / layer.dram_bytes : Infinity;
  }
  const peak = Math.max(...Object.values(answer.target.array_peaks)), speed = bandwidth();
  const finite = points.map((point) => point.intensity).filter(Number.isFinite);
  const ridge = peak / speed;
  const low = 10 ** Math.floor(Math.log10(Math.min(ridge / 10, ...finite)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(ridge * 10, ...finite)));
  const bottom = 10 ** Math.floor(Math.log10(Math.min(peak / 10, ...points.map((point) => point.rate))));
  const top = 10 ** Math.ceil(Math.log10(peak * 1.3));
  const width = Math.max(360, holder.clientWidth), height = 380, left = 62, right = 20, above = 14, below = 46;
  const x = (value) => left + ((Math.log10(Math.min(Math.max(value, low), high)) - Math.log10(low)) / Math.log10(high / low)) * (width - left - right);
  const y = (value) => height - below - ((Math.log10(Math.max(value, bottom)) - Math.log10(bottom)) / Math.log10(top / bottom)) * (height - below - above);
  const picture = draw("svg", { width, height, role: "img", "aria-label": "Roofline" });
  decades(low, high).forEach((value) => {
    picture.append(draw("line", { x1: x(value), x2: x(value), y1: above, y2: height - below, stroke: "var(--line)" }));
    picture.append(draw("text", { class: "soft", x: x(value), y: height - below + 17, "text-anchor": "middle", "font-size": 11 }, powerOfTen(value)));
  });
  decades(bottom, top).forEach((value) => {
    picture.append(draw("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), stroke: "var(--line)" }));
    picture.append(draw("text", { class: "soft", x: left - 7, y: y(value) + 4, "text-anchor": "end", "font-size": 11 }, powerOfTen(value)));
  });
  picture.append(draw("path", { d: `M${x(Math.max(low, bottom / speed))} ${y(Math.max(low * speed, bottom))}L${x(ridge)} ${y(peak)}L${width - right} ${y(peak)}`,
    fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
  for (const value of new Set(Object.values(answer.target.array_peaks))) {
    if (value < peak) picture.append(draw("line", { x1: x(value / speed), x2: width - right, y1: y(value), y2: y(value), stroke: "var(--soft)", "stroke-dasharray": "5 4" }));
  }
  picture.append(draw("text", { x: width - right - 4, y: y(peak) - 13, "text-anchor": "end", "font-size": 12 }, `${array}: ${exact(peak)} operations/cycle`));
  const middle = Math.sqrt(Math.max(low, bottom / speed) * ridge);
  const slope = Math.atan2(y(ridge / 10 * speed) - y(peak), x(ridge) - x(ridge / 10)) * 180 / Math.PI;
  picture.append(draw("text", { "font-size": 12, "text-anchor": "middle",
    transform: `translate(${x(middle) - 7} ${y(middle * speed) - 7}) rotate(${-slope})` }, `off chip: ${count(speed, "B/cycle")}`));
  picture.append(draw("text", { class: "soft", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", "font-size": 12 }, "operations per byte off chip"));
  picture.append(draw("text", { class: "soft", "text-anchor": "middle", "font-size": 12, transform: `translate(14 ${(above + height - below) / 2}) rotate(-90)` }, "operations per cycle"));
  for (const point of [...points].sort((a, b) => b.layer.cycles - a.layer.cycles)) picture.append(mark(point, x(point.intensity), y(point.rate)));
  const apart = layers.length - points.length;
  const legend = make("div", { className: "legend" }, "Size: share of the run. Shape: bound by",
    ...[...new Set(points.map((point) => point.layer.bound_by))].map((name) => {
      const sample = draw("svg", { width: 14, height: 14, "aria-hidden": "true" });
      sample.append(shape(kindOf(name), 7, 7, 5));
      sample.style.verticalAlign = "-3px";
      return make("span", {}, sample, ` ${name}`);
    }), apart ? `${apart} layers without work for ${array} are not shown.` : "");
  holder.replaceChildren(picture, legend);
}

const powerOfTen = (value) => count(value).replace(/\.0+(?=\D|$)/, "");

function decades(low, high) {
  const found = [];
  for (let value = low; value <= high * 1.0001; value *= 10) found.push(value);
  return found;
}

function shape(kind, x, y, size) {
  const fill = { fill: `var(--${kind})`, stroke: "var(--panel)", "stroke-width": 1 };
  if (kind === "array") return draw("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, ...fill });
  if (kind === "vector") return draw("path", { d: `M${x} ${y - size * 1.2}L${x + size * 1.1} ${y + size * 0.8}H${x - size * 1.1}Z`, ...fill });
  if (kind === "waiting") return draw("path", { d: `M${x} ${y - size * 1.3}L${x + size * 1.3} ${y}L${x} ${y + size * 1.3}L${x - size * 1.3} ${y}Z`, ...fill });
  return draw("circle", { cx: x, cy: y, r: size, ...fill });
}

function mark(point, x, y) {
  const { layer, number } = point, item = draw("g", { class: "mark", tabindex: -1 });
  item.append(shape(kindOf(layer.bound_by), x, y, 4 + 12 * Math.sqrt(layer.cycles / Math.max(answer.cycles, 1))));
  item.style.cursor = "pointer";
  item.layer = number;
  const ratio = Number.isFinite(point.intensity) ? `${count(point.intensity)} operations per byte` : "nothing moves off chip";
  item.addEventListener("pointermove", (event) => tip(event, `${layer.name}\n${count(point.rate)} operations per cycle, ${ratio}\nbound by ${layer.bound_by}, ${share(layer.cycles / answer.cycles)} of the run`));
  item.addEventListener("pointerleave", (event) => tip(event, ""));
  item.addEventListener("click", () => select(number, null, "roofline"));
  return item;
}

function markRoofline() {
  for (const item of document.querySelectorAll(".mark")) {
    const own = item.layer === selected.layer;
    item.firstChild.setAttribute("stroke", own ? "var(--select)" : "var(--panel)");
    item.firstChild.setAttribute("stroke-width", own ? 3 : 1);
  }
}

// --- bars

function makeBars() {
  const { counts } = answer, whole = Math.max(answer.energy_pj ?? 0, 1e-9), parts = [];
  const add = (kind) => ([name, one]) => { if (one.energy_pj > 0) parts.push({ name, kind, part: one.energy_pj / whole, text: energy(one.energy_pj) }); };
  const offchip = new Set(answer.target.memories.filter((one) => one.offchip).map((one) => one.name));
  Object.entries(counts.memories).forEach(([name, one]) => add(offchip.has(name) ? "dram" : "other")([name, one]));
  Object.entries(counts.computes).forEach(([name, one]) => add(kindOf(name))([name, one]));
  Object.entries(counts.links).forEach(add("waiting"));
  parts.sort((a, b) => b.part - a.part);
  const moved = Object.entries(counts.memories).filter(([, one]) => one.read_bytes + one.write_bytes).flatMap(([name, one]) => {
    const most = Math.max(...Object.values(counts.memories).flatMap((other) => [other.read_bytes, other.write_bytes]));
    const kind = offchip.has(name) ? "dram" : "other";
    return [{ name: `${name} read`, kind, part: one.read_bytes / most, text: bytes(one.read_bytes), bare: true },
      { name: `${name} written`, kind, part: one.write_bytes / most, text: bytes(one.write_bytes), bare: true }];
  });
  const nodes = new Map(answer.target.units.map((unit) => [unit.name, unit.nodes]));
  const units = Object.entries(counts.units).filter(([, one]) => one.instructions).map(([name, one]) => ({
    name, kind: unitKind(nodes.get(name) ?? []), part: one.busy_cycles / Math.max(1, answer.cycles), text: `${exact(one.instructions)} instr.`,
    title: (nodes.get(name) ?? []).join(", ") }));
  $("energy-body").replaceChildren(...[["Energy", parts], ["Bytes", moved], ["Units: busy part of the run", units]]
    .filter(([, rows]) => rows.length).map(([label, rows]) => bars(label, rows)));
}

function unitKind(nodes) {
  const offchip = new Set(answer.target.links.filter((link) => link.offchip).map((link) => link.name));
  if (nodes.some((node) => offchip.has(node))) return "dram";
  return nodes.includes(answer.target.array) ? "array" : nodes.length ? "vector" : "other";
}
