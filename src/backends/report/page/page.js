// The panel of what is selected, keys, and the start.

let level = "";
const texts = { ir: null, assembly: null };

async function fillInspector() {
  const panel = $("inspector"), layer = layers[selected.layer];
  document.body.classList.toggle("inspecting", Boolean(layer));
  panel.hidden = !layer;
  if (!layer) return;
  const number = selected.layer, i = selected.instruction;
  texts.ir ??= (await unpackJson("texts")) ?? [];
  texts.assembly ??= await unpack("assembly").then((data) => (data ? new TextDecoder().decode(data).split("\n") : []));
  if (selected.layer !== number || selected.instruction !== i) return;
  const levels = [...Object.keys(texts.ir[number] ?? {}), ...(run.ready ? ["assembly"] : [])];
  if (!levels.includes(level) || i !== null) level = i !== null ? "assembly" : levels[0] ?? "";
  const tabs = make("div", { className: "tabs", role: "tablist" }, ...levels.map((name) => make("button", {
    role: "tab", textContent: name, "aria-selected": String(name === level), onclick: () => { level = name; showCode(number); } })));
  const close = make("button", { textContent: "Close", title: "Close (Esc)", onclick: () => select(null) });
  const scroll = make("div", { className: "scroll" }, ...(i === null ? [] : [instructionFacts(i)]), layerFacts(layer), ...waitFacts(layer));
  panel.replaceChildren(make("div", { className: "top" }, make("h2", { textContent: layer.name }), close),
    scroll, ...(levels.length ? [tabs, make("pre", { id: "code", tabIndex: 0 })] : []));
  if (levels.length) showCode(number);
}

