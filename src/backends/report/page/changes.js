// What two answers differ in: totals as cards, attributes of the target, changes of layers with bars to both sides.

const textOf = (key, value) => {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "number") return String(value);
  if (key.endsWith("energy_pj")) return energy(value);
  return key.endsWith("bytes") ? bytes(value) : exact(value);
};

const numbers = ({ a, b }) => typeof a === "number" && typeof b === "number" && a !== 0;
const moreOf = (change) => (numbers(change) ? change.a === change.b ? "same" : `${change.b >= change.a ? "+" : "\u2212"}${Math.abs(100 * (change.b / change.a - 1)).toFixed(1)} %` : "");

const SUMMED = ["cycles", "dram_bytes", "energy_pj", "instructions"];

function cardsOfTotals() {
  $("cards").replaceChildren(...answer.totals.filter((change) => change.a !== change.b || !change.key.includes(".")).map((change) => make("div", { className: "card" },
    make("h3", { textContent: change.key.replaceAll("_", " ").replace("lower bound.", "least ").replace(" pj", "") }),
    make("div", { className: "value" }, moreOf(change) || "same"),
    make("p", { textContent: `${textOf(change.key, change.a)} \u2192 ${textOf(change.key, change.b)}` }))));
}

function row(cells, tag = "td") {
  return make("tr", {}, ...cells.map((cell, place) => {
    const item = make(tag, { className: place < 2 ? "left" : "" });
    item.append(cell);
    return item;
  }));
}

function tableOfTarget() {
  if (!answer.target.length) { $("target").hidden = true; return; }
  $("attributes").replaceChildren(make("thead", {}, row(["attribute", "", "A", "B", "change"], "th")),
    make("tbody", {}, ...answer.target.map((change) => row([change.key, "", textOf("", change.a), textOf("", change.b), moreOf(change)]))));
}

function tableOfLayers() {
  const wanted = $("filter").value.trim().toLowerCase(), key = $("keys").value;
  const shown = answer.changed.filter((change) => (!key || change.key === key) && change.layer.toLowerCase().includes(wanted));
  const most = Math.max(1e-12, ...shown.map((change) => change.weight));
  $("table").replaceChildren(make("thead", {}, row(["layer", "what", "A", "B", "change", "of all layers"], "th")),
    make("tbody", {}, ...shown.map((change) => row([change.layer, change.key, textOf(change.key, change.a), textOf(change.key, change.b),
      moreOf(change), barOf(change, most)]))));
  $("shown").textContent = `${shown.length} changes`;
}

// To the left what became less, to the right what became more.
function barOf(change, most) {
  if (!SUMMED.includes(change.key)) return "";
  const part = 50 * (change.weight / most), less = numbers(change) && change.b < change.a;
  const bar = make("span", { className: "both", title: share(change.weight) },
    make("b", { style: `left:${less ? 50 - part : 50}%;width:${part}%;--kind:var(--${less ? "vector" : "array"})` }));
  return make("span", {}, bar, make("span", { className: "part", textContent: share(change.weight) }));
}

function theme(value) {
  dark = value;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
}

$("title").append(answer.a, make("span", { textContent: " and " }), answer.b);
theme(matchMedia("(prefers-color-scheme: dark)").matches);
cardsOfTotals();
tableOfTarget();
for (const key of [...new Set(answer.changed.map((change) => change.key))].sort()) $("keys").append(make("option", { value: key, textContent: key }));
tableOfLayers();
$("filter").addEventListener("input", tableOfLayers);
$("keys").addEventListener("change", tableOfLayers);
$("theme").addEventListener("click", () => theme(!dark));
document.addEventListener("keydown", (event) => { if (event.key === "d" && !/INPUT|SELECT/.test(event.target.tagName)) theme(!dark); });
document.documentElement.dataset.ready = "true";
