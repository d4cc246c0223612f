// The table of designs as typed arrays, and which of them the reader's ranges and search keep.

/** Reads the table from the page's bundle. */
function readTable(bytes) {
  const source = data.designs, cases = source.numbers.shape[1];
  const columns = source.columns.map((column) => {
    const values = decode(column.values, bytes);
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return { ...column, values, low, high };
  });
  const labels = source.labels.map((label) => {
    const places = decode(label.values, bytes);
    return { ...label, of: (place) => label.texts[places[place]] };
  });
  const numbers = decode(source.numbers, bytes), size = source.numbers.shape[0];
  const told = (name, place) => {
    const label = labels.find((it) => it.name === name), column = columns.find((it) => it.name === name);
    return label ? `${label.words} ${label.of(place)}` : `${column.words} ${textOf(column, column.values[place])}`;
  };
  const bins = source.bins.map((bin) => ({ ...bin, counts: bin.counts.map((one) => decode(one, bytes)), shape: bin.counts[0].shape }));
  return {
    ...source, columns, bins, labels, size, telling: (place) => source.told.map((name) => told(name, place)).join(", "), cases, numbers, meets: decode(source.meets, bytes), worst: decode(source.worst, bytes),
    byName: new Map(columns.map((column) => [column.name, column])),
    number: (place, which = 0) => numbers[place * cases + which],
    place: (number) => { const at = numbers.indexOf(number); return at < 0 ? undefined : Math.floor(at / cases); },
  };
}

/** What the reader keeps: ranges by column in SI, and a search; `mask` has 1 for each design that is kept. */
function makeFilter(table) {
  const filter = { ranges: new Map(), search: null, mask: new Uint8Array(table.size).fill(1), kept: table.size, turn: 0, watching: [] };

  filter.update = () => {
    const { mask } = filter;
    mask.fill(1);
    for (const [name, [low, high]] of filter.ranges) {
      const { values } = table.byName.get(name);
      for (let i = 0; i < mask.length; i++) if (!(values[i] >= low && values[i] <= high)) mask[i] = 0;
    }
    if (filter.search) for (let i = 0; i < mask.length; i++) if (mask[i] && !filter.search(i)) mask[i] = 0;
    let kept = 0;
    for (let i = 0; i < mask.length; i++) kept += mask[i];
    filter.kept = kept;
    filter.turn++;
    for (const watch of filter.watching) watch();
  };
  filter.range = (name, range) => {
    if (range) filter.ranges.set(name, range); else filter.ranges.delete(name);
    filter.update();
  };
  return filter;
}

/** The designs that no other beats in both columns, along the front, of those that meet all conditions. */
function frontOf(table, a, b) {
  const order = [];
  for (let i = 0; i < table.size; i++)
    if (table.meets[i] && Number.isFinite(a.values[i]) && Number.isFinite(b.values[i])) order.push(i);
  const first = (i) => a.sign * a.values[i], second = (i) => b.sign * b.values[i];
  order.sort((i, j) => first(i) - first(j) || second(i) - second(j));
  const line = [];
  let best = Infinity, last = null;
  for (const i of order) {
    const equal = last !== null && first(i) === first(last) && second(i) === second(last);
    if (second(i) < best || equal) { line.push(i); best = second(i); last = i; }
  }
  return line;
}

/** A search text as a function of a place: a design's number, or conditions such as `upper arm < 0.4, gear ratio >= 30`. */
function readSearch(table, text) {
  if (!text.trim()) return { test: null, note: "" };
  if (/^\s*\d+\s*$/.test(text)) {
    const place = table.place(Number(text));
    return place === undefined ? { test: () => false, note: `Design ${text.trim()} is not in this page.` }
      : { test: (i) => i === place, note: "" };
  }
  const tests = [];
  for (const part of text.split(/,|;|\band\b/)) {
    const [said, wanted] = part.split("=").map((it) => it.trim().toLowerCase());
    const label = table.labels.find((it) => it.words.toLowerCase() === said.replaceAll("_", " "));
    if (label && wanted) {
      tests.push((i) => label.of(i).toLowerCase() === wanted);
      continue;
    }
    const match = /^\s*(.+?)\s*(<=|>=|<|>|=)\s*(-?[\d.]+(?:e-?\d+)?)\s*(\S.*?)?\s*$/i.exec(part);
    const name = match?.[1].replaceAll("_", " ").toLowerCase();
    const column = match && table.columns.find((it) => it.words.toLowerCase() === name);
    if (!column) return { test: null, note: `Not understood: “${part.trim()}”. A number, or such as ${table.columns[0].words} < 1.` };
    const bound = Number(match[3]) / (match[4] && match[4] === column.unit ? column.factor : match[4] ? 1 : column.factor);
    const near = 1e-6 * Math.max(Math.abs(bound), 1e-12), sign = match[2];
    tests.push((i) => {
      const value = column.values[i];
      return sign === "<" ? value < bound : sign === ">" ? value > bound : sign === "<=" ? value <= bound
        : sign === ">=" ? value >= bound : Math.abs(value - bound) <= near;
    });
  }
  return { test: (i) => tests.every((test) => test(i)), note: "" };
}
