// Several runs: all their designs in one figure, and the chosen mechanism of each, moving together.

function runs(bytes) {
  const all = data.runs.map((run) => {
    const columns = Object.fromEntries(Object.entries(run.columns).map(([name, column]) => {
      const values = decode(column.values, bytes);
      const known = values.filter(Number.isFinite);
      return [name, { ...column, values, low: known.reduce((a, b) => Math.min(a, b), Infinity), high: known.reduce((a, b) => Math.max(a, b), -Infinity) }];
    }));
    const meets = decode(run.meets, bytes), size = meets.length;
    return { ...run, columns, meets, size, filter: { mask: new Uint8Array(size).fill(1) } };
  });
  if (byId("runs-front")) commonFront(all);
  all.forEach((run, k) => byId(`run-${k}`) && miniature(run, k));
}

/** The axis that all runs share. */
function commonRange(all, columns) {
  const ranges = columns.map((column, k) => axisRange(column, all[k].meets));
  return [Math.min(...ranges.map((it) => it[0])), Math.max(...ranges.map((it) => it[1]))];
}

function commonFront(all) {
  const x = byId("runs-x"), y = byId("runs-y");
  const surface = canvasOf("runs-front", (context, width, height) => {
    const [as, bs] = [x.value, y.value].map((name) => all.map((run) => run.columns[name]));
    const box = { left: 64, top: 30, width: width - 84, height: height - 84, x: commonRange(all, as), y: commonRange(all, bs) };
    const scale = frame(context, as[0], bs[0], box), ratio = devicePixelRatio || 1;
    all.forEach((run, k) => {
      const sheet = document.createElement("canvas");
      [sheet.width, sheet.height] = [surface.canvas.width, surface.canvas.height];
      const shades = { faint: "transparent", dot: colours.faint, accent: run.colour };
      points(sheet.getContext("2d"), run, run.filter, as[k], bs[k], box, run.size > 5000 ? 2 : run.size > 500 ? 3 : 5, { shown: shades });
      context.drawImage(sheet, 0, 0, sheet.width / ratio, sheet.height / ratio);
      const line = frontOf(run, as[k], bs[k]);
      context.strokeStyle = run.colour;
      context.lineWidth = 2;
      context.beginPath();
      line.forEach((place, n) => {
        const [u, v] = [scale.px(as[k].values[place]), scale.py(bs[k].values[place])];
        if (n) context.lineTo(u, v); else context.moveTo(u, v);
      });
      context.stroke();
      if (run.chosen !== null) ring(context, scale.px(as[k].values[run.chosen]), scale.py(bs[k].values[run.chosen]), 8, run.colour);
    });
  });
  for (const choice of [x, y]) choice.addEventListener("change", surface.whenSeen);
}

/** The mechanism of a run along its first trajectory; it stands still where the reader asks for that. */
async function miniature(run, k) {
  const bytes = await unpack(run.details.bundle), details = { ...run.details, get: (record) => decode(record, bytes) };
  const shown = motionOf(details);
  if (!shown) return;
  const camera = cameraOf(...shown.box, somePoints({ ...shown, arrow: 0 })), many = shown.trajectories[0].times.length;
  let step = 0;
  const surface = canvasOf(`run-${k}`, (context, width, height) =>
    paintMechanism(context, width, height, shown, { camera, trajectory: 0, frame: step % many, arrows: false, hover: null, about: run.about }));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
    setInterval(() => { if (!document.hidden && !document.documentElement.dataset.still) { step++; surface.whenSeen(); } }, 60);
  surface.whenSeen();
}
