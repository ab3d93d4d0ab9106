// The timeline: layers, units, off-chip traffic and what memories hold, from the whole run down to one instruction.

const GUTTER = 104, ROW = 22, GAP = 5, AXIS = 24, TRAFFIC = 42, MEMORY = 200;
const run = { ready: false, count: 0 };
const view = { from: 0, to: Math.max(1, answer.cycles) };
let rows = [];

async function loadTimeline() {
  const [columns, meta, lives] = await Promise.all(
    [unpackColumns("columns", 4), unpackJson("timeline"), unpackColumns("lives", 6)]);
  if (!columns) return;
  const [steps, plan, unit, cause] = columns, size = steps.length, units = answer.target.units;
  Object.assign(run, { ready: true, count: size, plan, unit, cause, plans: meta.plans, memories: meta.memories, lives });
  run.start = new Float64Array(size);
  run.end = new Float64Array(size);
  run.layer = new Int32Array(size).fill(-1);
  run.of = units.map(() => []);
  const last = units.map(() => 0);
  let place = 0;
  for (const [layer, number] of meta.runs) { run.layer.fill(layer, place, place + number); place += number; }
  for (let i = 0; i < size; i += 1) {
    const u = unit[i];
    last[u] = run.start[i] = last[u] + steps[i];
    run.end[i] = run.start[i] + meta.plans[plan[i]].cycles;
    run.of[u].push(i);
  }
  const offchip = new Set(answer.target.memories.filter((one) => one.offchip).map((one) => one.name));
  run.moved = meta.plans.map((one) => one.touches.reduce((sum, [, memory, size]) => sum + (offchip.has(memory) ? size : 0), 0));
  run.stretches = advances();
  let from = 0;
  for (const memory of run.memories) { memory.from = from; from += memory.count; }
  makeRows();
}

// When each layer advances the end of the program: instruction after instruction in program order.
function advances() {
  const found = [];
  let horizon = 0;
  for (let i = 0; i < run.count; i += 1) {
    if (run.end[i] <= horizon) continue;
    const before = found[found.length - 1];
    if (before && before.layer === run.layer[i]) before.end = run.end[i];
    else found.push({ layer: run.layer[i], start: horizon, end: run.end[i] });
    horizon = run.end[i];
  }
  return found;
}

function makeRows() {
  rows = [];
  let y = AXIS;
  const add = (row, height) => { rows.push({ ...row, y, height }); y += height + GAP; };
  if (layers.length) add({ kind: "layers", label: "layers" }, ROW);
  answer.target.units.forEach((unit, number) => {
    if (run.of[number].length) add({ kind: "unit", label: unit.name, number }, ROW);
  });
  if (run.moved.some((size) => size)) add({ kind: "traffic", label: "off chip" }, TRAFFIC);
  run.memories.forEach((memory) => add({ kind: "memory", label: memory.memory, memory }, MEMORY));
  run.height = y;
}

const xOf = (cycle, width) => GUTTER + ((cycle - view.from) / (view.to - view.from)) * (width - GUTTER);
const cycleAt = (x, width) => view.from + ((x - GUTTER) / (width - GUTTER)) * (view.to - view.from);

let waiting = false;
function paintTimeline() {
  if (waiting || !run.ready) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paintLanes(); paintOverview(); });
}

function paintLanes() {
  const { context, width } = fitCanvas($("lanes"), run.height);
  context.font = '12px system-ui, "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif';
  context.textBaseline = "middle";
  context.fillStyle = paint.panel;
  context.fillRect(0, 0, width, run.height);
  paintAxis(context, width);
  for (const row of rows) {
    context.fillStyle = paint.ground;
    context.fillRect(GUTTER, row.y, width - GUTTER, row.height);
    context.fillStyle = paint.ink;
    context.fillText(clipped(context, row.label, GUTTER - 10), 0, row.y + Math.min(row.height, ROW) / 2);
    context.save();
    context.beginPath();
    context.rect(GUTTER, row.y, width - GUTTER, row.height);
    context.clip();
    ({ layers: paintStretches, unit: paintUnit, traffic: paintTraffic, memory: paintMemory })[row.kind](context, row, width);
    context.restore();
    if (row.kind === "traffic") paintSideNote(context, row, "of bandwidth");
    if (row.kind === "memory") paintSideNote(context, row, `0 to ${capacity(reachOf(row.memory))}`, `of ${capacity(capacityOf(row.memory.memory))}`);
  }
  $("range").textContent = `${exact(view.from)} to ${exact(view.to)} of ${exact(answer.cycles)} cycles (${seconds(view.to - view.from)})`;
}

