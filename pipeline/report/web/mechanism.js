// The mechanism of the design that is looked into, in three dimensions, with a slider over time.

/** x, y, z of some points of one frame; -1 among them leaves a gap. */
function coordinates({ values, rows }, frame, places) {
  const axes = [[], [], []];
  for (const point of places)
    for (let axis = 0; axis < 3; axis++) axes[axis].push(point < 0 ? null : values[(frame * rows + point) * 3 + axis]);
  return axes;
}

// Edges of the scene in units of the camera's distance, so that it fills the figure: across, and up.
const ACROSS = 1.6, UP = 1.15, CLOSER = 1.3;
const FLAT = 0.15; // of the longest edge: a scene that is thinner along an axis is seen along it

/** Proportions of a scene with these edges, and where to look at it from if it is flat. */
function proportions(edges) {
  const thin = edges.findIndex((edge) => edge < FLAT * Math.max(...edges));
  const [across, up] = thin === 2 ? [edges[0], edges[1]] : [Math.max(edges[0], edges[1]), edges[2]];
  const scale = (thin < 0 ? 1 : CLOSER) * Math.min(ACROSS / across, UP / up), eye = { x: 0, y: 0, z: 0 };
  const change = Object.fromEntries(["x", "y", "z"].map((name, axis) => [`scene.aspectratio.${name}`, scale * edges[axis]]));
  if (thin < 0) return change;
  eye["xyz"[thin]] = thin === 1 ? -2 : 2;
  const camera = { eye, center: { x: 0, y: 0, z: 0 }, up: thin === 2 ? { x: 0, y: 1, z: 0 } : { x: 0, y: 0, z: 1 } };
  return { ...change, [`scene.${"xyz"[thin]}axis.visible`]: false, "scene.camera": { ...camera, projection: { type: "orthographic" } } };
}

function motionOf(details) {
  return details.motion && unpacked(details, "motion", () => {
    const rows = (packed) => ({ values: decode(packed), rows: packed.shape[1] });
    const pairs = (lines) => Array.from(lines, (point, index) => (index % 2 ? [point, -1] : [point])).flat();
    return {
      ...details.motion,
      limbs: details.motion.limbs.map((each) => pairs(decode(each))),
      platform: Array.from(decode(details.motion.platform)),
      base: { values: decode(details.motion.base), rows: details.motion.base.shape[0] },
      trajectories: details.motion.trajectories.map((each) => ({
        times: decode(each.times), step: each.step, points: rows(each.points), force: rows(each.force), moment: decode(each.moment),
      })),
    };
  });
}

