// A study: machines as points of two figures, the front, a map of two attributes, and a table.

const FIGURES = ["cycles", "energy_pj", "dram_bytes"];
const { machines, front } = answer;
const attributes = machines.length ? Object.keys(machines[0].attributes) : [];
const figures = machines.length ? Object.keys(machines[0]).filter((key) => key !== "attributes") : [];
const valueOf = (machine, key) => (key in machine.attributes ? machine.attributes[key] : machine[key]);
const best = new Set(front.map((machine) => JSON.stringify(machine)));
const isBest = (machine) => best.has(JSON.stringify(machine));

function textOf(key, value) {
  if (key === "energy_pj") return energy(value);
  if (key === "dram_bytes") return bytes(value);
  if (Number.isInteger(value) && value < 1e6) return exact(value);
  return value >= 1e4 ? count(value) : String(Number(value.toPrecision(4)));
}

const tell = (machine) => [...attributes, ...figures].map((key) => `${key}: ${textOf(key, valueOf(machine, key))}`).join("\n");

function choose(id, keys, first, act) {
  const box = $(id);
  box.replaceChildren(...keys.map((key) => make("option", { value: key, textContent: key })));
  box.value = first;
  box.addEventListener("change", act);
}

function scale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values), wide = low > 0 && high / low > 20;
  const of = wide ? Math.log10 : (value) => value;
  const [a, b] = low === high ? [of(low) * 0.9 - 1e-9, of(high) * 1.1 + 1e-9] : [of(low) - 0.06 * (of(high) - of(low)), of(high) + 0.06 * (of(high) - of(low))];
  const place = (value) => from + ((of(value) - a) / (b - a)) * (to - from);
  const step = niceStep(b - a, 7), steps = [];
  for (let value = Math.ceil(a / step) * step; value <= b; value += step) steps.push(wide ? 10 ** value : value);
  return { place, steps };
}

function drawPicture() {
  const across = $("across").value, up = $("up").value, holder = $("picture");
  const width = Math.max(320, holder.clientWidth), height = 420, left = 78, below = 48;
  const x = scale(machines.map((one) => valueOf(one, across)), left, width - 20), y = scale(machines.map((one) => valueOf(one, up)), height - below, 14);
  const picture = draw("svg", { width, height, role: "img", "aria-label": `${up} over ${across}` });
  for (const value of x.steps) {
    picture.append(draw("line", { x1: x.place(value), x2: x.place(value), y1: 14, y2: height - below, stroke: "var(--line)" }));
    picture.append(draw("text", { class: "soft", x: x.place(value), y: height - below + 18, "text-anchor": "middle", "font-size": 11 }, textOf(across, value)));
  }
  for (const value of y.steps) {
    picture.append(draw("line", { x1: left, x2: width - 20, y1: y.place(value), y2: y.place(value), stroke: "var(--line)" }));
    picture.append(draw("text", { class: "soft", x: left - 8, y: y.place(value) + 4, "text-anchor": "end", "font-size": 11 }, textOf(up, value)));
  }
  picture.append(draw("text", { class: "soft", x: (left + width) / 2, y: height - 8, "text-anchor": "middle", "font-size": 12 }, across));
  picture.append(draw("text", { class: "soft", "text-anchor": "middle", "font-size": 12, transform: `translate(14 ${(height - below) / 2}) rotate(-90)` }, up));
  const line = front.map((one) => [x.place(valueOf(one, across)), y.place(valueOf(one, up))]).sort((a, b) => a[0] - b[0]);
  if (line.length > 1) picture.append(draw("path", { d: `M${line.map((point) => point.join(" ")).join("L")}`, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }));
  for (const one of [...machines].sort((a, b) => isBest(a) - isBest(b))) {
    const own = isBest(one), at = [x.place(valueOf(one, across)), y.place(valueOf(one, up))];
    const item = own ? draw("rect", { x: at[0] - 5, y: at[1] - 5, width: 10, height: 10, fill: "var(--accent)", stroke: "var(--panel)" })
      : draw("circle", { cx: at[0], cy: at[1], r: 4, fill: "var(--waiting)", stroke: "var(--panel)" });
    item.addEventListener("pointermove", (event) => tip(event, tell(one)));
    item.addEventListener("pointerleave", (event) => tip(event, ""));
    picture.append(item);
  }
  holder.replaceChildren(picture);
}

// The least of a figure at each pair of values of two attributes, whatever the others are.
function drawMap() {
  const [by, rows, columns] = ["colour", "rows", "columns"].map((id) => $(id).value);
  const different = (key) => [...new Set(machines.map((one) => valueOf(one, key)))].sort((a, b) => a - b);
  const least = (row, column) => Math.min(...machines.filter((one) => valueOf(one, rows) === row && valueOf(one, columns) === column).map((one) => valueOf(one, by)));
  const all = different(rows).flatMap((row) => different(columns).map((column) => least(row, column))).filter(Number.isFinite);
  const low = Math.min(...all), high = Math.max(...all);
  const cell = (value) => make("td", { textContent: Number.isFinite(value) ? textOf(by, value) : "none",
    style: Number.isFinite(value) ? `background: color-mix(in srgb, var(--accent) ${Math.round(60 * (high > low ? (high - value) / (high - low) : 0))}%, var(--panel))` : "" });
  $("map").replaceChildren(make("thead", {}, make("tr", {}, make("th", { className: "left", textContent: `${rows} \\ ${columns}` }),
    ...different(columns).map((value) => make("th", { textContent: textOf(columns, value) })))),
  make("tbody", {}, ...different(rows).map((row) => make("tr", {}, make("td", { className: "left", textContent: textOf(rows, row) }),
    ...different(columns).map((column) => cell(least(row, column)))))));
}

function drawTable() {
  const keys = [...attributes, ...figures], sorted = [...machines].sort((a, b) => isBest(b) - isBest(a) || a[answer.objectives[0]] - b[answer.objectives[0]]);
  $("table").replaceChildren(...tableRows(["front", ...keys],
    sorted.map((one) => [isBest(one) ? "\u25a0" : "", ...keys.map((key) => textOf(key, valueOf(one, key)))])));
  $("shown").textContent = `${machines.length} machines, figures are geometric means over networks and batches`;
}

$("title").append(answer.name);
startPage();
$("cards").append(...[["points", answer.points], ["done", answer.done], ["without an answer", answer.failed], ["on the front", front.length]]
  .map(([label, value]) => card(label, exact(value))));
if (machines.length) {
  const [first, second = FIGURES[0]] = answer.objectives;
  choose("across", [...figures, ...attributes], second, drawPicture);
  choose("up", [...figures, ...attributes], first, drawPicture);
  $("objectives").textContent = answer.objectives.join(", ");
  drawPicture();
  if (attributes.length > 1) {
    choose("colour", figures, first, drawMap);
    choose("rows", attributes, attributes[0], drawMap);
    choose("columns", attributes, attributes[1], drawMap);
    drawMap();
  } else $("heat").hidden = true;
  drawTable();
  new ResizeObserver(drawPicture).observe($("picture"));
} else for (const section of document.querySelectorAll("section:not(#summary)")) section.hidden = true;
finish();
