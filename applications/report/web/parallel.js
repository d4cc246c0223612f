// Parallel coordinates: axes that are brushed, lines as pixels and in chunks, so that a brush answers at once. A canvas
// takes some hundred times as long for its lines where no graphics card draws them.

const FIRST_LINES = 1600, LEAST_LINES = 100, CHUNK_LINES = 1500, MOST_LINES = 9000, BACK_LINES = 700;
const COARSE = 0.5; // of the pixels along each side, while a hand brushes
const SLOW = 20, QUICK = 17.5, STILL = 1500; // milliseconds between frames: fewer lines, more lines, no brush

/** How far beyond the end of an axis a line goes whose value lies beyond it, in lengths of the axis. */
const BEYOND = 0.03;

const DEEPEST = 8, DEPTHS = 256; // optical depth from which a pixel is opaque, and levels up to it

/** Opacities by optical depth, which adds up where lines lie over each other. */
const OPACITIES = Uint8Array.from({ length: DEPTHS }, (_, k) => Math.round(255 * (1 - Math.exp((-DEEPEST * (k + 0.5)) / DEPTHS))));

const NO_LEVEL = -1; // of what breaks a condition

/** Pixels of many lines: the denser the more there are, in the colour of the mean level of those that have one. */
function lineSheet(width, height, ratio) {
  const good = new Float32Array(2 * width * height), others = new Float32Array(width * height); // depths, the first with their products with levels
  let image = null;

  /** A line from one place to another, both in pixels, shared by the two pixels beside it; none where a value is no number. */
  const line = (x0, y0, x1, y1, opacity, level) => {
    const flat = Math.abs(x1 - x0) >= Math.abs(y1 - y0), swap = flat ? x0 > x1 : y0 > y1;
    const along = flat ? width : height, across = flat ? height : width, step = flat ? 1 : width, over = flat ? width : 1;
    const u0 = flat ? (swap ? x1 : x0) : swap ? y1 : y0, v0 = flat ? (swap ? y1 : y0) : swap ? x1 : x0;
    const u1 = flat ? (swap ? x0 : x1) : swap ? y0 : y1, v1 = flat ? (swap ? y0 : y1) : swap ? x0 : x1;
    const from = Math.max(0, Math.round(u0)), last = Math.min(along - 1, Math.round(u1));
    if (!(Math.min(v0, v1) >= 1 && Math.max(v0, v1) < across - 2)) return;
    const weight = -Math.log1p(-opacity), slope = u1 > u0 ? (v1 - v0) / (u1 - u0) : 0;
    for (let u = from, v = v0 + slope * (from - u0); u <= last; u++, v += slope) {
      const whole = v | 0, more = (v - whole) * weight, less = weight - more, at = u * step + whole * over;
      if (level === NO_LEVEL) {
        others[at] += less;
        others[at + over] += more;
        continue;
      }
      good[2 * at] += less;
      good[2 * at + 1] += less * level;
      good[2 * (at + over)] += more;
      good[2 * (at + over) + 1] += more * level;
    }
  };
  return {
    line, width, height, ratio,
    clear: () => { good.fill(0); others.fill(0); },
    /** Put all lines on a canvas; `shades` are the colours of levels, and of none. */
    show: (context, shades, none) => {
      image ??= context.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      const tints = Uint32Array.from(shades, (it) => pixelOf(it) & 0xffffff), grey = pixelOf(none) & 0xffffff;
      for (let at = 0; at < pixels.length; at++) {
        const depth = good[2 * at], whole = depth + others[at];
        pixels[at] = 0;
        if (!whole) continue;
        const tint = depth ? tints[Math.round(good[2 * at + 1] / depth)] : grey;
        pixels[at] = (OPACITIES[Math.min(DEPTHS - 1, ((whole * DEPTHS) / DEEPEST) | 0)] << 24) | tint;
      }
      context.putImageData(image, 0, 0);
    },
  };
}

