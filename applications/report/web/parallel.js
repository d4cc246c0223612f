// Parallel coordinates on a canvas: axes that are brushed, lines in chunks, so that a brush answers at once.

const FIRST_LINES = 1600, CHUNK_LINES = 1500, MOST_LINES = 9000, BACK_LINES = 700;

/** How far beyond the end of an axis a line goes whose value lies beyond it, in lengths of the axis. */
const BEYOND = 0.03;

function parallelView(table, filter, state, choose) {
  const readout = byId("line-readout"), surface = canvasOf("parallel", paint), { canvas } = surface;
  const back = document.createElement("canvas"), front = document.createElement("canvas");
  let layout = null, turn = 0, under = null, drag = null, known = "";

  const axes = () => state.axes.map((name) => table.byName.get(name));

  /** Where axes are: side by side, or on a narrow screen one below the other. */
  function arranged(width, height) {
    const columns = axes(), down = width < 620, many = Math.max(1, columns.length - 1);
    const [before, after] = down ? [34, 34] : [56, 64], [start, end] = down ? [14, width - 14] : [height - 24, 58];
    const places = columns.map((_, k) => before + (((down ? height : width) - before - after) * k) / many);
    const spans = columns.map((column) => axisRange(column, table.meets));
    const at = (k, value) => {
      const [low, high] = spans[k], share = Math.min(1 + BEYOND, Math.max(-BEYOND, (value - low) / (high - low)));
      return start + (end - start) * share;
    };
    const value = (k, pixel) => spans[k][0] + (spans[k][1] - spans[k][0]) * Math.min(1, Math.max(0, (pixel - start) / (end - start)));
    return { columns, down, places, spans, at, value, start, end, width, height };
  }

  function trace(context, place) {
    const { columns, down, places, at } = layout;
    for (let k = 0; k < columns.length; k++) {
      const along = at(k, columns[k].values[place]);
      const [x, y] = down ? [along, places[k]] : [places[k], along];
      if (k) context.lineTo(x, y); else context.moveTo(x, y);
    }
  }

  function sheet(target) {
    const ratio = devicePixelRatio || 1;
    [target.width, target.height] = [canvas.width, canvas.height];
    const context = target.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, layout.width, layout.height);
    return context;
  }

  /** All designs in grey: drawn once for each layout. */
  function backdrop() {
    const context = sheet(back), step = Math.max(1, Math.ceil(table.size / BACK_LINES));
    context.strokeStyle = colours.faint;
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 0; i < table.size; i += step) trace(context, i);
    context.stroke();
  }

  /** Of the designs that are kept, those that meet all conditions or the others: some, spread over all of them. */
  function thinned(good, most) {
    const places = [];
    for (let i = 0; i < table.size; i++) if (filter.mask[i] && Boolean(table.meets[i]) === good) places.push(i);
    const step = Math.max(1, Math.ceil(places.length / most)), some = places.filter((_, k) => k % step === 0);
    return some.map((_, n) => some[(n * 7919) % some.length]); // a prime
  }

  /** The designs that are kept, in colours: some at once, the others in chunks. */
  function foreground() {
    const context = sheet(front), mine = ++turn, palette = scaleColours();
    const column = table.byName.get(state.scale), [low, high] = crowd(column, table.meets);
    const order = [...thinned(false, BACK_LINES), ...thinned(true, MOST_LINES)]; // what breaks a condition lies below
    context.lineWidth = order.length > 3000 ? 0.6 : 1;
    context.globalAlpha = Math.max(0.15, Math.min(0.9, 60 / Math.sqrt(order.length + 1)));
    const draw = (from, to) => {
      const bins = Array.from({ length: LEVELS + 1 }, () => []);
      for (let n = from; n < to; n++) {
        const place = order[n], share = (column.values[place] - low) / (high - low);
        bins[table.meets[place] ? Math.min(LEVELS - 1, Math.max(0, Math.floor(share * LEVELS))) || 0 : LEVELS].push(place);
      }
      const best = column.sign > 0 ? [...bins.keys()].reverse() : [LEVELS, ...Array(LEVELS).keys()]; // drawn last
      best.forEach((bin) => {
        const places = bins[bin];
        if (!places.length) return;
        context.strokeStyle = bin === LEVELS ? colours.dot : palette[bin];
        context.beginPath();
        for (const place of places) trace(context, place);
        context.stroke();
      });
    };
    draw(0, Math.min(FIRST_LINES, order.length));
    let done = FIRST_LINES;
    const more = () => {
      if (mine !== turn || done >= order.length) return;
      draw(done, Math.min(done + CHUNK_LINES, order.length));
      done += CHUNK_LINES;
      compose();
      requestAnimationFrame(more);
    };
    requestAnimationFrame(more);
  }

  function strong(context, place, colour) {
    context.beginPath();
    trace(context, place);
    context.strokeStyle = colours.paper;
    context.lineWidth = 6;
    context.stroke();
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.stroke();
  }

  function compose() {
    const { context } = surface, { columns, down, places, spans, at, start, end, width, height } = layout;
    context.clearRect(0, 0, width, height);
    context.drawImage(back, 0, 0, width, height);
    context.drawImage(front, 0, 0, width, height);
    if (under !== null) strong(context, under, colours.quiet);
    if (state.chosen !== null) strong(context, state.chosen, colours.accent);
    columns.forEach((column, k) => {
      context.strokeStyle = colours.quiet;
      context.lineWidth = 1.2;
      context.beginPath();
      const [x0, y0, x1, y1] = down ? [start, places[k], end, places[k]] : [places[k], start, places[k], end];
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
      const range = filter.ranges.get(column.name);
      if (range) {
        const [a, b] = [at(k, range[0]), at(k, range[1])], low = Math.min(a, b), long = Math.max(4, Math.abs(b - a));
        context.fillStyle = colours.accent;
        context.globalAlpha = 0.35;
        if (down) context.fillRect(low, places[k] - 7, long, 14); else context.fillRect(places[k] - 7, low, 14, long);
        context.globalAlpha = 1;
      }
      labels(context, column, k, spans[k], { down, places, at, end, width, columns });
    });
  }

  function labels(context, column, k, span, { down, places, at, end, width, columns }) {
    const values = ticks(...span, down ? 4 : 5, column.factor), texts = tickTexts(values, column.factor);
    context.fillStyle = colours.ink;
    context.font = STRONG;
    const room = down ? width - 20 : (width - 110) / Math.max(1, columns.length - 1) - 12;
    context.textAlign = down ? "left" : "center";
    context.textBaseline = "alphabetic";
    context.strokeStyle = colours.panel;
    context.lineWidth = 5;
    context.lineJoin = "round";
    const lines = down ? wrapped(context, column.title, room).slice(0, 1) : wrapped(context, column.title, room);
    lines.forEach((line, row) => {
      const half = context.measureText(line).width / 2 + 2; // titles of the outer axes stay within the drawing
      const [x, y] = down ? [14, places[k] - 9] : [Math.min(Math.max(places[k], half), width - half), 16 + 14 * row];
      context.strokeText(line, x, y);
      context.fillText(line, x, y);
    });
    context.font = FONT;
    values.forEach((value, n) => {
      const along = at(k, value), text = texts[n], wide = context.measureText(text).width;
      const [x, y] = down ? [Math.min(Math.max(along, 14 + wide / 2), width - 14 - wide / 2), places[k] + 16] : [places[k] + 7, along + 4];
      context.textAlign = down ? "center" : "left";
      context.strokeStyle = colours.panel;
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    });
  }

  function paint(context, width, height) {
    layout = arranged(width, height);
    const now = [width, height, isDark(), ...state.axes].join();
    if (now !== known) backdrop();
    known = now;
    foreground();
    compose();
  }

  /** The line that is nearest to the pointer, within some pixels, of those that are kept. */
  function nearest(x, y) {
    const { columns, down, places, at } = layout, [main, cross] = down ? [y, x] : [x, y];
    const k = Math.min(columns.length - 2, Math.max(0, places.findLastIndex((place) => place <= main)));
    const share = (main - places[k]) / (places[k + 1] - places[k]);
    let best = null, least = 9;
    for (let i = 0; i < table.size; i++) {
      if (!filter.mask[i]) continue;
      const here = at(k, columns[k].values[i]) * (1 - share) + at(k + 1, columns[k + 1].values[i]) * share;
      if (Math.abs(here - cross) < least) [best, least] = [i, Math.abs(here - cross)];
    }
    return best;
  }

  const spot = (event) => {
    const box = canvas.getBoundingClientRect(), [x, y] = [event.clientX - box.x, event.clientY - box.y];
    const [main, cross] = layout.down ? [y, x] : [x, y];
    const axis = layout.places.findIndex((place) => Math.abs(place - main) < 16);
    return { x, y, cross, axis };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (!layout) return;
    const { axis, cross, x, y } = spot(event);
    drag = { axis, from: cross, x, y, moved: false };
    if (axis >= 0) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!layout) return;
    const { x, y, cross, axis } = spot(event);
    if (drag && drag.axis >= 0) {
      drag.moved ||= Math.abs(cross - drag.from) > 3;
      if (!drag.moved) return;
      const ends = [layout.value(drag.axis, drag.from), layout.value(drag.axis, cross)].sort((a, b) => a - b);
      filter.range(state.axes[drag.axis], ends);
      return;
    }
    canvas.style.cursor = axis >= 0 ? (layout.down ? "ew-resize" : "ns-resize") : "pointer";
    if (event.pointerType === "touch") return;
    const hit = axis >= 0 ? null : nearest(x, y);
    if (hit === under) return;
    under = hit;
    readout.textContent = hit === null ? "" : state.telling(hit);
    compose();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { x, y } = spot(event), pressed = drag;
    drag = null;
    if (pressed.axis >= 0) {
      if (!pressed.moved) filter.range(state.axes[pressed.axis], null);
    } else if (Math.hypot(x - pressed.x, y - pressed.y) < 6) {
      const hit = nearest(x, y);
      if (hit !== null) choose(hit);
    }
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { if (under !== null) { under = null; readout.textContent = ""; compose(); } });
  filter.watching.push(surface.whenSeen);
  return surface;
}
