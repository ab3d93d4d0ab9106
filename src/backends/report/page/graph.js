// The network: a box for each layer, edges that stay on chip or pass memory off chip, groups; pan, zoom, find.

const BOX = { width: 196, height: 44, across: 214, down: 78 };
const graph = { x: 0, y: 0, scale: 1, boxes: [] };

function makeGraph() {
  const { boxes, edges } = answer.graph, holder = $("graph");
  if (!boxes.length) {
    $("network").querySelector(".bar").after(make("p", { className: "none", textContent: "The program does not know what its layers read." }));
    holder.remove();
    return;
  }
  const offchip = new Set(answer.target.memories.filter((one) => one.offchip).map((one) => one.name));
  graph.root = draw("g");
  holder.append(graph.root);
  for (const outline of groupsOf(boxes)) graph.root.append(outline);
  const most = Math.max(1, ...edges.map((edge) => edge.bytes));
  for (const edge of edges) {
    const line = draw("path", { class: offchip.has(edge.memory) ? "edge offchip" : "edge", d: pathOf(edge.path),
      "stroke-width": (1 + 3 * Math.sqrt(edge.bytes / most)).toFixed(2) });
    line.append(draw("title", {}, `${edge.type}, ${bytes(edge.bytes)}${edge.memory ? ` in ${edge.memory}` : ""}`));
    graph.root.append(line);
  }
  graph.boxes = boxes.map((box) => makeBox(box));
  graph.root.append(...graph.boxes);
  const used = [["dram", "off chip"], ["array", answer.target.array], ["vector", "other units"], ["waiting", "waiting"]];
  $("graph-legend").append("bound by", ...used.filter(([, label]) => label).map(([kind, label]) => swatch(kind, label)),
    ...(edges.length ? [lineSwatch("edge", "on chip"), lineSwatch("edge offchip", "through memory off chip")] : []));
}

function swatch(kind, label) {
  return make("span", {}, make("i", { style: `background: var(--${kind})` }), label);
}

function lineSwatch(kind, label) {
  const picture = draw("svg", { width: 30, height: 10, "aria-hidden": "true" });
  picture.append(draw("path", { class: kind, d: "M1 5H29", "stroke-width": 2 }));
  picture.style.marginRight = "5px";
  return make("span", {}, picture, label);
}

const centreOf = ([x, y]) => [x * BOX.across, y * BOX.down];

function pathOf(path) {
  const points = path.map(centreOf), half = BOX.height / 2;
  let text = "";
  points.forEach(([x, y], place) => {
    if (!place) { text = `M${x} ${y + half}`; return; }
    const [px, py] = points[place - 1], last = place === points.length - 1;
    const from = place === 1 ? py + half : py + half, to = y - half, middle = (from + to) / 2;
    text += `C${px} ${middle} ${x} ${middle} ${x} ${to}`;
    if (!last) text += `L${x} ${y + half}`;
  });
  return text;
}

function makeBox(box) {
  const [x, y] = centreOf([box.x, box.y]), layer = box.layer === null ? null : layers[box.layer];
  const item = draw("g", { class: "box", transform: `translate(${x - BOX.width / 2} ${y - BOX.height / 2})` });
  item.append(draw("rect", { class: "body", width: BOX.width, height: BOX.height, rx: layer ? 5 : BOX.height / 2 }));
  const name = layer ? layer.name : box.name, kind = layer ? kindOf(layer.bound_by) : null;
  if (kind) item.append(draw("rect", { width: 6, height: BOX.height, rx: 2, fill: `var(--${kind})` }));
  item.append(draw("text", { x: layer ? 14 : BOX.width / 2, y: layer ? 18 : 27, "font-size": 12.5, "font-weight": 600,
    "text-anchor": layer ? "start" : "middle" }, shortened(name, 26)));
  if (layer) {
    item.append(draw("text", { class: "soft", x: 14, y: 33, "font-size": 11 },
      `${count(layer.cycles)} cycles · ${bytes(layer.dram_bytes)} · ${layer.bound_by}`));
    const most = Math.max(1, ...layers.map((one) => one.cycles));
    item.append(draw("rect", { x: 14, y: 38, height: 3, width: ((BOX.width - 22) * layer.cycles) / most, fill: "var(--soft)" }));
    item.addEventListener("click", () => { if (!graph.moved) select(box.layer, null, "graph"); });
  }
  const notes = Object.entries(box.notes).filter(([key]) => key !== "name").map(([key, value]) => `${key} = ${value}`);
  item.append(draw("title", {}, [name, ...(layer ? [`${exact(layer.cycles)} cycles`, `${bytes(layer.dram_bytes)} off chip`, `bound by ${layer.bound_by}`] : []), ...notes].join("\n")));
  item.layer = box.layer;
  item.label = `${name} ${(layer?.nodes ?? []).join(" ")}`.toLowerCase();
  item.centre = [x, y];
  return item;
}