function mechanism(onTime) {
  const { joints: names, trajectories } = data.mechanism, every = Array.from(names.keys());
  const which = byId("trajectory"), slider = byId("time"), play = byId("play"), arrows = byId("arrows");
  const note = byId("motion-note"), readout = byId("frame-readout");
  let shown = null, timer = null, turned = false;

  const length = (axes, index) => Math.hypot(axes[0][index], axes[1][index], axes[2][index]);

  function arrowLines(joints, force) {
    const lines = [[], [], []];
    every.forEach((joint) => {
      for (let axis = 0; axis < 3; axis++)
        lines[axis].push(joints[axis][joint], joints[axis][joint] + shown.arrow * force[axis][joint], null);
    });
    return lines;
  }

  /** The way of the middle of the platform. */
  function path({ points, times }) {
    if (!shown.platform.length) return [[], [], []];
    const corners = shown.platform.slice(0, -1), axes = [[], [], []];
    for (let frame = 0; frame < times.length; frame++)
      coordinates(points, frame, corners).forEach((values, axis) =>
        axes[axis].push(values.reduce((sum, value) => sum + value, 0) / corners.length));
    return axes;
  }

  function show() {
    const motion = shown.trajectories[which.value], frame = Number(slider.value);
    const joints = coordinates(motion.points, frame, every), force = coordinates(motion.force, frame, every);
    const moving = shown.limbs.map((limb) => coordinates(motion.points, frame, limb));
    const along = trajectories[which.value].grid ? [[], [], []] : path(motion); // a grid has no way
    if (shown.platform.length) moving.push(coordinates(motion.points, frame, shown.platform), along);
    moving.push(joints, arrows.checked ? arrowLines(joints, force) : [[], [], []]);
    const text = names.map((name, index) =>
      `joint ${name}<br>force ${short(length(force, index))} N<br>moment ${short(motion.moment[frame * names.length + index])} N m`);
    const traces = moving.map((_, index) => index);
    Plotly.restyle("mechanism", {
      x: moving.map((each) => each[0]), y: moving.map((each) => each[1]), z: moving.map((each) => each[2]),
      text: traces.map((index) => (index === moving.length - 2 ? text : "")),
    }, traces);
    tell(motion, frame, force);
    onTime(Number(which.value), motion.times[frame]);
  }

  function tell(motion, frame, force) {
    const sizes = every.map((index) => length(force, index));
    const most = sizes.reduce((best, size, index) => (size > (sizes[best] ?? -1) ? index : best), -1);
    const told = trajectories[which.value].grid ? `point ${frame + 1} of ${motion.times.length}` : `${short(motion.times[frame])} s`;
    const name = trajectories[which.value].grid ? told : `time ${told}`;
    slider.setAttribute("aria-valuetext", name);
    byId("time-value").textContent = told;
    readout.textContent = most < 0
      ? `${name}: this sample failed; see the section about failed samples.`
      : `${name}: the largest force, ${short(sizes[most])} N, is in joint ${names[most]}.`;
  }

  /** Another trajectory or design: the same frame, or the first one that did not fail. */
  function choose() {
    const { times, force } = shown.trajectories[which.value], last = times.length - 1;
    const solved = (frame) => Number.isFinite(force.values[frame * force.rows * 3]);
    const frame = Math.min(Number(slider.value), last);
    slider.max = last;
    slider.value = solved(frame) ? frame : Math.max(0, Array.from(times.keys()).findIndex(solved));
    show();
  }

  /** The mechanism of another design: where it stands, how large it is, then its motion. */
  function follow(details) {
    const motion = motionOf(details);
    if (!motion) {
      stop();
      note.textContent = "Every sample of this design failed; there is nothing to draw.";
      return;
    }
    shown = motion;
    note.textContent = `The longest arrow is ${short(shown.longest)} N.`;
    const [low, high] = shown.box, pad = 0.08 * Math.max(...high.map((value, axis) => value - low[axis]));
    const ranges = ["x", "y", "z"].map((name, axis) => [`scene.${name}axis.range`, [low[axis] - pad, high[axis] + pad]]);
    const scene = { ...Object.fromEntries(ranges), ...proportions(high.map((value, axis) => value - low[axis] + 2 * pad)) };
    if (turned) delete scene["scene.camera"]; // the reader's own view stays
    turned = true;
    const count = shown.base.rows, [x, y, z] = coordinates(shown.base, 0, [...Array(count).keys(), 0]);
    const last = byId("mechanism").data.length - 1;
    Plotly.update("mechanism", { x: [x], y: [y], z: [z] }, scene, [last]);
    choose();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }

  const drawn = draw("mechanism");
  followers.push((details) => drawn.then(() => follow(details)));
  which.addEventListener("change", () => shown && choose());
  slider.addEventListener("input", () => shown && show());
  arrows.addEventListener("change", () => shown && show());
  play.addEventListener("click", () => {
    if (timer !== null || !shown) return stop();
    play.textContent = "Pause";
    timer = setInterval(() => {
      slider.value = (Number(slider.value) + 1) % (Number(slider.max) + 1);
      show();
    }, 60);
  });

  /** Show the frame of a trajectory that is nearest to one of its samples. */
  return (trajectory, sample) => {
    if (!shown) return;
    const { times, step } = shown.trajectories[trajectory];
    which.value = trajectory;
    slider.max = times.length - 1;
    slider.value = Math.min(Math.round(sample / step), times.length - 1);
    show();
  };
}
