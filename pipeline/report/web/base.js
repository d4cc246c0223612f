"use strict";
// What all other scripts of the page use: the data, arrays, tables, figures, and the design that is looked into.

const data = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);
const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

/** An array of the page, from {type, shape, bytes in base64, little endian}. */
function decode(packed) {
  const text = atob(packed.bytes), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[packed.type](bytes.buffer);
}

const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(6))) : "no number");
const withUnit = (x, units) => (units === "" || units === "1" || !Number.isFinite(x) ? short(x) : `${short(x)} ${units}`);

const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
const draw = (id, figure = data.figures[id]) => Plotly.newPlot(id, figure.data, figure.layout, config);

/** Rows of a table. Texts are set as text, never as markup; what is no text is an element. */
function fillTable(body, rows) {
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell, index) => {
      const made = document.createElement(index ? "td" : "th");
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

/** Shows a design, with whatever details of it the page holds. */
function lookAt(design) {
  const details = detailsOf.get(design);
  if (!details) return false;
  for (const each of document.querySelectorAll(".which")) each.textContent = details.heading;
  for (const follow of followers) follow(details);
  return true;
}

/** Arrays that are decoded when a design is looked into, and kept. */
function unpacked(details, name, make) {
  details.unpacked ??= {};
  return (details.unpacked[name] ??= make());
}
