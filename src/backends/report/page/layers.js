// The table of layers: sorted by any column, filtered by name and by what binds.

const busiest = (layer) => Math.max(0, ...Object.values(layer.busy_cycles));
const memories = answer.target.memories.map((one) => one.name);
const total = Math.max(1, layers.reduce((sum, layer) => sum + layer.cycles, 0));

const columns = [
  { key: "number", label: "#", of: (layer, number) => number, text: (value) => value + 1 },
  { key: "name", label: "layer", of: (layer) => layer.name, text: (value) => value, left: true,
    title: "The first of the nodes that run as one" },
  ...(layers.some((layer) => layer.group) ? [{ key: "group", label: "group", of: (layer) => layer.group, text: (value) => value, left: true }] : []),
  { key: "cycles", label: "cycles", of: (layer) => layer.cycles, text: exact, sum: true,
    title: "By which its instructions advance the end of the program: what is hidden behind other layers counts nothing" },
  { key: "share", label: "share", of: (layer) => layer.cycles / total, text: share, bar: true },
  { key: "busiest", label: "bound", of: busiest, text: exact,
    title: "Cycles for which its busiest resource works: it takes no less on its own" },
  { key: "bound_by", label: "bound by", of: (layer) => layer.bound_by, text: (value) => value, left: true, kind: true,
    title: "What is busy longest, if for at least half of its cycles" },
  { key: "utilization", label: "of peak", of: (layer) => layer.utilization, text: share,
    title: `What ${answer.target.array || "the compute array"} did of its peak in these cycles` },
  ...memories.map((name) => ({ key: `bytes-${name}`, label: name, of: (layer) => layer.memory_bytes[name] ?? 0, text: bytes,
    sum: true, title: `Bytes read and written in ${name}` })),
  { key: "energy", label: "energy", of: (layer) => layer.energy_pj, text: energy, sum: true },
  { key: "instructions", label: "instr.", of: (layer) => layer.instructions, text: exact, sum: true, title: "Instructions" },
];

const order = { key: "number", down: false };

function makeTable() {
  document.documentElement.style.setProperty("--pair", `${Math.min(640, 260 + 27 * layers.length)}px`);
  if (!layers.length) {
    $("table-body").replaceChildren(make("p", { className: "none", textContent: "The program does not know its layers." }));
    $("filter").remove();
    $("bound-filter").remove();
    return;
  }
  const head = make("tr");
  for (const column of columns) {
    const button = make("button", { textContent: column.label, title: column.title ?? "", onclick: () => sortBy(column.key) });
    head.append(make("th", { className: column.left ? "left" : "", scope: "col", "data-key": column.key }, button));
  }
  $("table").tHead.append(head);
  for (const kind of [...new Set(layers.map((layer) => layer.bound_by))].sort()) {
    $("bound-filter").append(make("option", { value: kind, textContent: `bound by ${kind}` }));
  }
  $("filter").addEventListener("input", fillTable);
  $("bound-filter").addEventListener("change", fillTable);
  fillTable();
}

function sortBy(key) {
  order.down = order.key === key ? !order.down : key !== "number" && key !== "name";
  order.key = key;
  fillTable();
}

function shownLayers() {
  const wanted = $("filter").value.trim().toLowerCase(), bound = $("bound-filter").value;
  const column = columns.find((one) => one.key === order.key);
  return layers.map((layer, number) => ({ layer, number, value: column.of(layer, number) }))
    .filter(({ layer }) => (!bound || layer.bound_by === bound)
      && (!wanted || `${layer.name} ${layer.nodes.join(" ")} ${layer.group}`.toLowerCase().includes(wanted)))
    .sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : a.number - b.number) * (order.down ? -1 : 1));
}

function fillTable() {
  const shown = shownLayers(), body = $("table").tBodies[0];
  for (const cell of $("table").tHead.rows[0].cells) {
    if (cell.dataset.key === order.key) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
  body.replaceChildren(...shown.map(({ layer, number }) => makeRow(layer, number)));
  $("shown").textContent = shown.length === layers.length ? `${layers.length} layer${layers.length === 1 ? "" : "s"}` : `${shown.length} of ${layers.length} layers`;
  const sums = make("tr", {}, ...columns.map((column) => {
    const values = shown.map(({ layer, number }) => column.of(layer, number));
    const text = column.key === "name" ? "all shown" : column.sum ? column.text(values.reduce((a, b) => a + b, 0))
      : column.key === "share" ? share(values.reduce((a, b) => a + b, 0)) : "";
    return make("td", { className: column.left ? "left" : "", textContent: text });
  }));
  $("table").tFoot.replaceChildren(sums);
  markTable("");
}

function makeRow(layer, number) {
  const row = make("tr", { onclick: () => select(number, null, "table") });
  row.layer = number;
  row.append(...columns.map((column) => {
    const value = column.of(layer, number), cell = make("td", { className: column.left ? "left" : "" });
    if (column.bar) {
      const most = Math.max(...layers.map((one) => one.cycles)) / total || 1;
      cell.append(make("span", { className: "share" }, make("b", { style: `width:${(100 * value / most).toFixed(1)}%` })));
    }
    if (column.kind) cell.append(make("span", { className: "tag", style: `--kind:var(--${kindOf(value)})`, textContent: value }));
    else cell.append(String(column.text(value)));
    if (column.key === "name") { cell.className += " name"; cell.title = layer.nodes.join("\n"); }
    return cell;
  }));
  return row;
}

function markTable(from) {
  if (!layers.length) return;
  for (const row of $("table").tBodies[0].rows) {
    const own = row.layer === selected.layer;
    row.classList.toggle("selected", own);
    if (own && from && from !== "table") {
      const holder = $("table-body"), top = row.offsetTop - holder.clientHeight / 2;
      holder.scrollTop = Math.max(0, top);
    }
  }
}
