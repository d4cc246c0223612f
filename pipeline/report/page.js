// Puts the data of the page into its figures, and follows the controls. Needs Plotly and the JSON in #report-data.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);
  const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

  /** An array of the page: {type, shape, bytes in base64, little endian}. */
  function decode(packed) {
    const text = atob(packed.bytes), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[packed.type](bytes.buffer);
  }

  const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(6))) : "no number");
  const withUnit = (x, units) => (units === "" || units === "1" ? short(x) : `${short(x)} ${units}`);
  const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
  const draw = (id, figure = data.figures[id]) => Plotly.newPlot(id, figure.data, figure.layout, config);

  /** Cells are set as text, never as markup. */
  function fillTable(body, rows) {
    body.replaceChildren(...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((cell, index) => {
        const made = document.createElement(index ? "td" : "th");
        made.textContent = cell;
        if (index && !/[a-z]{3}/i.test(cell)) made.className = "number"; // a text is read from the left
        return made;
      }));
      return row;
    }));
  }

  // ---- designs: parallel coordinates and two objectives share one table ---------------------------------------------

  function designs() {
    const table = data.designs, numbers = decode(table.numbers);
    const columns = table.columns.map((column) => ({ ...column, values: decode(column.values) }));
    const column = (name) => columns.find((each) => each.name === name);
    const telling = (place, end) =>
      [`design ${numbers[place]}`, ...columns.map((each) => `${each.words}: ${withUnit(each.values[place], each.units)}`)]
        .join(end);
    let brushed = null; // places, or null for all of them

    function show(place) {
      byId("design-title").textContent = `Design ${numbers[place]}`;
      fillTable(byId("design-row"), columns.map((each) => [each.words, withUnit(each.values[place], each.units), each.text]));
    }

    function list() {
      const places = brushed ?? Array.from(numbers.keys()), sorted = column(byId("colour-by")?.value ?? columns.at(-1).name);
      const first = places.toSorted((a, b) => sorted.sign * (sorted.values[a] - sorted.values[b])).slice(0, 10);
      byId("brush-count").textContent =
        `${places.length} of ${numbers.length} designs in the brush` +
        (first.length ? `; those with the best ${sorted.words}:` : "; widen it to see designs.");
      fillTable(byId("brush-rows"), first.map((place) => [
        String(numbers[place]), ...columns.map((each) => short(each.values[place]))]));
    }

    function parallel() {
      const figure = data.figures.parallel, trace = figure.data[0];
      trace.dimensions.forEach((each, index) => { each.values = column(table.axes[index]).values; });
      trace.line.color = column(table.scale).values;
      const box = byId("parallel"), choice = byId("colour-by");
      draw("parallel").then(() => box.on("plotly_restyle", brush));
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
        const inside = (place) => limits.every(({ values, ranges }) =>
          ranges.some(([low, high]) => values[place] >= low && values[place] <= high));
        brushed = limits.length ? Array.from(numbers.keys()).filter(inside) : null;
        if (data.figures.front) Plotly.restyle("front", { selectedpoints: [brushed] }, [0]);
        list();
      }
      list();
    }

    function front() {
      const box = byId("front"), x = byId("front-x"), y = byId("front-y");
      const texts = Array.from(numbers.keys(), (place) => telling(place, "<br>"));
      let chosen = table.chosen, line = [];
      const take = (values, places) => Array.from(places, (place) => values[place]);

      function update() {
        const a = column(x.value), b = column(y.value), all = Array.from(numbers.keys());
        line = table.fronts[`${a.name}|${b.name}`] ?? table.fronts[`${b.name}|${a.name}`] ?? [];
        line = line.toSorted((p, q) => a.values[p] - a.values[q]);
        const marked = chosen === null ? [] : [chosen];
        const sets = [all, line, marked];
        Plotly.update(box, {
          x: sets.map((places) => take(a.values, places)),
          y: sets.map((places) => take(b.values, places)),
          text: sets.map((places) => take(texts, places)),
          customdata: sets,
        }, { "xaxis.title.text": a.label, "yaxis.title.text": b.label, "xaxis.autorange": true, "yaxis.autorange": true });
        byId("front-note").textContent = a === b ? "Choose two different objectives." :
          `On the front: ${line.length} of ${table.count} designs; no other is better in both objectives. ` +
          `${a.words}: ${a.how}; ${b.words}: ${b.how}.`;
      }

      draw("front").then(() => {
        update();
        box.on("plotly_click", (event) => {
          chosen = event.points[0].customdata;
          show(chosen);
          update();
        });
      });
      for (const choice of [x, y]) choice.addEventListener("change", update);
      byId("front-next").addEventListener("click", () => {
        if (!line.length) return;
        chosen = line[(line.indexOf(chosen) + 1) % line.length];
        show(chosen);
        update();
      });
    }

    if (table.chosen !== null) show(table.chosen);
    if (data.figures.front) front();
    if (data.figures.parallel) parallel();
  }

  // ---- the case: mechanism, series and a slider over time ------------------------------------------------------------

  function unpackMotion(motion) {
    const points = (packed) => ({ values: decode(packed), rows: packed.shape[1] });
    return {
      ...motion, times: decode(motion.times), limbs: motion.limbs.map(points), platform: points(motion.platform),
      joints: points(motion.joints), force: points(motion.force), moment: points(motion.moment), path: points(motion.path),
    };
  }

  /** x, y, z of one frame of points. */
  function frameOf({ values, rows }, frame) {
    const axes = [new Array(rows), new Array(rows), new Array(rows)];
    for (let row = 0; row < rows; row++)
      for (let axis = 0; axis < 3; axis++) axes[axis][row] = values[(frame * rows + row) * 3 + axis];
    return axes;
  }

  function mechanism(onTime) {
    const about = data.mechanism, motions = about.trajectories.map(unpackMotion);
    const which = byId("trajectory"), slider = byId("time"), play = byId("play"), arrows = byId("arrows");
    let timer = null;

    const length = (axes, index) => Math.hypot(axes[0][index], axes[1][index], axes[2][index]);

    function arrowLines(joints, force) {
      const lines = [[], [], []];
      for (let joint = 0; joint < joints[0].length; joint++)
        for (let axis = 0; axis < 3; axis++)
          lines[axis].push(joints[axis][joint], joints[axis][joint] + about.arrow * force[axis][joint], NaN);
      return lines;
    }

    function show() {
      const motion = motions[which.value], frame = Number(slider.value);
      const joints = frameOf(motion.joints, frame), force = frameOf(motion.force, frame), moment = frameOf(motion.moment, frame);
      const platform = frameOf(motion.platform, frame);
      const moving = motion.limbs.map((limb) => frameOf(limb, frame));
      if (motion.platform.rows) moving.push(platform, frameOf({ ...motion.path, rows: motion.path.rows }, 0));
      moving.push(joints, arrows.checked ? arrowLines(joints, force) : [[], [], []]);
      const text = about.joints.map((name, index) =>
        `joint ${name}<br>force ${short(length(force, index))} N<br>moment ${short(length(moment, index))} N m`);
      const change = { x: moving.map((each) => each[0]), y: moving.map((each) => each[1]), z: moving.map((each) => each[2]) };
      const traces = moving.map((_, index) => index);
      change.text = traces.map((index) => (index === moving.length - 2 ? text : ""));
      Plotly.restyle("mechanism", change, traces);
      tell(motion, frame, force);
      onTime(Number(which.value), motion.times[frame]);
    }

    function tell(motion, frame, force) {
      const sizes = about.joints.map((_, index) => length(force, index));
      const most = sizes.reduce((best, size, index) => (size > (sizes[best] ?? -1) ? index : best), -1);
      const told = `time ${short(motion.times[frame])} s`;
      slider.setAttribute("aria-valuetext", told);
      byId("time-value").textContent = `${short(motion.times[frame])} s`;
      byId("frame-readout").textContent = most < 0
        ? `${told}: this sample failed; see the section about failed samples.`
        : `${told}: the largest force, ${short(sizes[most])} N, is in joint ${about.joints[most]}.`;
    }

    function choose() {
      slider.max = motions[which.value].times.length - 1;
      slider.value = Math.min(Number(slider.value), Number(slider.max));
      show();
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }

    draw("mechanism").then(choose);
    which.addEventListener("change", choose);
    slider.addEventListener("input", show);
    arrows.addEventListener("change", show);
    play.addEventListener("click", () => {
      if (timer !== null) return stop();
      play.textContent = "Pause";
      timer = setInterval(() => {
        slider.value = (Number(slider.value) + 1) % (Number(slider.max) + 1);
        show();
      }, 60);
    });
  }

  function series() {
    const about = data.series, times = decode(about.times), [, samples, actuators] = about.rows[0].values.shape;
    const rows = about.rows.map((row) => decode(row.values));
    const which = byId("series-trajectory");
    const drawn = draw("series").then(fill);

    function fill() {
      const lines = [];
      for (const values of rows)
        for (let actuator = 0; actuator < actuators; actuator++) {
          const start = Number(which.value) * samples;
          lines.push(Float64Array.from({ length: samples }, (_, k) => values[(start + k) * actuators + actuator]));
        }
      return Plotly.restyle("series", { x: lines.map(() => times), y: lines });
    }

    which.addEventListener("change", fill);
    return (trajectory, time) => drawn.then(() => {
      Plotly.relayout("series", { "shapes[0].x0": time, "shapes[0].x1": time });
      if (Number(which.value) !== trajectory) { which.value = trajectory; fill(); }
    });
  }

  function workspace() {
    const choice = byId("workspace-colour"), colours = data.workspace.map((each) => decode(each.values));
    const show = () => Plotly.restyle("workspace", {
      "marker.color": [colours[choice.value]], "marker.colorbar.title.text": data.workspace[choice.value].label,
    });
    draw("workspace").then(show);
    choice.addEventListener("change", show);
  }

  const follow = data.figures.series ? series() : () => {};
  if (data.figures.mechanism) mechanism(follow);
  if (data.designs) designs();
  if (data.figures.workspace) workspace();
  for (const id of ["sensitivity", "trouble"]) if (data.figures[id]) draw(id);
})();