const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 9)}…${text.slice(-8)}`);

function groupsOf(boxes) {
  const groups = new Map();
  for (const box of boxes) {
    const key = box.layer !== null && layers[box.layer].group ? layers[box.layer].group : box.notes.fused;
    if (key === undefined || key === "") continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(box);
  }
  return [...groups].filter(([, members]) => members.length > 1).map(([key, members]) => {
    const xs = members.map((box) => box.x * BOX.across), ys = members.map((box) => box.y * BOX.down), pad = 12;
    const left = Math.min(...xs) - BOX.width / 2 - pad, top = Math.min(...ys) - BOX.height / 2 - pad;
    const outline = draw("rect", { class: "group", x: left, y: top, rx: 10,
      width: Math.max(...xs) + BOX.width / 2 + pad - left, height: Math.max(...ys) + BOX.height / 2 + pad - top });
    outline.append(draw("title", {}, `group ${key}: ${members.length} layers tile by tile`));
    return outline;
  });
}

function placeGraph() {
  graph.root?.setAttribute("transform", `translate(${graph.x} ${graph.y}) scale(${graph.scale})`);
}

const sizeOfGraph = () => $("graph").getBoundingClientRect();

function zoomGraph(factor, x = sizeOfGraph().width / 2, y = sizeOfGraph().height / 2) {
  const scale = Math.min(3, Math.max(0.03, graph.scale * factor)), real = scale / graph.scale;
  graph.x = x - (x - graph.x) * real;
  graph.y = y - (y - graph.y) * real;
  graph.scale = scale;
  placeGraph();
}

function fitGraph(whole = true) {
  if (!graph.root) return;
  const box = graph.root.getBBox(), { width, height } = sizeOfGraph();
  const fits = Math.min((width - 24) / box.width, (height - 24) / box.height);
  graph.scale = whole ? Math.min(1, fits) : Math.min(1, Math.max(fits, Math.min(1, (width - 24) / box.width, 1)));
  if (!whole && box.width * graph.scale > width * 3) graph.scale = Math.max(fits, 0.6);
  graph.x = width / 2 - (box.x + box.width / 2) * graph.scale;
  graph.y = whole ? height / 2 - (box.y + box.height / 2) * graph.scale : 14 - box.y * graph.scale;
  placeGraph();
}

function centreGraph(item) {
  const { width, height } = sizeOfGraph();
  graph.scale = Math.max(graph.scale, 0.8);
  graph.x = width / 2 - item.centre[0] * graph.scale;
  graph.y = height / 2 - item.centre[1] * graph.scale;
  placeGraph();
}

function markGraph(from) {
  for (const item of graph.boxes) item.classList.toggle("selected", item.layer !== null && item.layer === selected.layer);
  const item = graph.boxes.find((one) => one.layer !== null && one.layer === selected.layer);
  if (item && from !== "graph") centreGraph(item);
}

function findInGraph(text, enter) {
  const wanted = text.trim().toLowerCase(), found = graph.boxes.filter((item) => wanted && item.label.includes(wanted));
  for (const item of graph.boxes) item.classList.toggle("dim", Boolean(wanted) && !found.includes(item));
  if (!found.length) return;
  const place = found.findIndex((item) => item.layer === selected.layer);
  const item = found[enter ? (place + 1) % found.length : 0];
  centreGraph(item);
  if (enter && item.layer !== null) select(item.layer, null, "search");
}

function wireGraph() {
  const holder = $("graph");
  if (!graph.root) return;
  let drag = null;
  holder.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX - graph.x, y: event.clientY - graph.y, at: [event.clientX, event.clientY] };
    graph.moved = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (Math.hypot(event.clientX - drag.at[0], event.clientY - drag.at[1]) > 3) graph.moved = true;
    graph.x = event.clientX - drag.x;
    graph.y = event.clientY - drag.y;
    placeGraph();
  });
  window.addEventListener("pointerup", () => { drag = null; });
  holder.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey || document.activeElement === holder)) return;
    event.preventDefault();
    const { left, top } = sizeOfGraph();
    zoomGraph(Math.exp(-event.deltaY * 0.002), event.clientX - left, event.clientY - top);
  }, { passive: false });
  holder.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (by) { graph.x += by[0]; graph.y += by[1]; placeGraph(); event.preventDefault(); }
    else if (event.key === "+" || event.key === "=") zoomGraph(1.4);
    else if (event.key === "-") zoomGraph(1 / 1.4);
    else if (event.key === "0") fitGraph();
  });
  $("graph-in").addEventListener("click", () => zoomGraph(1.4));
  $("graph-out").addEventListener("click", () => zoomGraph(1 / 1.4));
  $("graph-fit").addEventListener("click", () => fitGraph());
  $("search").addEventListener("input", (event) => findInGraph(event.target.value, false));
  $("search").addEventListener("keydown", (event) => { if (event.key === "Enter") findInGraph(event.target.value, true); });
}
