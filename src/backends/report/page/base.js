// Shared by all parts of the page: the answer, numbers as text, colours, what is selected, and unpacking.

const answer = JSON.parse(document.getElementById("answer").textContent);
const layers = answer.layers;
const $ = (id) => document.getElementById(id);

function make(tag, fields = {}, ...children) {
  const item = document.createElement(tag);
  for (const [key, value] of Object.entries(fields)) {
    if (key.startsWith("on")) item.addEventListener(key.slice(2), value);
    else if (key in item && key !== "style") item[key] = value;
    else item.setAttribute(key, value);
  }
  item.append(...children);
  return item;
}

function draw(tag, fields = {}, ...children) {
  const item = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(fields)) item.setAttribute(key, value);
  item.append(...children);
  return item;
}

// --- numbers as text

const exact = (value) => Math.round(value).toLocaleString("en-US");
const share = (part) => (part > 0 && part < 0.0005 ? "< 0.1 %" : `${(100 * part).toFixed(1)} %`);

function scaled(value, unit, prefixes, step = 1000) {
  let place = 0;
  while (Math.abs(value) >= step * 0.9995 && place < prefixes.length - 1) { value /= step; place += 1; }
  const digits = Number.isInteger(value) && place === 0 ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${prefixes[place]}${unit}`.trim();
}

const count = (value, unit = "") => scaled(value, unit, ["", "K", "M", "G", "T", "P"]);
const bytes = (value) => scaled(value, "B", ["", "K", "M", "G", "T", "P"]);
const capacity = (value) => scaled(value, "B", ["", "Ki", "Mi", "Gi", "Ti", "Pi"], 1024);
const energy = (pj) => scaled(pj, "J", ["p", "n", "µ", "m", "", "K"]);
const seconds = (cycles) => scaled((cycles / answer.target.frequency_hz) * 1e12, "s", ["p", "n", "µ", "m", ""]);

// A round step of which at most so many fit into a span.
function niceStep(span, most) {
  const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

// --- colours: what binds has one of a few, layers alternate in lightness, so that neighbours differ in grey, too

let dark = false;
const SATURATION = 46;
const paint = {};

function readPaint() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "ink", "soft", "line", "fill", "accent", "select", "dram", "array", "vector",
    "waiting", "other"]) paint[name] = style.getPropertyValue(`--${name}`).trim();
}

function kindOf(name) {
  if (name === "dram") return "dram";
  if (name === "waiting") return "waiting";
  if (name === answer.target.array) return "array";
  return Object.keys(answer.counts.computes).includes(name) ? "vector" : "other";
}

const hueOf = (number) => (number * 137.508 + 205) % 360;
const lightOf = (number) => (dark ? (number % 2 ? 62 : 44) : (number % 2 ? 74 : 52));
const layerColour = (number) => `hsl(${hueOf(number).toFixed(0)} ${SATURATION}% ${lightOf(number)}%)`;

// Black or white, whichever is read more easily on a layer's colour.
function layerInk(number) {
  const light = lightOf(number) / 100, swing = (SATURATION / 100) * Math.min(light, 1 - light);
  const channel = (n) => {
    const k = (n + hueOf(number) / 30) % 12, value = light - swing * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(0) + 0.7152 * channel(8) + 0.0722 * channel(4) > 0.2 ? "#10161c" : "#ffffff";
}

// Dark or light, and what is painted anew then; `repaint` knows canvases, all else follows the style.
function setTheme(value, repaint = () => {}) {
  dark = value;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  readPaint();
  repaint();
}

// The frame of every page: its theme, and keys with what they do; those of the page are [key, what, act].
function startPage(keys = [], repaint = () => {}) {
  const all = [...keys, ["d", "dark or light", () => setTheme(!dark, repaint)], ["?", "these keys", () => $("keys").showModal()]];
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches, repaint);
  $("theme").addEventListener("click", () => setTheme(!dark, repaint));
  let before = false; // paper is light
  addEventListener("beforeprint", () => { before = dark; setTheme(false, repaint); });
  addEventListener("afterprint", () => setTheme(before, repaint));
  $("help").addEventListener("click", () => $("keys").showModal());
  $("keys").append(make("h2", { textContent: "Keys" }), make("dl", { className: "facts", style: "margin:12px 0" },
    ...all.flatMap(([key, what]) => [make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: what })])),
  make("form", { method: "dialog" }, make("button", { textContent: "Close" })));
  document.addEventListener("keydown", (event) => {
    if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = all.find(([key, , does]) => does && key.split(", ").includes(event.key))?.[2];
    if (!act) return;
    event.preventDefault();
    act(event.key);
  });
}

function card(label, value, ...lines) {
  return make("div", { className: "card" }, make("h3", { textContent: label }), make("div", { className: "value" }, ...[value].flat()),
    ...lines.filter(Boolean).map((line) => (typeof line === "string" ? make("p", { textContent: line }) : line)));
}

const unit = (text) => make("small", { textContent: ` ${text}` });
const meter = (part) => (part === null ? "" : make("div", { className: "meter", title: share(part) }, make("b", { style: `width:${100 * Math.min(1, part)}%` })));

// A value and its unit, apart.
function parted(text) {
  const [value, ...name] = text.split(" ");
  return [value, unit(name.join(" "))];
}

// A name, a bar, a value, and a note for each row: { name, kind, part, text }.
function bars(label, rows) {
  return make("div", { className: "bars" }, make("h3", { textContent: label }), ...rows.flatMap((row) => [
    make("span", { textContent: row.name, title: row.title ?? "" }),
    make("span", { className: "track" }, make("b", { style: `width:${(100 * Math.min(1, row.part)).toFixed(2)}%;--kind:var(--${row.kind})` })),
    make("span", { className: "value", textContent: row.text }),
    make("span", { className: "value soft", textContent: row.note ?? (row.bare ? "" : share(row.part)) })]));
}

// The rows of a table, each a list of texts or elements; the first `left` columns are text.
function tableRows(head, rows, left = 1) {
  const row = (cells, tag) => make("tr", {}, ...cells.map((cell, place) => make(tag, { className: place < left ? "left" : "" }, cell)));
  return [make("thead", {}, row(head, "th")), make("tbody", {}, ...rows.map((cells) => row(cells, "td")))];
}

const finish = () => { document.documentElement.dataset.ready = "true"; };

// --- what is selected: a layer by number, perhaps one of its instructions

const selected = { layer: null, instruction: null };
const listeners = [];

function select(layer, instruction = null, from = "") {
  selected.layer = layer;
  selected.instruction = instruction;
  for (const listener of listeners) listener(from);
}

// --- tips

function tip(event, text) {
  const box = $("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
  const top = event.clientY + 18 + height > innerHeight ? event.clientY - 12 - height : event.clientY + 18;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

// --- packs: base 64 of zlib, unpacked once

const packs = {};

function unpack(name) {
  if (!packs[name]) {
    const text = $(`pack-${name}`)?.textContent;
    packs[name] = text ? inflate(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))) : Promise.resolve(null);
  }
  return packs[name];
}

async function inflate(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function unpackJson(name) {
  const data = await unpack(name);
  return data ? JSON.parse(new TextDecoder().decode(data)) : null;
}

async function unpackColumns(name, number) {
  const data = await unpack(name);
  if (!data) return null;
  const all = new Float64Array(data), size = all.length / number;
  return Array.from({ length: number }, (_, place) => all.subarray(place * size, (place + 1) * size));
}

// --- canvases as sharp as the screen

function fitCanvas(canvas, height) {
  const width = canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width };
}

function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 3 ? `${text.slice(0, low)}…` : "";
}
