// Points of designs by two columns on a canvas: the front of two objectives, and the panels of the matrix.

/** Colours of points as numbers for pixels: little endian, opaque. */
function pixelOf(text, share = 1) {
  const context = pixelOf.context ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
  return ((Math.round(a * share) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Where a value is on an axis, those beyond its range at its ends. */
const held = (value, [low, high]) => Math.min(high, Math.max(low, value));

/** A range with some room at its ends, so that marks there do not lie on the numbers of the axes. */
const roomy = ([low, high]) => [low - 0.03 * (high - low), high + 0.03 * (high - low)];

/**
 * Where the points of two columns lie in a box, as places of pixels of their dots: made once for each box. A dot beyond
 * the ends of an axis is a bar at the edge, and has its own sizes.
 */
function dotsOf(table, a, b, box, width, height, dot) {
  const places = new Int32Array(table.size), bars = new Map();
  const [x0, x1] = box.x, [y0, y1] = box.y, across = (width - dot) / (x1 - x0), down = (height - dot) / (y1 - y0);
  for (let i = 0; i < table.size; i++) {
    const at = Math.round((a.values[i] - x0) * across), to = Math.round((y1 - b.values[i]) * down);
    const x = Math.min(Math.max(at, 0), width - dot), y = Math.min(Math.max(to, 0), height - dot);
    if (x === at && y === to) { places[i] = y * width + x; continue; }
    places[i] = -1;
    if (!Number.isFinite(a.values[i]) || !Number.isFinite(b.values[i])) continue;
    const wide = x === at ? dot : Math.min(3 * dot, width), high = y === to ? dot : Math.min(3 * dot, height);
    bars.set(i, [Math.min(y, height - high) * width + Math.min(x, width - wide), wide, high]);
  }
  return { places, bars };
}

/**
 * Draws the points of a table into a box of a canvas: what the filter does not keep is faint, below the rest. `kept` is
 * the memory of the box; of so many points (`every`) one is drawn.
 */
function points(context, table, filter, a, b, box, size, { kept = {}, every = 1, shown = colours } = {}) {
  const ratio = devicePixelRatio || 1, width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (width < 2 || height < 2) return;
  const dot = Math.max(1, Math.round(size * ratio)), known = [a.name, b.name, width, height, dot, ...box.x, ...box.y].join();
  if (kept.known !== known)
    Object.assign(kept, { known, image: context.createImageData(width, height), level: new Uint8Array(width * height), ...dotsOf(table, a, b, box, width, height, dot) });
  const { image, level, places, bars } = kept, pixels = new Uint32Array(image.data.buffer);
  const shades = [0, pixelOf(shown.faint), pixelOf(shown.dot), pixelOf(shown.accent)];
  pixels.fill(0);
  level.fill(0);
  const mark = (from, wide, high, mine) => {
    for (let row = 0; row < high; row++) {
      const start = from + row * width;
      for (let at = start; at < start + wide; at++) if (level[at] < mine) { level[at] = mine; pixels[at] = shades[mine]; }
    }
  };
  const mine = (i) => (filter.mask[i] ? (table.meets[i] ? 3 : 2) : 1);
  for (let i = 0; i < table.size; i += every) if (places[i] >= 0) mark(places[i], dot, dot, mine(i));
  for (const [i, [from, wide, high]] of bars) mark(from, wide, high, mine(i));
  context.putImageData(image, Math.round(box.left * ratio), Math.round(box.top * ratio));
}

/** Bins of all designs by two columns, the darker or lighter the more are in one; false if there are none. */
function shades(context, table, a, b, box) {
  const found = table.bins.find(({ names }) => names.includes(a.name) && names.includes(b.name));
  if (!found || a === b) return false;
  const flipped = found.names[0] !== a.name, [rows, across] = found.shape;
  const px = (value) => box.left + ((value - box.x[0]) / (box.x[1] - box.x[0])) * box.width;
  const py = (value) => box.top + ((box.y[1] - value) / (box.y[1] - box.y[0])) * box.height;
  const [others, met] = [found.counts[1], found.counts[0]], scale = scaleColours(), most = met.reduce((x, y) => Math.max(x, y), 1);
  const edge = (axis, k, count) => found.ranges[axis][0] + (k / count) * (found.ranges[axis][1] - found.ranges[axis][0]);
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < across; column++) {
      const count = met[row * across + column];
      if (!count && !others[row * across + column]) continue;
      context.fillStyle = count ? scale[Math.min(LEVELS - 1, Math.floor((LEVELS * count) / (most + 1)))] : colours.faint;
      const u = [edge(0, column, across), edge(0, column + 1, across)], v = [edge(1, row, rows), edge(1, row + 1, rows)];
      const [x, y] = flipped ? [v, u] : [u, v];
      context.fillRect(px(x[0]) - 0.25, py(y[1]) - 0.25, px(x[1]) - px(x[0]) + 0.5, py(y[0]) - py(y[1]) + 0.5);
    }
  }
  context.restore();
  return true;
}

/** Axes of a box with ticks and titles. */
function frame(context, a, b, box, titles = true) {
  const bottom = box.top + box.height, right = box.left + box.width;
  context.strokeStyle = colours.line;
  context.fillStyle = colours.ink;
  context.lineWidth = 1;
  context.font = FONT;
  const px = (value) => box.left + ((value - box.x[0]) / (box.x[1] - box.x[0])) * box.width;
  const py = (value) => bottom - ((value - box.y[0]) / (box.y[1] - box.y[0])) * box.height;
  const xs = ticks(...box.x, Math.max(3, Math.floor(box.width / 90)), a.factor), ys = ticks(...box.y, Math.max(2, Math.floor(box.height / 60)), b.factor);
  context.beginPath();
  for (const x of xs) { context.moveTo(px(x), box.top); context.lineTo(px(x), bottom); }
  for (const y of ys) { context.moveTo(box.left, py(y)); context.lineTo(right, py(y)); }
  context.stroke();
  if (!titles) return { px, py };
  context.textAlign = "center";
  context.textBaseline = "top";
  tickTexts(xs, a.factor).forEach((text, k) => context.fillText(text, px(xs[k]), bottom + 6));
  context.textAlign = "right";
  context.textBaseline = "middle";
  tickTexts(ys, b.factor).forEach((text, k) => context.fillText(text, box.left - 6, py(ys[k])));
  context.font = STRONG;
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(a.title, box.left + box.width / 2, bottom + 42);
  context.textAlign = "left";
  context.fillText(b.title, 6, box.top - 8);
  return { px, py };
}

function ring(context, x, y, radius, colour, width = 3) {
  for (const [shade, line] of [[colours.paper, width + 3], [colour, width]]) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.strokeStyle = shade;
    context.lineWidth = line;
    context.stroke();
  }
}

