// All designs: parallel coordinates, two objectives against each other, and the numbers of one design.

function designs() {
  const table = data.designs, numbers = decode(table.numbers);
  const columns = table.columns.map((column) => ({ ...column, values: decode(column.values) }));
  const column = (name) => columns.find((each) => each.name === name);
  const everywhere = Array.from(numbers.keys());
  const telling = (place, end) =>
    [`design ${numbers[place]}`, ...columns.map((each) => `${each.words}: ${withUnit(each.values[place], each.units)}`)]
      .join(end);
  const place = new Map(everywhere.map((each) => [numbers[each], each]));
  let brushed = null; // places, or null for all of them
  let chosen = table.chosen; // a place, or null
  const watching = []; // what else shows the chosen design

  /** Show a design everywhere: its row here, and, where the page holds them, its mechanism, series and maps. */
  function choose(which) {
    chosen = which;
    const design = numbers[which], held = lookAt(design);
    byId("design-title").textContent = `Design ${design}`;
    fillTable(byId("design-row"), columns.map((each) => [each.words, withUnit(each.values[which], each.units), each.text]));
    byId("design-number").value = design;
    byId("design-note").className = held || !detailsOf.size ? "note" : "warning";
    byId("design-note").textContent = held || !detailsOf.size
      ? (held ? "The sections below show this design." : "")
      : `The page holds the mechanism and the series of ${detailsOf.size} designs, marked by dark points, not of this one: ` +
        `limbsweep report STORE --design ${design}`;
    for (const watch of watching) watch();
  }

  function chooser(which) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "link";
    made.textContent = String(numbers[which]);
    made.addEventListener("click", () => choose(which));
    return made;
  }

  function list() {
    const places = brushed ?? everywhere, sorted = column(byId("colour-by").value);
    const first = places.toSorted((a, b) => sorted.sign * (sorted.values[a] - sorted.values[b])).slice(0, 10);
    byId("brush-count").textContent =
      `${places.length} of ${numbers.length} designs in the brush` +
      (first.length ? `; those with the best ${sorted.words} are listed below.` : "; widen it to see designs.");
    fillTable(byId("brush-rows"), first.map((each) => [chooser(each), ...columns.map((it) => short(it.values[each]))]));
  }

  function parallel() {
    const figure = data.figures.parallel, trace = figure.data[0];
    trace.dimensions.forEach((each, index) => { each.values = column(table.axes[index]).values; });
    trace.line.color = column(table.scale).values;
    const box = byId("parallel"), choice = byId("colour-by");
    let under = null, pressed = null; // the line under the pointer; where a button of the mouse went down
    draw("parallel").then(() => {
      box.on("plotly_restyle", brush);
      box.on("plotly_hover", (event) => {
        under = event.curveNumber;
        byId("line-readout").textContent = telling(under, ", ");
      });
      box.on("plotly_unhover", () => { under = null; });
    });
    box.addEventListener("mousedown", (event) => { pressed = [event.clientX, event.clientY]; }, true);
    box.addEventListener("click", (event) => {
      const moved = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 3;
      if (under !== null && !moved) choose(under);
    }, true);
    choice.addEventListener("change", () => {
      const by = column(choice.value);
      Plotly.restyle(box, { "line.color": [by.values], "line.colorbar.title.text": by.label });
      list();
    });
    byId("unbrush").addEventListener("click", () => {
      const open = Object.fromEntries(table.axes.map((_, index) => [`dimensions[${index}].constraintrange`, [null]]));
      Plotly.restyle(box, open);
    });
    function brush() {
      const limits = box.data[0].dimensions.map((each, index) => ({
        values: column(table.axes[index]).values,
        ranges: each.constraintrange && (Array.isArray(each.constraintrange[0]) ? each.constraintrange : [each.constraintrange]),
      })).filter((each) => each.ranges?.length);
      const inside = (which) => limits.every(({ values, ranges }) =>
        ranges.some(([low, high]) => values[which] >= low && values[which] <= high));
      brushed = limits.length ? everywhere.filter(inside) : null;
      if (data.figures.front) Plotly.restyle("front", { selectedpoints: [brushed] }, [0]);
      list();
    }
    list();
  }

  function front() {
    const box = byId("front"), x = byId("front-x"), y = byId("front-y");
    const texts = everywhere.map((which) => telling(which, "<br>"));
    const shades = everywhere.map((which) => (detailsOf.has(numbers[which]) && detailsOf.size > 1 ? table.dark : table.light));
    const take = (values, places) => Array.from(places, (which) => values[which]);
    let line = [];

    function update() {
      const a = column(x.value), b = column(y.value);
      line = table.fronts[`${a.name}|${b.name}`] ?? table.fronts[`${b.name}|${a.name}`] ?? [];
      line = line.toSorted((p, q) => a.values[p] - a.values[q]);
      const sets = [everywhere, line, chosen === null ? [] : [chosen]];
      Plotly.update(box, {
        x: sets.map((places) => take(a.values, places)),
        y: sets.map((places) => take(b.values, places)),
        text: sets.map((places) => take(texts, places)),
        customdata: sets,
        "line.shape": a.sign > 0 ? "hv" : "vh",
      }, { "xaxis.title.text": a.label, "yaxis.title.text": b.label, "xaxis.autorange": true, "yaxis.autorange": true });
      Plotly.restyle(box, { "marker.color": [shades] }, [0]);
      byId("front-note").textContent = a === b ? "Choose two different objectives." :
        `On the front: ${line.length} of ${table.count} designs; no other is better in both objectives. ` +
        `${a.words}: ${a.how}; ${b.words}: ${b.how}.`;
    }

    const mark = () => Plotly.restyle(box, {
      x: [take(column(x.value).values, [chosen])], y: [take(column(y.value).values, [chosen])],
    }, [2]);
    draw("front").then(() => {
      update();
      watching.push(mark);
      box.on("plotly_click", (event) => choose(event.points[0].customdata));
    });
    for (const choice of [x, y]) choice.addEventListener("change", update);
    byId("front-next").addEventListener("click", () => {
      if (line.length) choose(line[(line.indexOf(chosen) + 1) % line.length]);
    });
  }

  const asked = byId("design-number");
  asked.addEventListener("change", () => {
    const which = place.get(Number(asked.value));
    if (which !== undefined) return choose(which);
    byId("design-note").textContent = `Design ${asked.value} is not among the ${numbers.length} that the page shows.`;
  });
  if (chosen !== null) choose(chosen);
  if (data.figures.front) front();
  parallel();
}