function paintSideNote(context, row, ...lines) {
  context.fillStyle = paint.soft;
  context.font = '11px system-ui, Arial, "Liberation Sans", sans-serif';
  lines.forEach((line, place) => context.fillText(clipped(context, line, GUTTER - 8), 0, row.y + ROW / 2 + 16 * (place + 1)));
  context.font = '12px system-ui, "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif';
}

const reachOf = (memory) => Math.max(1, answer.peak_bytes[memory.memory]);

const capacityOf = (name) => answer.target.memories.find((one) => one.name === name).capacity_bytes;

function paintAxis(context, width) {
  const step = Math.max(1, niceStep(view.to - view.from, Math.max(2, (width - GUTTER) / 110)));
  context.strokeStyle = paint.line;
  context.fillStyle = paint.soft;
  context.fillText("cycles", 0, 10);
  for (let cycle = Math.ceil(view.from / step) * step; cycle <= view.to; cycle += step) {
    const x = Math.round(xOf(cycle, width)) + 0.5;
    context.beginPath();
    context.moveTo(x, 18);
    context.lineTo(x, run.height);
    context.stroke();
    const text = step < 1000 || cycle === 0 ? exact(cycle) : `${exact(cycle / 1000)}${"\u202f"}K`;
    const label = step >= 1e6 ? `${(cycle / 1e6).toFixed(step >= 1e6 ? 0 : 1)}\u202fM` : text;
    if (x + context.measureText(label).width + 4 < width) context.fillText(label, x + 3, 10);
  }
}

// Boxes of a row, those thinner than a pixel together: as dark as the pixel is full.
function paintBoxes(context, row, width, first, size, boxOf) {
  const cover = new Float32Array(width + 1), colour = new Int32Array(width + 1), most = new Float32Array(width + 1);
  for (let place = first; place < size; place += 1) {
    const { start, end, layer, label } = boxOf(place);
    if (start > view.to) break;
    const left = xOf(start, width), right = xOf(end, width);
    if (right < GUTTER) continue;
    if (right - left < 1.6) {
      const pixel = Math.floor(left), part = Math.max(right - left, 0.02);
      if (pixel < 0 || pixel > width) continue;
      cover[pixel] += part;
      if (part > most[pixel]) { most[pixel] = part; colour[pixel] = layer; }
    } else paintBox(context, row, left, right, layer, label);
  }
  for (let pixel = GUTTER; pixel <= width; pixel += 1) {
    if (!cover[pixel]) continue;
    context.globalAlpha = Math.min(1, 0.25 + 0.75 * cover[pixel]);
    context.fillStyle = fillOf(colour[pixel]);
    context.fillRect(pixel, row.y, 1, row.height);
  }
  context.globalAlpha = 1;
}

const fillOf = (layer) => (selected.layer !== null && layer !== selected.layer ? faded(layer) : layerColour(Math.max(0, layer)));
const faded = (layer) => layerColour(Math.max(0, layer)).replace(")", " / 35%)");

function paintBox(context, row, left, right, layer, label) {
  const from = Math.max(left, GUTTER - 2), to = Math.min(right, context.canvas.clientWidth + 2);
  context.fillStyle = fillOf(layer);
  context.fillRect(from, row.y, to - from, row.height);
  if (right - left > 3) {
    context.fillStyle = paint.panel;
    context.fillRect(right - 1, row.y, 1, row.height);
  }
  if (to - from > 34) {
    const text = clipped(context, label, to - from - 8);
    context.fillStyle = selected.layer !== null && layer !== selected.layer ? paint.ink : layerInk(Math.max(0, layer));
    if (text) context.fillText(text, from + 5, row.y + row.height / 2 + 0.5);
  }
}

