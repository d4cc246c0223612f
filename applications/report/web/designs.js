// All designs: what is chosen, kept and pinned, and everything that follows it.

function designs(bytes) {
  const table = readTable(bytes), filter = makeFilter(table);
  const state = { axes: [...table.axes], scale: table.scale, chosen: table.chosen, pinned: [] };
  const choice = byId("case"), answer = byId("design-title"), first = answer.textContent;
  const shownCase = () => (choice ? Number(choice.value) : 0);
  const following = [];

  state.telling = (place) => {
    const named = [...new Set([...state.axes, ...data.tiles.map((tile) => tile.column)])].slice(0, 8).map((name) => table.byName.get(name)).filter(Boolean);
    return [`design ${table.number(place)}`, ...named.map((column) => `${column.words} ${textOf(column, column.values[place])}`)].join(", ");
  };

  /** The words and tiles of a design; of the one that the page opened with they stand there already. */
  function tell(place) {
    answer.textContent = place === table.chosen ? first
      : `Design ${table.number(place)}: ${table.telling(place)}.`;
    if (byId("advice")) byId("advice").hidden = place !== table.chosen; // it is about the answer
    for (const tile of data.tiles) {
      const column = table.byName.get(tile.column), box = document.querySelector(`.tile[data-column="${CSS.escape(tile.column)}"]`);
      if (!column || !box) continue;
      const value = column.values[place], [, shown, note] = box.children;
      shown.textContent = textOf(column, value);
      if (place === table.chosen) { note.textContent = note.dataset.first ??= note.textContent; continue; }
      note.dataset.first ??= note.textContent;
      const bound = tile.by ? table.byName.get(tile.by).values[place] : tile.bound;
      if (bound !== null) {
        const spare = (tile.least ? value - bound : bound - value) / Math.abs(bound || 1);
        note.textContent = `${textOf(column, bound)} at ${tile.least ? "least" : "most"}: ${rounded(100 * Math.abs(spare), 2)} % ${spare >= 0 ? "to spare" : "beyond it"}`;
      } else {
        const mine = table.byName.get(tile.column).values[table.chosen ?? place], share = (value - mine) / Math.abs(mine);
        note.textContent = Math.abs(share) < 1e-9 ? "as the answer" : Number.isFinite(share) ? `${rounded(100 * Math.abs(share), 2)} % ${share * column.sign > 0 ? "worse" : "better"} than the answer` : "";
      }
    }
    fillTable(byId("design-row"), [
      ...table.labels.map((it) => [it.words, it.of(place), ""]),
      ...table.columns.map((it) => [it.words, textOf(it, it.values[place], 5), it.text]),
    ]);
  }

  /** Show a design everywhere: words, tiles, and, where the page holds them, its mechanism, series and maps. */
  function choose(place, keepCase = false) {
    state.chosen = place;
    if (choice && !keepCase) choice.value = String(table.worst[place]);
    const design = table.number(place, shownCase()), held = lookAt(design), note = byId("design-note");
    tell(place);
    byId("design-number").value = table.number(place);
    note.className = held || !detailsOf.size ? "note" : "warning";
    note.textContent = held || !detailsOf.size ? ""
      : `The page holds mechanism and series of ${detailsOf.size} designs, not of this one; they still show the last: ` +
        `limbsweep report STORE --design ${design}`;
    for (const follow of following) follow();
  }

  state.pin = (place) => { if (!state.pinned.includes(place)) state.pinned.push(place); pins(); };
  state.unpin = (place) => { state.pinned = state.pinned.filter((it) => it !== place); pins(); };

  const parallel = parallelView(table, filter, state, choose), matrix = matrixView(table, filter, state);
  const front = byId("front") ? frontView(table, filter, state, choose) : null;
  const list = listing(table, filter, state, choose), compare = comparison(table, state, choose);
  const redraw = () => { parallel.whenSeen(); matrix.whenSeen(); front?.surface.whenSeen(); };
  const pins = () => { compare(); redraw(); };
  rangeFields(table, filter, state, redraw);
  following.push(redraw, list.fill);

  byId("colour-by").addEventListener("change", ({ target }) => { state.scale = target.value; parallel.whenSeen(); });
  byId("unbrush").addEventListener("click", () => {
    filter.ranges.clear();
    filter.search = null;
    byId("search").value = "";
    filter.update();
  });
  let waiting = null;
  byId("search").addEventListener("input", ({ target }) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const { test, note } = readSearch(table, target.value);
      filter.search = test;
      byId("search-note").textContent = note;
      filter.update();
    }, 150);
  });
  byId("download").addEventListener("click", () => {
    const places = [];
    for (let i = 0; i < table.size; i++) if (filter.mask[i]) places.push(i);
    const link = element("a", "", { download: "designs.csv" });
    link.href = URL.createObjectURL(new Blob([csvOf(table, places)], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  byId("pin").addEventListener("click", () => { if (state.chosen !== null) state.pin(state.chosen); });
  choice?.addEventListener("change", () => { if (state.chosen !== null) choose(state.chosen, true); });
  const asked = byId("design-number");
  asked.addEventListener("change", () => {
    const place = table.place(Number(asked.value));
    if (place !== undefined) return choose(place);
    byId("design-note").textContent = `Design ${asked.value} is not among the ${count(table.size)} that the page shows.`;
  });
  for (const mark of document.querySelectorAll(".number-of")) {
    const place = table.place(Number(mark.dataset.design));
    if (place === undefined) continue;
    const press = element("button", mark.textContent, { type: "button", class: "link" });
    press.addEventListener("click", () => choose(place));
    mark.replaceChildren(press);
  }
  compare();
  if (state.chosen !== null) {
    if (choice && data.details?.length) {
      const at = Array.from({ length: table.cases }, (_, k) => table.number(state.chosen, k)).indexOf(data.details[0].design);
      if (at >= 0) choice.value = String(at);
    }
    choose(state.chosen, true);
  }
  Object.assign(page, { table, filter, state, choose, front, frontOf, csvOf, cellText, rounded: (value) => rounded(value) });
}
