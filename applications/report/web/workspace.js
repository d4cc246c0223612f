// Where the platform goes, coloured by a number: positions on trajectories, or maps of a grid, slice by slice.

const CROWD = 0.98; // the share of all values within which colours change, where the rest is far away

/** The least and the largest colour; a few values far above all others do not make the rest look alike. */
function span(values) {
  const known = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!known.length) return [0, 1];
  const low = known[0], high = known.at(-1), most = known[Math.floor(CROWD * (known.length - 1))];
  const end = high - low > 3 * (most - low) && most > low ? most : high;
  return [low, end > low ? end : low + (Math.abs(low) || 1) * 1e-6];
}

function coloursOf(details, label) {
  const shared = data.workspace.shared[label];
  if (shared) return unpacked(data.workspace, label, () => decode(shared, data.workspace.bytes));
  return details.colours[label] && unpacked(details, label, () => details.get(details.colours[label]));
}

function workspace(goTo, bytes) {
  data.workspace.bytes = bytes;
  const about = data.workspace, choice = byId("workspace-colour"), drawn = draw("workspace");
  const show = about.grids.length ? maps(about, choice, goTo) : paths(about, choice, goTo);
  let shown = null;
  followers.push((details) => {
    shown = details;
    drawn.then(() => show(shown));
  });
  choice.addEventListener("change", () => shown && drawn.then(() => show(shown)));
}

/** Positions on trajectories, seen from two sides. */
function paths({ samples }, choice, goTo) {
  let listening = false;
  return (details) => {
    const values = coloursOf(details, choice.value) ?? [], [low, high] = span(values);
    Plotly.restyle("workspace", {
      "marker.color": [values], "marker.cmin": low, "marker.cmax": high, "marker.colorbar.title.text": choice.value,
    });
    if (listening) return;
    listening = true;
    byId("workspace").on("plotly_click", ({ points: [{ pointNumber }] }) =>
      goTo(Math.floor(pointNumber / samples), pointNumber % samples));
  };
}

/** Maps of a grid: all of its points in three dimensions, and a slice. */
function maps({ grids, samples }, choice, goTo) {
  const which = byId("workspace-grid"), slider = byId("slice"), deep = data.figures.workspace.data.length > 2;
  let details = null;

  /** The number of the grid's point by places along the across, up and through axes. */
  const pointOf = (grid, place) => {
    const at = [0, 0, 0];
    grid.order.forEach((axis, k) => { at[axis] = place[k]; });
    return at[0] + grid.axes[0].length * (at[1] + grid.axes[1].length * at[2]);
  };

  function show() {
    const grid = grids[which.value], [across, up, through] = grid.order.map((axis) => grid.axes[axis]);
    slider.max = through.length - 1;
    slider.value = Math.min(Number(slider.value), through.length - 1);
    const slice = Number(slider.value), values = coloursOf(details, choice.value), start = grid.trajectory * samples;
    const [low, high] = span(values.subarray(start, start + samples));
    const value = (i, j) => values[start + pointOf(grid, [i, j, slice])];
    const z = up.map((_, j) => across.map((_, i) => (Number.isFinite(value(i, j)) ? value(i, j) : null)));
    const failed = up.flatMap((b, j) => across.map((a, i) => [a, b, z[j][i]])).filter((each) => each[2] === null);
    Plotly.restyle("workspace", {
      x: [across], y: [up], z: [z], zmin: low, zmax: high, "colorbar.title.text": choice.value,
      hovertemplate: `%{x:.4g}, %{y:.4g} m: %{z:.5g}<extra></extra>`,
    }, [0]);
    Plotly.restyle("workspace", { x: [failed.map((each) => each[0])], y: [failed.map((each) => each[1])] }, [1]);
    if (deep) cloud(grid, values, start, low, high);
    const names = grid.order.map((axis) => "xyz"[axis]);
    Plotly.relayout("workspace", {
      "xaxis.title.text": `${names[0]} [m]`, "yaxis.title.text": `${names[1]} [m]`,
    });
    const place = `${names[2]} = ${Number(through[slice].toPrecision(4))} m`;
    byId("slice-value").textContent = place;
    slider.setAttribute("aria-valuetext", place);
    const all = values.subarray(start, start + samples), known = all.filter(Number.isFinite);
    const least = known.reduce((a, b) => Math.min(a, b), Infinity), most = known.reduce((a, b) => Math.max(a, b), -Infinity);
    byId("workspace-readout").textContent =
      `${known.length} of ${samples} points are usable` + (known.length ? `; ${choice.value}: ${rounded(least, 4)} to ${rounded(most, 4)}.` : ".");
  }

  function cloud(grid, values, start, low, high) {
    const [xs, ys, zs] = grid.axes, good = [[], [], [], []], bad = [[], [], []];
    zs.forEach((z, k) => ys.forEach((y, j) => xs.forEach((x, i) => {
      const value = values[start + i + xs.length * (j + ys.length * k)];
      [x, y, z, ...(Number.isFinite(value) ? [value] : [])].forEach((each, axis) =>
        (Number.isFinite(value) ? good : bad)[axis].push(each));
    })));
    Plotly.restyle("workspace", {
      x: [good[0], bad[0]], y: [good[1], bad[1]], z: [good[2], bad[2]], "marker.color": [good[3], bad[0].map(() => data.workspace.grey)],
    }, [2, 3]);
    Plotly.restyle("workspace", { "marker.cmin": low, "marker.cmax": high }, [2]);
  }

  let listening = false;
  which.addEventListener("change", () => details && show());
  slider.addEventListener("input", () => details && show());
  return (other) => {
    details = other;
    show();
    if (listening) return;
    listening = true;
    byId("workspace").on("plotly_click", ({ points: [point] }) => {
      const grid = grids[which.value], [across, up] = grid.order.map((axis) => grid.axes[axis]);
      if (point.curveNumber > 1) return;
      const places = [across.indexOf(point.x), up.indexOf(point.y), Number(slider.value)];
      goTo(grid.trajectory, pointOf(grid, places));
    });
  };
}