function paintStretches(context, row, width) {
  paintBoxes(context, row, width, 0, run.stretches.length, (place) => {
    const one = run.stretches[place];
    return { ...one, label: layers[one.layer]?.name ?? "" };
  });
}

function paintUnit(context, row, width) {
  const list = run.of[row.number];
  paintBoxes(context, row, width, firstFrom(list, view.from), list.length, (place) => {
    const i = list[place];
    return { start: run.start[i], end: run.end[i], layer: run.layer[i], label: run.plans[run.plan[i]].name };
  });
  const i = selected.instruction;
  if (i !== null && run.unit[i] === row.number) {
    context.strokeStyle = paint.select;
    context.lineWidth = 2;
    const left = xOf(run.start[i], width), right = Math.max(left + 3, xOf(run.end[i], width));
    context.strokeRect(left, row.y + 1, right - left, row.height - 2);
    context.lineWidth = 1;
  }
}

// The first of a unit's instructions that ends after a cycle.
function firstFrom(list, cycle) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.end[list[middle]] < cycle) low = middle + 1;
    else high = middle;
  }
  return low;
}

const bandwidth = () => Math.max(1e-9, ...answer.target.links.filter((link) => link.offchip).map((link) => link.bytes_per_cycle));

function paintTraffic(context, row, width) {
  const size = width - GUTTER, sums = new Float64Array(size + 1), each = (view.to - view.from) / size;
  for (const list of run.of) {
    for (let place = firstFrom(list, view.from); place < list.length; place += 1) {
      const i = list[place], moved = run.moved[run.plan[i]], start = run.start[i], end = run.end[i];
      if (start > view.to) break;
      if (!moved) continue;
      const rate = moved / Math.max(end - start, 1);
      const first = Math.max(0, Math.floor((start - view.from) / each)), stop = Math.min(size, (end - view.from) / each);
      for (let pixel = first; pixel <= stop; pixel += 1) {
        const low = view.from + pixel * each, part = Math.min(end, low + each) - Math.max(start, low);
        if (part > 0) sums[pixel] += (rate * part) / each;
      }
    }
  }
  const most = bandwidth();
  context.fillStyle = paint.dram;
  for (let pixel = 0; pixel <= size; pixel += 1) {
    const height = Math.min(1, sums[pixel] / most) * row.height;
    context.fillRect(GUTTER + pixel, row.y + row.height - height, 1, height);
  }
}

function paintMemory(context, row, width) {
  const [low, high, first, last, layer, loaded] = run.lives, { from, count: size } = row.memory;
  const scale = row.height / reachOf(row.memory), shown = [];
  for (let place = from; place < from + size; place += 1) {
    if (last[place] < view.from || first[place] > view.to) continue;
    const left = Math.max(GUTTER, xOf(first[place], width)), right = Math.min(width, xOf(last[place], width));
    const top = row.y + low[place] * scale, height = (high[place] - low[place]) * scale;
    context.fillStyle = fillOf(layer[place]);
    context.fillRect(left, top, Math.max(right - left, 0.5), Math.max(height, 0.5));
    if (right - left > 3 && height > 3) shown.push([place, left, right, top, height]);
  }
  for (const [place, left, right, top, height] of shown) {
    if (loaded[place]) hatch(context, left, top, right - left, height);
    context.strokeStyle = paint.panel;
    if (height > 6) context.strokeRect(left, top, right - left, height);
    if (height < 14 || right - left < 50) continue;
    const text = clipped(context, layers[layer[place]]?.name ?? "", right - left - 10);
    if (!text) continue;
    context.fillStyle = fillOf(layer[place]);
    context.fillRect(left + 2, top + height / 2 - 7, context.measureText(text).width + 6, 14);
    context.fillStyle = selected.layer !== null && layer[place] !== selected.layer ? paint.ink : layerInk(layer[place]);
    context.fillText(text, left + 5, top + height / 2 + 0.5);
  }
}