function facts(pairs) {
  return make("dl", { className: "facts" }, ...pairs.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}

function layerFacts(layer) {
  const notes = answer.graph.boxes.find((box) => box.layer === selected.layer)?.notes ?? {};
  const decided = Object.entries(notes).filter(([key]) => key !== "name").map(([key, value]) => (value === true ? key : `${key} = ${value}`));
  return facts([
    ["nodes", layer.nodes.join(", ")], ...(layer.group ? [["group", layer.group]] : []),
    ["cycles", `${exact(layer.cycles)} (${share(layer.cycles / Math.max(1, answer.cycles))})`],
    ["bound by", layer.bound_by], [`of ${answer.target.array}'s peak`, share(layer.utilization)],
    ...Object.entries(layer.busy_cycles).filter(([name]) => !(name in answer.counts.units)).map(([name, cycles]) => [`${name} busy`, `${exact(cycles)} cycles`]),
    ...Object.entries(layer.memory_bytes).map(([name, size]) => [`bytes in ${name}`, bytes(size)]),
    ["energy", energy(layer.energy_pj)], ["instructions", exact(layer.instructions)],
    ...(layer.levers ?? []).filter((lever) => lever.cycles !== null).map((lever) => [
      `with ${lever.attribute} \u00d7 ${lever.factor}`, `${exact(lever.cycles)} cycles`]),
    ...(decided.length ? [["decided", decided.join(", ")]] : []),
  ]);
}

function waitFacts(layer) {
  const waits = (layer.waits ?? []).filter((wait) => wait.for_unit).slice(0, 6);
  if (!waits.length) return [];
  return [make("h3", { textContent: "Waits", style: "margin:10px 0 2px;font-size:13px" }), facts(waits.map((wait) => [
    `${wait.unit} for ${wait.for_unit}${wait.for_what ? ` (${wait.for_what})` : ""}${layers[wait.for_layer] === layer ? "" : ` of ${layers[wait.for_layer]?.name}`}`, `${exact(wait.cycles)} cycles`]))];
}

function instructionFacts(i) {
  const plan = run.plans[run.plan[i]], [, , ...more] = tellInstruction(i);
  return make("div", { style: "border-bottom:1px solid var(--line);padding-bottom:8px;margin-bottom:8px" }, facts([
    ["instruction", `${plan.name} #${i}`], ["unit", answer.target.units[run.unit[i]].name],
    ["cycles", `${exact(run.start[i])} to ${exact(run.end[i])} (${exact(plan.cycles)})`],
    ...(plan.ops ? [["operations", exact(plan.ops)]] : []),
    ...plan.touches.map(([operand, memory, size, how]) => [`${operand} in ${memory}`, `${bytes(size)} ${{ r: "read", w: "written", rw: "read, written" }[how] ?? ""}`]),
  ]), ...more.map((line) => make("p", { className: "soft", textContent: line })));
}

const MOST_LINES = 3000;

function showCode(number) {
  for (const tab of $("inspector").querySelectorAll(".tabs button")) tab.setAttribute("aria-selected", String(tab.textContent === level));
  const place = $("code");
  if (level !== "assembly") { place.textContent = texts.ir[number][level]; place.scrollTop = 0; return; }
  const own = [];
  for (let i = 0; i < run.count; i += 1) if (run.layer[i] === number) own.push(i);
  const at = selected.instruction === null ? 0 : own.indexOf(selected.instruction);
  const from = Math.max(0, Math.min(at - MOST_LINES / 2, own.length - MOST_LINES)), shown = own.slice(from, from + MOST_LINES);
  place.replaceChildren(...shown.map((i) => {
    const line = `${String(i).padStart(6)}  ${texts.assembly[i]}`;
    return i === selected.instruction ? make("mark", { textContent: `${line}\n` }) : `${line}\n`;
  }), own.length > shown.length ? `... ${exact(own.length)} instructions in all\n` : "");
  const marked = place.querySelector("mark");
  place.scrollTop = marked ? marked.offsetTop - place.offsetTop - place.clientHeight / 2 : 0;
}

// --- keys

const step = (by) => { if (layers.length) select(Math.min(layers.length - 1, Math.max(0, selected.layer === null ? 0 : selected.layer + by)), null, "keys"); };

const KEYS = [["/", "find a layer", () => $("search").focus()], ["j, k", "next and previous layer", (key) => step(key === "j" ? 1 : -1)],
  ["Esc", "close, select nothing"], ["arrows, +, -, 0", "in the timeline or the network: pan, zoom, all"],
  ["n, p", "in the timeline: next and previous instruction of the unit"],
  ["wheel", "zooms what has the focus, or with Ctrl"], ["double click", "zooms in where it is"]];

function escape(event) {
  if (event.key !== "Escape") return;
  $("tip").hidden = true;
  select(null);
  document.activeElement.blur();
}

function onSelect(from) {
  if (run.ready) {
    if (selected.instruction !== null) showInstruction(selected.instruction);
    else if (selected.layer !== null && from !== "timeline") showLayer(selected.layer);
  }
  markGraph(from);
  markTable(from);
  markRoofline();
  const name = selected.layer === null ? "" : `#layer=${encodeURIComponent(layers[selected.layer].name)}`;
  if (from !== "start") history.replaceState(null, "", name || location.pathname + location.search);
  fillInspector().then(paintTimeline);
}

function openAddressed() {
  const name = decodeURIComponent(location.hash.startsWith("#layer=") ? location.hash.slice(7) : "");
  const number = layers.findIndex((layer) => layer.name === name);
  if (number >= 0) select(number, null, "start");
}

async function start() {
  $("title").append(answer.name, make("span", { textContent: ` on ${answer.target.name}` }));
  startPage(KEYS, paintTimeline);
  makeCards();
  makeAdvice();
  makeLevers();
  makeGraph();
  makeTable();
  makeRoofline();
  makeBars();
  wireGraph();
  fitGraph(false);
  await loadTimeline();
  if (run.ready) {
    wireTimeline();
    const hatched = "background: repeating-linear-gradient(135deg, var(--soft) 0 2px, var(--fill) 2px 5px)";
    $("timeline-legend").append(make("span", { textContent: "a colour for each layer" }),
      make("span", {}, make("i", { style: hatched }), "loaded from off chip"), make("span", {}, make("i", { style: "background: var(--soft)" }), "computed"));
    paintTimeline();
  } else {
    $("timeline").querySelector(".buttons").remove();
    $("timeline-body").replaceChildren(make("p", { className: "none",
    textContent: `Control model ${answer.target.control} keeps no time of each instruction.` }));
  }
  listeners.push(onSelect);
  document.addEventListener("keydown", escape);
  new ResizeObserver(() => { paintTimeline(); makeRoofline(); markRoofline(); }).observe($("timeline-body"));
  openAddressed();
  finish();
}

start();
