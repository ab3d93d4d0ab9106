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
  $("cards").replaceChildren(...answer.totals.filter((change) => change.a !== change.b || !change.key.includes(".")).map((change) => card(
    change.key.replaceAll("_", " ").replace("lower bound.", "least ").replace(" pj", ""), moreOf(change) || "same",
    `${textOf(change.key, change.a)} \u2192 ${textOf(change.key, change.b)}`)));
}

function tableOfTarget() {
  if (!answer.target.length) { $("target").hidden = true; return; }
  $("attributes").replaceChildren(...tableRows(["attribute", "", "A", "B", "change"],
    answer.target.map((change) => [change.key, "", textOf("", change.a), textOf("", change.b), moreOf(change)]), 2));
}

function tableOfLayers() {
  const wanted = $("filter").value.trim().toLowerCase(), key = $("what").value;
  const shown = answer.changed.filter((change) => (!key || change.key === key) && change.layer.toLowerCase().includes(wanted));
  const most = Math.max(1e-12, ...shown.map((change) => change.weight));
  $("table").replaceChildren(...tableRows(["layer", "what", "A", "B", "change", "of all layers"],
    shown.map((change) => [change.layer, change.key, textOf(change.key, change.a), textOf(change.key, change.b),
      moreOf(change), barOf(change, most)]), 2));
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

$("title").append(answer.a, make("span", { textContent: " and " }), answer.b);
startPage([["/", "filter the layers", () => $("filter").focus()]]);
cardsOfTotals();
tableOfTarget();
for (const key of [...new Set(answer.changed.map((change) => change.key))].sort()) $("what").append(make("option", { value: key, textContent: key }));
tableOfLayers();
$("filter").addEventListener("input", tableOfLayers);
$("what").addEventListener("change", tableOfLayers);
finish();