// Lines across what came from off chip, so that it differs from what was computed without colour, too.
function hatch(context, left, top, width, height) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = dark ? "rgb(0 0 0 / 45%)" : "rgb(255 255 255 / 60%)";
  context.beginPath();
  const start = Math.floor((left - height) / 8) * 8;
  for (let x = start; x < left + width; x += 8) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}

function paintOverview() {
  const { context, width } = fitCanvas($("overview"), 26), size = width - GUTTER;
  const at = (cycle) => GUTTER + (cycle / Math.max(1, answer.cycles)) * size;
  context.fillStyle = paint.fill;
  context.fillRect(GUTTER, 0, size, 26);
  for (const one of run.stretches) {
    context.fillStyle = layerColour(Math.max(0, one.layer));
    context.fillRect(at(one.start), 4, Math.max(0.4, at(one.end) - at(one.start)), 18);
  }
  context.font = '12px system-ui, "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif';
  context.textBaseline = "middle";
  context.fillStyle = paint.ink;
  context.fillText("whole run", 0, 13);
  const left = at(view.from), right = Math.max(at(view.to), left + 3);
  context.fillStyle = dark ? "rgb(0 0 0 / 55%)" : "rgb(255 255 255 / 65%)";
  context.fillRect(GUTTER, 0, left - GUTTER, 26);
  context.fillRect(right, 0, width - right, 26);
  context.strokeStyle = paint.select;
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(1, right - left - 2), 24);
}

// --- moving about

function show(from, to) {
  const size = Math.min(Math.max(to - from, 8), Math.max(8, answer.cycles));
  const start = Math.min(Math.max(0, from), Math.max(0, answer.cycles - size));
  view.from = start;
  view.to = start + size;
  paintTimeline();
}

function zoom(factor, centre = (view.from + view.to) / 2) {
  show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
}

const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

function showLayer(number) {
  let from = Infinity, to = 0;
  for (const one of run.stretches) if (one.layer === number) { from = Math.min(from, one.start); to = Math.max(to, one.end); }
  if (from === Infinity) {
    for (let i = 0; i < run.count; i += 1) if (run.layer[i] === number) { from = Math.min(from, run.start[i]); to = Math.max(to, run.end[i]); }
  }
  if (from < to && (to < view.from || from > view.to || to - from < (view.to - view.from) / 200)) {
    const room = Math.max((to - from) * 1.5, 50);
    show(from - room, to + room);
  }
}

function showInstruction(i) {
  const span = Math.max((run.end[i] - run.start[i]) * 12, 60), middle = (run.start[i] + run.end[i]) / 2;
  if (middle < view.from || middle > view.to || view.to - view.from > span * 40) show(middle - span / 2, middle + span / 2);
  else paintTimeline();
}

// What is under a point: a layer, and perhaps an instruction or bytes of a memory.
function hit(x, y, width) {
  const row = rows.find((one) => y >= one.y && y < one.y + one.height);
  if (!row || x < GUTTER) return null;
  const cycle = cycleAt(x, width);
  if (row.kind === "layers") {
    const one = run.stretches.find((item) => item.start <= cycle && cycle < item.end);
    return one && { layer: one.layer, text: `${layers[one.layer].name}\n${exact(one.start)} to ${exact(one.end)} (${exact(one.end - one.start)} cycles)` };
  }
  if (row.kind === "unit") return hitUnit(run.of[row.number], cycle, width);
  if (row.kind === "memory") return hitMemory(row, cycle, y);
  return null;
}

function hitUnit(list, cycle, width) {
  const near = (2 * (view.to - view.from)) / (width - GUTTER);
  const place = firstFrom(list, cycle - near), i = list[place];
  if (i === undefined || run.start[i] > cycle + near) return null;
  return { layer: run.layer[i], instruction: i, text: tellInstruction(i).join("\n") };
}

function hitMemory(row, cycle, y) {
  const [low, high, first, last, layer, loaded] = run.lives, { from, count: size } = row.memory;
  const address = ((y - row.y) / row.height) * reachOf(row.memory);
  for (let place = from + size - 1; place >= from; place -= 1) {
    if (low[place] <= address && address < high[place] && first[place] <= cycle && cycle <= last[place]) {
      const how = loaded[place] ? "loaded for" : "computed by";
      const text = `${how} ${layers[layer[place]]?.name ?? "the program"}\n${bytes(high[place] - low[place])} at 0x${low[place].toString(16)}`
        + `\nheld ${exact(first[place])} to ${exact(last[place])} (${exact(last[place] - first[place])} cycles)`;
      return { layer: layer[place], text };
    }
  }
  return null;
}