const MOVING_POINTS = 60000; // of all panels of the matrix, while a hand brushes
const MOVING_FRONT = 20000; // of the trade-off

/** Draws again when designs are kept or not, all points as soon as the hand rests; tells whether it brushes. */
function followBrush(filter, surface) {
  let resting = null;
  filter.watching.push(() => {
    clearTimeout(resting);
    resting = setTimeout(() => { resting = null; surface.whenSeen(); }, RESTS);
    surface.whenSeen();
  });
  return () => resting !== null;
}

/** Two objectives against each other, with the front; the arrow keys step along it. */
function frontView(table, filter, state, choose) {
  const x = byId("front-x"), y = byId("front-y"), readout = byId("front-readout"), note = byId("front-note");
  const surface = canvasOf("front", paint), { canvas } = surface;
  const sheet = document.createElement("canvas"), kept = {};
  let line = [], box = null, scale = null, a = null, b = null, xs = null, ys = null;

  /** A range that has all of the front and the answer. */
  const withFront = (column, [low, high]) => {
    const values = [...line, ...(table.chosen === null ? [] : [table.chosen])].map((place) => column.values[place]).filter(Number.isFinite);
    return [Math.min(low, ...values), Math.max(high, ...values)];
  };

  function take() {
    [a, b] = [table.byName.get(x.value), table.byName.get(y.value)];
    line = a === b ? [] : frontOf(table, a, b);
    [xs, ys] = [a, b].map((it) => withFront(it, axisRange(it, table.meets)));
    const outside = Math.max(beyond(a, xs), beyond(b, ys));
    note.textContent = a === b ? "Choose two different objectives."
      : `On the front: ${count(line.length)} of ${count(table.count)} designs; no other that meets the conditions is better in both.` +
        (table.bins.length ? " Shades, without a range, tell how many designs there are, by logarithms." : "") +
        (outside ? ` ${count(outside)} or more lie beyond the axes: bars at the edges.` : "") +
        (table.size > MOVING_FRONT ? ` While a range is dragged, one point of ${Math.ceil(table.size / MOVING_FRONT)} is drawn.` : "");
    surface.whenSeen();
  }

  function paint(context, width, height) {
    box = { left: 64, top: 30, width: width - 84, height: height - 84, x: roomy(xs), y: roomy(ys) };
    frame(context, a, b, box);
    context.save();
    const ratio = devicePixelRatio || 1;
    if (sheet.width !== canvas.width || sheet.height !== canvas.height) [sheet.width, sheet.height] = [canvas.width, canvas.height];
    if (filter.kept < table.size || !shades(context, table, a, b, box)) {
      points(sheet.getContext("2d"), table, filter, a, b, box, table.size > 20000 ? 2 : table.size > 2000 ? 3 : 5, { kept, every: brushes() ? Math.ceil(table.size / MOVING_FRONT) : 1 });
      context.drawImage(sheet, 0, 0, sheet.width / ratio, sheet.height / ratio);
    }
    context.beginPath();
    context.rect(box.left - 8, box.top - 8, box.width + 16, box.height + 16);
    context.clip();
    scale = frame(context, a, b, box, false);
    const { px, py } = scale;
    context.strokeStyle = context.fillStyle = colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    line.forEach((place, k) => {
      const [u, v] = [px(a.values[place]), py(b.values[place])];
      if (!k) context.moveTo(u, v);
      else if (a.sign > 0) { context.lineTo(u, py(b.values[line[k - 1]])); context.lineTo(u, v); }
      else { context.lineTo(px(a.values[line[k - 1]]), v); context.lineTo(u, v); }
    });
    context.stroke();
    for (const place of line) {
      const [u, v] = [px(a.values[place]), py(b.values[place])];
      context.save();
      context.translate(u, v);
      context.rotate(Math.PI / 4);
      context.fillRect(-3.5, -3.5, 7, 7);
      context.restore();
    }
    const marked = (place, ...look) => ring(context, px(held(a.values[place], box.x)), py(held(b.values[place], box.y)), ...look);
    for (const place of state.pinned) marked(place, 8, colours.good, 2);
    if (state.chosen !== null) marked(state.chosen, 10, colours.platform);
    context.restore();
  }

  function nearest(event) {
    if (!scale) return null;
    const at = canvas.getBoundingClientRect(), u = event.clientX - at.x, v = event.clientY - at.y;
    let best = null, least = 14 ** 2;
    const [x0, x1] = box.x, [y0, y1] = box.y, across = box.width / (x1 - x0), down = box.height / (y1 - y0);
    const [sought, level] = [x0 + (u - box.left) / across, y1 - (v - box.top) / down];
    for (let i = 0; i < table.size; i++) {
      if (!filter.mask[i]) continue;
      const x = (Math.min(x1, Math.max(x0, a.values[i])) - sought) * across, y = (Math.min(y1, Math.max(y0, b.values[i])) - level) * down;
      const far = x * x + y * y;
      if (far < least) { best = i; least = far; }
    }
    return best;
  }

  const step = (by) => {
    if (!line.length) return;
    const at = line.indexOf(state.chosen);
    choose(line[(at + by + line.length) % line.length]);
    readout.textContent = state.telling(state.chosen);
  };
  canvas.addEventListener("pointermove", (event) => {
    const hit = nearest(event);
    canvas.style.cursor = hit === null ? "default" : "pointer";
    readout.textContent = hit === null ? "" : state.telling(hit);
  });
  canvas.addEventListener("click", (event) => { const hit = nearest(event); if (hit !== null) choose(hit); });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (by) { event.preventDefault(); step(by); }
  });
  byId("front-next").addEventListener("click", () => step(1));
  for (const choice of [x, y]) choice.addEventListener("change", take);
  const brushes = followBrush(filter, surface);
  take();
  return { surface, at: (place) => [scale.px(a.values[place]), scale.py(b.values[place])] };
}

