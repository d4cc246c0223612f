"use strict";
// What all other scripts of the page use: the data, arrays, numbers, and the design that is looked into.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("report-data").textContent);
const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, u1: Uint8Array };

/** The bytes of a bundle: base64 of gzip. */
async function unpack(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** An array of a bundle, from {type, shape, at}: bytes of equal significance stand side by side there. */
function decode(record, bytes) {
  const type = TYPES[record.type], size = type.BYTES_PER_ELEMENT;
  const count = record.shape.reduce((product, length) => product * length, 1), raw = new Uint8Array(count * size);
  for (let byte = 0; byte < size; byte++) {
    const plane = bytes.subarray(record.at + byte * count, record.at + (byte + 1) * count);
    for (let i = 0; i < count; i++) raw[i * size + byte] = plane[i];
  }
  return new type(raw.buffer);
}

const plainUnit = (units) => units.replace("^2", "²").replace("^3", "³");
const THIN = "\u202f"; // between thousands

/** A number with so many digits, as `applications.report.data.display.rounded` writes it. */
function rounded(value, digits = 3) {
  if (!Number.isFinite(value)) return "no number";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e7) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${Number(exponent)}`;
  }
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size))), text = value.toFixed(places);
  const [whole, part] = (text.includes(".") ? text.replace(/\.?0+$/, "") : text).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return part ? `${grouped}.${part}` : grouped;
}

const numberOf = (column, value, digits) => rounded(value * column.factor, digits);
const textOf = (column, value, digits) =>
  Number.isFinite(value) ? `${numberOf(column, value, digits)} ${column.unit}`.trim() : "no number";
const count = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** An element with a text, never markup. */
function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Rows of a table; cells are texts or elements, the first names its row. */
function fillTable(body, rows) {
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell, index) => {
      const made = index ? element("td") : element("th", "", { scope: "row" });
      made.append(cell);
      if (index && /^(-?\d|no number)/.test(made.textContent)) made.className = "number"; // a text is read from the left
      return made;
    }));
    return row;
  }));
}

// ---- the design that is looked into -----------------------------------------------------------------------------------

const detailsOf = new Map((data.details ?? []).map((details) => [details.design, details]));
const followers = []; // functions of the details of a design, called when another design is looked into
let wanted = null;
const page = {}; // what tests look at
window.limbsweepReport = page;

/** Shows a design, by its number in the store, with the details that the page holds of it; false where it has none. */
function lookAt(design) {
  const details = detailsOf.get(design);
  wanted = design;
  if (!details) return false;
  details.bytes ??= unpack(details.bundle);
  details.bytes.then((bytes) => {
    if (wanted !== design) return; // another one has been asked for meanwhile
    details.get = (record) => decode(record, bytes);
    for (const line of document.querySelectorAll("p.which:not(.answer)")) line.textContent = details.heading;
    for (const follow of followers) follow(details);
  });
  return true;
}

/** Arrays that are decoded when a design is looked into, and kept. */
function unpacked(details, name, make) {
  details.unpacked ??= {};
  return (details.unpacked[name] ??= make());
}