function tellInstruction(i) {
  const plan = run.plans[run.plan[i]], lines = [`${plan.name} #${i}, ${layers[run.layer[i]]?.name ?? answer.name}`];
  lines.push(`cycles ${exact(run.start[i])} to ${exact(run.end[i])} (${exact(plan.cycles)})`);
  const idle = idleBefore(i);
  if (idle > 0) {
    const other = i - run.cause[i];
    lines.push(run.cause[i] ? `its unit waited ${exact(idle)} cycles for ${run.plans[run.plan[other]].name} #${other}`
      + (run.layer[other] !== run.layer[i] ? ` of ${layers[run.layer[other]]?.name}` : "") : `its unit waited ${exact(idle)} cycles`);
  }
  if (plan.extents) lines.push(plan.extents);
  return lines;
}

function idleBefore(i) {
  const list = run.of[run.unit[i]], place = firstFrom(list, run.start[i]);
  for (let at = Math.min(list.length - 1, place + 1); at >= 0; at -= 1) {
    if (list[at] === i) return run.start[i] - (at ? run.end[list[at - 1]] : 0);
    if (list[at] < i) break;
  }
  const at = list.indexOf(i);
  return run.start[i] - (at > 0 ? run.end[list[at - 1]] : 0);
}

function wireTimeline() {
  const lanes = $("lanes"), overview = $("overview");
  let drag = null;
  lanes.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    lanes.setPointerCapture(event.pointerId);
  });
  lanes.addEventListener("pointermove", (event) => {
    const width = lanes.clientWidth;
    if (drag) {
      const by = ((drag.x - event.clientX) / (width - GUTTER)) * (drag.to - drag.from);
      drag.moved ||= Math.abs(drag.x - event.clientX) > 3;
      if (drag.moved) { tip(event, ""); show(drag.from + by, drag.to + by); }
      return;
    }
    tip(event, hit(event.offsetX, event.offsetY, width)?.text ?? "");
  });
  lanes.addEventListener("pointerup", (event) => {
    const found = drag && !drag.moved && hit(event.offsetX, event.offsetY, lanes.clientWidth);
    if (drag && !drag.moved) select(found ? found.layer : null, found?.instruction ?? null, "timeline");
    drag = null;
  });
  lanes.addEventListener("pointerleave", (event) => tip(event, ""));
  lanes.addEventListener("dblclick", (event) => zoom(0.25, cycleAt(event.offsetX, lanes.clientWidth)));
  lanes.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (sideways) pan(event.deltaX / lanes.clientWidth);
    else if (event.ctrlKey || event.metaKey || document.activeElement === lanes) {
      zoom(Math.exp(event.deltaY * 0.002), cycleAt(event.offsetX, lanes.clientWidth));
    } else return;
    event.preventDefault();
  }, { passive: false });
  lanes.addEventListener("keydown", timelineKeys);
  const jump = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const part = (event.offsetX - GUTTER) / (overview.clientWidth - GUTTER), half = (view.to - view.from) / 2;
    show(part * answer.cycles - half, part * answer.cycles + half);
  };
  overview.addEventListener("pointerdown", jump);
  overview.addEventListener("pointermove", jump);
  $("zoom-in").addEventListener("click", () => zoom(0.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("zoom-fit").addEventListener("click", () => show(0, answer.cycles));
}

function timelineKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
    "-": () => zoom(2), 0: () => show(0, answer.cycles), n: () => stepInstruction(1), p: () => stepInstruction(-1) }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function stepInstruction(by) {
  if (selected.instruction === null) return;
  const list = run.of[run.unit[selected.instruction]], next = list[list.indexOf(selected.instruction) + by];
  if (next !== undefined) select(run.layer[next], next, "keys");
}