/** Each pair of the first axes against each other. */
function matrixView(table, filter, state) {
  const MOST = 5, kept = {};
  const surface = canvasOf("matrix", (context, width, height) => {
    const axes = state.axes.map((name) => table.byName.get(name)), few = width < 620 ? 3 : MOST;
    const objectives = axes.filter((column) => column.objective).slice(0, Math.ceil(few / 2));
    const parameters = axes.filter((column) => !column.objective), fine = parameters.filter((it) => new Set(it.values.slice(0, 500)).size > 4);
    const chosen = [...[...fine, ...parameters.filter((it) => !fine.includes(it))].slice(0, few - objectives.length), ...objectives];
    const many = chosen.length - 1, left = 10, top = 6, gap = 10, room = 26;
    const wide = (width - left) / many - gap, high = (height - top - room) / many - gap;
    const every = !brushes() ? 1 : Math.ceil((table.size * many * (many + 1)) / 2 / MOVING_POINTS);
    for (let row = 0; row < many; row++) {
      for (let column = 0; column <= row; column++) {
        const a = chosen[column], b = chosen[row + 1];
        const box = { left: left + column * (wide + gap), top: top + row * (high + gap), width: wide, height: high, x: roomy(axisRange(a, table.meets)), y: roomy(axisRange(b, table.meets)) };
        points(context, table, filter, a, b, box, table.size > 20000 ? 1 : table.size > 2000 ? 2 : 3, { kept: (kept[`${row} ${column}`] ??= {}), every });
        context.strokeStyle = colours.line;
        context.lineWidth = 1;
        context.strokeRect(box.left, box.top, wide, high);
        if (state.chosen !== null) {
          const share = (it, [low, end]) => (held(it, [low, end]) - low) / (end - low);
          const u = box.left + share(a.values[state.chosen], box.x) * wide, v = box.top + (1 - share(b.values[state.chosen], box.y)) * high;
          ring(context, u, v, 5, colours.platform, 2);
        }
        context.fillStyle = colours.ink;
        context.font = STRONG;
        context.textAlign = "left";
        context.textBaseline = "top";
        if (column !== row) continue;
        const beside = width - box.left - wide - 24, inside = beside < 120, text = `${b.words} ↑ over ${a.words} →`;
        context.strokeStyle = colours.panel;
        context.lineWidth = 5;
        context.lineJoin = "round";
        const lines = wrapped(context, text, inside ? wide - 12 : beside), above = box.top - 14 * lines.length - 2; // no box is there
        const [u, v] = inside ? [box.left + 6, row ? above : box.top + 6] : [box.left + wide + 8, box.top + 8];
        lines.forEach((line, k) => {
          context.strokeText(line, u, v + 14 * k);
          context.fillText(line, u, v + 14 * k);
        });
      }
    }
  });
  const brushes = followBrush(filter, surface);
  return surface;
}
