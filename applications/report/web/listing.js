// The table of designs: sorted, in pages, searched; ranges as numbers; pinned designs side by side; designs as a file.

const PAGE_ROWS = 12;
const RESTS = 80; // milliseconds after which a hand that brushes rests

/** A spreadsheet runs a cell that begins so as a formula: such a text gets an apostrophe in front. */
const cellText = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** All kept designs as CSV, numbers in SI as the page has them. */
function csvOf(table, places) {
  const heads = ["design", ...table.labels.map((label) => label.name), ...table.columns.map((column) => (["", "1"].includes(column.units) ? column.name : `${column.name} [${column.units}]`))];
  const lines = [heads.map(cellText).join(",")];
  for (const place of places)
    lines.push([table.number(place), ...table.labels.map((label) => cellText(label.of(place))), ...table.columns.map((column) => (column.values instanceof Float32Array ? Number(column.values[place].toPrecision(5)) : column.values[place]))].join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function listing(table, filter, state, choose) {
  const head = document.querySelector("#listing thead"), body = byId("brush-rows"), told = byId("brush-count");
  const sort = { name: table.scale, sign: table.byName.get(table.scale).sign };
  let order = [], page = 0;

  function heads() {
    const row = document.createElement("tr");
    const named = table.labels.map((label) => element("th", label.words, { scope: "col" }));
    row.append(element("th", "design", { scope: "col" }), ...named, ...table.columns.map((column) => {
      const made = element("th", "", { scope: "col" }), here = sort.name === column.name;
      const press = element("button", column.title, { type: "button", class: "link" });
      press.addEventListener("click", () => {
        if (sort.name === column.name) sort.sign = -sort.sign; else Object.assign(sort, { name: column.name, sign: column.sign });
        page = 0;
        fill();
      });
      made.append(press);
      made.className = "number";
      if (here) made.setAttribute("aria-sort", sort.sign > 0 ? "ascending" : "descending");
      return made;
    }));
    head.replaceChildren(row);
  }

  /** The kept designs in order: those that meet all conditions first; sorted as far as they are shown. */
  function fill() {
    const { values } = table.byName.get(sort.name), need = (page + 1) * PAGE_ROWS;
    order = best(values, need);
    heads();
    body.replaceChildren(...order.slice(page * PAGE_ROWS, need).map(rowOf));
    const pages = Math.max(1, Math.ceil(filter.kept / PAGE_ROWS));
    byId("page-of").textContent = `Page ${count(page + 1)} of ${count(pages)}`;
    byId("earlier").disabled = page === 0;
    byId("later").disabled = page + 1 >= pages;
  }

  function tell() {
    let meeting = 0;
    for (let i = 0; i < table.size; i++) meeting += filter.mask[i] & table.meets[i];
    told.textContent = `${count(filter.kept)} of ${count(table.size)} designs are kept` +
      (meeting < filter.kept ? `, ${count(meeting)} of them meet all conditions` : "") + (filter.kept ? "." : "; widen the ranges to see designs.");
  }

  /** The first `need` designs of the order, without sorting all of them. */
  function best(values, need) {
    const key = (i) => (Number.isFinite(values[i]) ? sort.sign * values[i] : Infinity);
    const before = (i, j) => table.meets[j] - table.meets[i] || key(i) - key(j) || i - j;
    let some = [];
    for (let i = 0; i < table.size; i++) {
      if (!filter.mask[i]) continue;
      some.push(i);
      if (some.length >= 4 * need + 2000) some = some.sort(before).slice(0, need);
    }
    return some.sort(before).slice(0, need);
  }

  function rowOf(place) {
    const row = document.createElement("tr"), name = element("th", "", { scope: "row" });
    const press = element("button", String(table.number(place)), { type: "button", class: "link" });
    press.addEventListener("click", () => choose(place));
    name.append(press);
    row.append(name, ...table.labels.map((label) => element("td", label.of(place))), ...table.columns.map((column) => element("td", numberOf(column, column.values[place]), { class: "number" })));
    if (!table.meets[place]) row.className = "misses";
    if (place === state.chosen) row.setAttribute("aria-current", "true");
    return row;
  }

  byId("earlier").addEventListener("click", () => { page--; fill(); });
  byId("later").addEventListener("click", () => { page++; fill(); });
  let late = null; // the table follows a brush as soon as the hand rests
  filter.watching.push(() => {
    page = 0;
    tell();
    clearTimeout(late);
    late = setTimeout(fill, RESTS);
  });
  tell();
  fill();
  return { fill };
}

/** Ranges as numbers, in the unit that is shown, and which columns are axes. */
function rangeFields(table, filter, state, redraw) {
  const fields = [...document.querySelectorAll("#ranges input.low, #ranges input.high")];
  const boxes = [...document.querySelectorAll("#ranges input.axis")];
  const pair = (name) => fields.filter((field) => field.dataset.column === name);
  for (const field of fields) {
    const column = table.byName.get(field.dataset.column);
    field.placeholder = numberOf(column, field.className === "low" ? column.low : column.high, 4);
    field.addEventListener("change", () => {
      const [low, high] = pair(column.name).map((it) => (it.value === "" ? NaN : Number(it.value) / column.factor));
      const range = Number.isFinite(low) || Number.isFinite(high)
        ? [Number.isFinite(low) ? low : -Infinity, Number.isFinite(high) ? high : Infinity] : null;
      filter.range(column.name, range);
    });
  }
  for (const box of boxes) box.addEventListener("change", () => {
    const names = boxes.filter((it) => it.checked).map((it) => it.value);
    if (names.length > table.most || names.length < 2) { box.checked = !box.checked; return; }
    state.axes = names;
    redraw();
  });
  filter.watching.push(() => {
    for (const field of fields) {
      if (field === document.activeElement) continue;
      const column = table.byName.get(field.dataset.column), range = filter.ranges.get(column.name);
      const end = range?.[field.className === "low" ? 0 : 1];
      field.value = Number.isFinite(end) ? Number((end * column.factor).toPrecision(4)) : "";
    }
  });
}

/** Pinned designs side by side: each number, and its difference from the first. */
function comparison(table, state, choose) {
  const place = byId("pinned");
  return () => {
    byId("pinned-title").hidden = state.pinned.length === 0;
    if (!state.pinned.length) return place.replaceChildren();
    const [first] = state.pinned, sheet = element("table"), top = element("tr");
    top.append(element("th", "", { scope: "col" }), ...state.pinned.map((it) => {
      const cell = element("th", "", { scope: "col", class: "number" });
      const press = element("button", `design ${table.number(it)}`, { type: "button", class: "link" });
      press.addEventListener("click", () => choose(it));
      const away = element("button", "×", { type: "button", class: "link", "aria-label": `Remove design ${table.number(it)}` });
      away.addEventListener("click", () => state.unpin(it));
      cell.append(press, " ", away);
      return cell;
    }));
    const head = element("thead"), body = element("tbody");
    head.append(top);
    for (const label of table.labels) {
      const row = element("tr");
      row.append(element("th", label.words, { scope: "row" }), ...state.pinned.map((it) => element("td", label.of(it))));
      body.append(row);
    }
    for (const column of table.columns) {
      const row = element("tr");
      row.append(element("th", column.words, { scope: "row" }), ...state.pinned.map((it) => {
        const cell = element("td", textOf(column, column.values[it]), { class: "number" });
        const share = (column.values[it] - column.values[first]) / Math.abs(column.values[first]);
        if (it !== first && Number.isFinite(share) && Math.abs(share) > 5e-4) {
          const kind = !column.objective ? "note" : share * column.sign < 0 ? "better" : "worse";
          cell.append(" ", element("span", `${share > 0 ? "+" : "−"}${rounded(100 * Math.abs(share), 2)} %`, { class: kind }));
        }
        return cell;
      }));
      body.append(row);
    }
    sheet.append(head, body);
    const frame = element("div", "", { class: "table" });
    frame.append(sheet);
    place.replaceChildren(frame);
  };
}
