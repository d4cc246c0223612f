// What drawings share: canvases as sharp as the screen, scales of numbers, colours of numbers.

/** Makes a canvas as large as its place and the screen's pixels; calls `paint(context, width, height)` then, and again. */
function canvasOf(id, paint) {
  const canvas = byId(id), context = canvas.getContext("2d");
  let pending = false;
  const surface = { canvas, context, width: 0, height: 0, ready: false };

  surface.paint = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; surface.now(); });
  };
  surface.now = () => {
    const box = canvas.parentElement.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    if (box.width < 2 || box.height < 2) return;
    [surface.width, surface.height] = [box.width, box.height];
    const across = Math.round(box.width * ratio), down = Math.round(box.height * ratio);
    if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    surface.ready = true;
    paint(context, box.width, box.height);
  };
  repaints.push(() => surface.whenSeen());
  let visible = false, stale = true; // what nobody sees is drawn when it is scrolled to
  surface.whenSeen = () => {
    stale = true;
    if (visible) { stale = false; surface.paint(); }
  };
  new IntersectionObserver((entries) => {
    visible = entries.at(-1).isIntersecting;
    if (stale) surface.whenSeen();
  }, { rootMargin: "150px" }).observe(canvas.parentElement);
  new ResizeObserver(surface.whenSeen).observe(canvas.parentElement);
  drawings.push(surface.now);
  return surface;
}

/** The numbers below a size in an order without pattern, always the same, so that the first of them are a fair part. */
function shuffled(size) {
  const order = Uint32Array.from({ length: size }, (_, k) => k);
  let seed = 1;
  for (let k = size - 1; k > 0; k--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; // a linear congruential generator
    const other = Math.floor((seed / 2 ** 32) * (k + 1)), held = order[k];
    order[k] = order[other];
    order[other] = held;
  }
  return order;
}

const drawings = []; // draws each canvas at once, as paper asks for

/** Numbers within a range that are round in the unit that is shown, about as many as asked for. */
function ticks(from, to, about = 5, factor = 1) {
  if (!(to > from)) return [from];
  const low = from * factor, high = to * factor;
  const rough = (high - low) / about, size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((it) => it * size).find((it) => it >= rough) ?? 10 * size, found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push((k * step) / factor);
  return found;
}

/** Numbers of ticks in the unit that is shown, without more digits than their steps need. */
function tickTexts(values, factor) {
  const shown = values.map((value) => value * factor);
  const step = shown.length > 1 ? Math.abs(shown[1] - shown[0]) : Math.abs(shown[0]) || 1;
  let digits = 0;
  while (digits < 6 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 * step * 10 ** digits) digits++;
  if (shown.length === 1) return [rounded(shown[0])];
  return shown.map((value) => (Math.abs(value) >= 1e6 || (value && Math.abs(value) < 1e-4) ? rounded(value) : value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1")));
}

const CIVIDIS = ["#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#e0cb53", "#fee838"];
const LEVELS = 16;

/** A colour for each of the levels, readable on the paper: the light end is left out on white, the dark one on black. */
function scaleColours() {
  const [from, to] = isDark() ? [0.3, 1] : [0, 0.82];
  return Array.from({ length: LEVELS }, (_, k) => mixed(CIVIDIS, from + ((to - from) * k) / (LEVELS - 1)));
}

function mixed(anchors, share) {
  const at = Math.min(share * (anchors.length - 1), anchors.length - 1 - 1e-9), k = Math.floor(at), part = at - k;
  const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  const [a, b] = [rgb(anchors[k]), rgb(anchors[k + 1])];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * part)).join(",")})`;
}

/** Where a column's colours begin and end: a few values far above all others do not make the rest look alike. */
function crowd(column, meets = null) {
  const { sorted } = spread(column, meets);
  const low = sorted[Math.floor(0.01 * sorted.length)] ?? 0, high = sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 1;
  return high > low ? [low, high] : [column.low, column.high > column.low ? column.high : column.low + 1];
}

/** Least and greatest value of the designs that meet all conditions, of all where none does; at most 50000 in order. */
function spread(column, meets) {
  const name = meets ? "spreadOfMeets" : "spread";
  column[name] ??= (() => {
    const { values } = column, sorted = [], step = Math.max(1, Math.floor(values.length / 50000));
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < values.length; i++) {
      if (!Number.isFinite(values[i]) || (meets && !meets[i])) continue;
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
      if (i % step === 0) sorted.push(values[i]);
    }
    return low <= high ? { low, high, sorted: sorted.sort((a, b) => a - b) } : meets ? spread(column, null) : { low: 0, high: 1, sorted };
  })();
  return column[name];
}

const FEW = 100;

/**
 * The range of an axis: of a parameter what was swept, of a number that of the designs that meet all conditions. What
 * lies beyond it is marked at its ends: others, and of many designs the few that lie so far out that the rest would be a line.
 */
function axisRange(column, good = null) {
  const meets = column.objective === false ? null : good;
  const all = spread(column, meets), [low, high] = crowd(column, meets);
  const far = all.sorted.length > FEW && all.high - all.low > 4 * (high - low);
  const [from, to] = far ? [Math.max(all.low, low - 0.1 * (high - low)), Math.min(all.high, high + 0.3 * (high - low))] : [all.low, all.high];
  return to > from ? [from, to] : [from - (Math.abs(from) || 1) * 0.5, from + (Math.abs(from) || 1) * 0.5];
}

/** How many designs lie beyond the range of an axis. */
function beyond(column, [low, high]) {
  let result = 0;
  for (const value of column.values) if (value < low || value > high) result++;
  return result;
}

/** Words over lines of at most so many pixels, two lines at most; what does not fit is shortened. */
function wrapped(context, text, room) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (context.measureText(longer).width <= room || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.slice(0, 3).map((line) => {
    let shown = line;
    while (shown.length > 3 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
    return shown;
  });
}
const FONT = "12px system-ui, sans-serif", STRONG = "600 12px system-ui, sans-serif";