function parallelView(table, filter, state, choose) {
  const readout = byId("line-readout"), surface = canvasOf("parallel", paint), { canvas } = surface;
  const [back, front, over] = ["back", "front", "over"].map(() => document.createElement("canvas"));
  const sequence = shuffled(table.size);
  let layout = null, sheets = [], lines = null, turn = 0, under = null, drag = null, known = "", shown = "", first = FIRST_LINES, brushed = -Infinity;

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
    const along = columns.map(({ values }, k) => Float32Array.from(values, (value) => at(k, value))); // in pixels
    return { columns, down, places, spans, at, value, along, start, end, width, height };
  }

  function trace(context, place) {
    const { along, down, places } = layout;
    for (let k = 0; k < places.length; k++) {
      const pixel = along[k][place], x = down ? pixel : places[k], y = down ? places[k] : pixel;
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

  /** Adds the line of a design to those that are drawn as pixels. */
  function draw(place, opacity, level) {
    const { along, down, places } = layout, { ratio } = lines;
    for (let k = 1; k < places.length; k++) {
      const [from, to] = [ratio * along[k - 1][place], ratio * along[k][place]], [start, end] = [ratio * places[k - 1], ratio * places[k]];
      if (down) lines.line(from, start, to, end, opacity, level); else lines.line(start, from, end, to, opacity, level);
    }
  }

  /** All designs in grey: drawn once for each layout. */
  function backdrop() {
    const context = sheet(back), step = Math.max(1, Math.ceil(table.size / BACK_LINES));
    const ratio = devicePixelRatio || 1;
    sheets = [1, COARSE].map((share) => lineSheet(Math.ceil(share * canvas.width), Math.ceil(share * canvas.height), share * ratio));
    lines = sheets[0];
    lines.clear();
    for (let i = 0; i < table.size; i += step) draw(i, 0.9, NO_LEVEL);
    lines.show(context, [], colours.faint);
  }

  /** Of the designs that are kept, those that meet all conditions or the others: some, from all of them. */
  function thinned(good, most) {
    const places = [];
    for (let n = 0; n < sequence.length && places.length < most; n++) {
      const place = sequence[n];
      if (filter.mask[place] && Boolean(table.meets[place]) === good) places.push(place);
    }
    return places;
  }

  /** Whether a brush goes on: then as many lines are drawn at once as this machine draws between two frames. */
  function brushing() {
    const now = performance.now(), since = now - brushed;
    brushed = now;
    if (since > STILL) return false;
    if (since > SLOW) first = Math.max(LEAST_LINES, Math.round(0.7 * first));
    else if (since < QUICK) first = Math.min(FIRST_LINES, first + 50);
    return true;
  }

  /** The designs that are kept, in colours: some at once, the others in chunks; while a hand brushes some in large pixels. */
  function foreground(moving = brushing()) {
    const context = front.getContext("2d"), mine = ++turn, palette = scaleColours();
    lines = sheets[moving ? 1 : 0];
    [front.width, front.height] = [lines.width, lines.height]; // and empty
    const column = table.byName.get(state.scale), [low, high] = crowd(column, table.meets);
    const order = [...thinned(false, moving ? first / 4 : BACK_LINES), ...thinned(true, moving ? first : MOST_LINES)]; // what breaks a condition lies below
    const opacity = Math.max(0.15, Math.min(0.9, 60 / Math.sqrt(order.length + 1)));
    lines.clear();
    const add = (from, to) => {
      for (let n = from; n < to; n++) {
        const place = order[n], share = (column.values[place] - low) / (high - low);
        draw(place, opacity, table.meets[place] ? Math.min(LEVELS - 1, Math.max(0, share * LEVELS - 0.5)) || 0 : NO_LEVEL);
      }
      lines.show(context, palette, colours.dot);
    };
    if (moving) {
      add(0, order.length);
      setTimeout(() => { if (mine === turn) { foreground(false); compose(); } }, RESTS); // all of them when the hand rests
      return;
    }
    add(0, Math.min(first, order.length));
    let done = first;
    const more = () => {
      if (mine !== turn || done >= order.length) return;
      add(done, Math.min(done + CHUNK_LINES, order.length));
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

  /** Axes, their ranges and labels: drawn once for each brush. */
  function overlay() {
    const context = sheet(over), { columns, down, places, spans, at, start, end, width } = layout;
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

  function compose() {
    const { context } = surface, { width, height } = layout;
    context.clearRect(0, 0, width, height);
    context.drawImage(back, 0, 0, width, height);
    context.drawImage(front, 0, 0, width, height);
    if (under !== null) strong(context, under, colours.quiet);
    if (state.chosen !== null) strong(context, state.chosen, colours.accent);
    context.drawImage(over, 0, 0, width, height);
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
    const now = [width, height, devicePixelRatio, isDark(), ...state.axes].join();
    if (now !== known) {
      layout = arranged(width, height);
      backdrop();
    }
    known = now;
    overlay();
    const wanted = [now, filter.turn, state.scale].join(); // another design that is looked into changes no line
    if (wanted !== shown) foreground();
    shown = wanted;
    compose();
  }

  /** The line that is nearest to the pointer, within some pixels, of those that are kept. */
  function nearest(x, y) {
    const { along, down, places } = layout, [main, cross] = down ? [y, x] : [x, y];
    const k = Math.min(places.length - 2, Math.max(0, places.findLastIndex((place) => place <= main)));
    const share = (main - places[k]) / (places[k + 1] - places[k]);
    const [before, after] = [along[k], along[k + 1]];
    let best = null, least = 9;
    for (let i = 0; i < table.size; i++) {
      if (!filter.mask[i]) continue;
      const far = Math.abs(before[i] * (1 - share) + after[i] * share - cross);
      if (far < least) { best = i; least = far; }
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
