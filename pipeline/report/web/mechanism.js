// The mechanism of the design that is looked into, in motion: what is drawn at each time, and what turns and moves it.

const ROD = 0.017, BALL = 0.0125, PLATE = 0.011; // thickness and radii, in sizes of the mechanism

function motionOf(details) {
  return details.motion && unpacked(details, "motion", () => {
    const rows = (record) => ({ values: details.get(record), rows: record.shape[1] });
    return {
      ...details.motion,
      limbs: details.motion.limbs.map((limb) => details.get(limb)),
      platform: Array.from(details.get(details.motion.platform)),
      base: { values: details.get(details.motion.base), rows: details.motion.base.shape[0] },
      trajectories: details.motion.trajectories.map((it) => ({
        times: details.get(it.times), step: it.step, points: rows(it.points), force: rows(it.force), moment: details.get(it.moment),
      })),
    };
  });
}

const pointOf = ({ values, rows }, frame, place) => {
  const at = (frame * rows + place) * 3;
  return [values[at], values[at + 1], values[at + 2]];
};

/** Points of the base, of all trajectories and of their arrows, as many as tell how large the picture has to be. */
function somePoints({ base, trajectories, arrow: length }) {
  const found = Array.from({ length: base.rows }, (_, k) => pointOf(base, 0, k));
  for (const { points, times, force } of trajectories) {
    const step = Math.max(1, Math.floor(times.length / 12));
    for (let frame = 0; frame < times.length; frame += step)
      for (let place = 0; place < points.rows; place++) {
        const point = pointOf(points, frame, place);
        if (!Number.isFinite(point[0])) continue;
        found.push(point);
        if (place < force.rows) found.push(pointOf(force, frame, place).map((value, axis) => point[axis] + length * (value || 0)));
      }
  }
  return found;
}

function mechanism(onTime) {
  const { joints: names, trajectories, colours: limbColours } = data.mechanism;
  const which = byId("trajectory"), slider = byId("time"), play = byId("play"), arrows = byId("arrows");
  const note = byId("motion-note"), readout = byId("frame-readout");
  const surface = canvasOf("mechanism", paint), { canvas } = surface;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let shown = null, camera = null, timer = null, touched = false, hover = null;

  const frameOf = () => Number(slider.value);
  const now = () => shown.trajectories[which.value];

  function paint(context, width, height) {
    if (!shown) return;
    const motion = now(), frame = frameOf(), project = projection(camera, width, height, 30), { size } = camera;
    const at = (place) => project(pointOf(motion.points, frame, place)), parts = [];
    const base = Array.from({ length: shown.base.rows }, (_, k) => project(pointOf(shown.base, 0, k)));
    const behind = (depth, draw) => parts.push([depth, draw]);
    const mean = (points) => points.reduce((sum, point) => sum + point[2], 0) / points.length;
    if (base.length > 1) behind(mean(base), () => plate(context, base, PLATE * size, colours.base));
    else if (base.length) behind(base[0][2], () => ball(context, base[0], 0.03 * size, colours.base));
    shown.limbs.forEach((limb, index) => {
      const colour = limbColours[index % limbColours.length];
      for (let k = 0; k < limb.length; k += 2) {
        const [a, b] = [at(limb[k]), at(limb[k + 1])];
        if (Number.isFinite(a[0]) && Number.isFinite(b[0])) behind((a[2] + b[2]) / 2, () => rod(context, a, b, ROD * size, colour));
      }
    });
    const corners = shown.platform.slice(0, -1).map(at);
    if (corners.length && Number.isFinite(corners[0][0])) behind(mean(corners), () => plate(context, corners, PLATE * size, colours.platform));
    names.forEach((_, joint) => {
      const point = at(joint);
      if (Number.isFinite(point[0])) behind(point[2] + 0.01 * size, () => ball(context, point, BALL * size, joint === hover ? colours.accent : "#d8d8d8"));
    });
    path(context, project, motion);
    parts.sort((a, b) => a[0] - b[0]);
    for (const [, draw] of parts) draw();
    if (arrows.checked) names.forEach((_, joint) => {
      const start = pointOf(motion.points, frame, joint), force = pointOf(motion.force, frame, joint);
      if (Number.isFinite(start[0]) && Number.isFinite(force[0]))
        arrow(context, project(start), project(start.map((value, axis) => value + shown.arrow * force[axis])), colours.bad);
    });
    legend(context, camera, project, height);
  }

  /** The way of the middle of the platform. */
  function path(context, project, { points, times }) {
    const corners = shown.platform.slice(0, -1);
    if (!corners.length || trajectories[which.value].grid) return;
    context.strokeStyle = colours.platform;
    context.lineWidth = 1.5;
    context.setLineDash([2, 4]);
    context.beginPath();
    for (let frame = 0, open = false; frame < times.length; frame++) {
      const sum = corners.reduce((total, place) => pointOf(points, frame, place).map((value, axis) => total[axis] + value), [0, 0, 0]);
      const [x, y] = project(sum.map((value) => value / corners.length));
      if (!Number.isFinite(x)) { open = false; continue; }
      if (open) context.lineTo(x, y); else context.moveTo(x, y);
      open = true;
    }
    context.stroke();
    context.setLineDash([]);
  }

  function show() {
    const motion = now(), frame = frameOf(), sizes = names.map((_, joint) => Math.hypot(...pointOf(motion.force, frame, joint)));
    const most = sizes.reduce((best, size, joint) => (size > (sizes[best] ?? -1) ? joint : best), -1);
    const grid = trajectories[which.value].grid, time = grid ? `point ${frame + 1} of ${motion.times.length}` : `${rounded(motion.times[frame])} s`;
    const name = grid ? time : `time ${time}`;
    slider.setAttribute("aria-valuetext", name);
    byId("time-value").textContent = time;
    readout.textContent = most < 0 ? `${name}: this sample failed; see what fails, and where.`
      : hover !== null ? `${names[hover]}: ${forceText(sizes[hover])}, ${momentText(motion.moment[frame * names.length + hover])}`
        : `${name}: the largest force, ${forceText(sizes[most])}, is in joint ${names[most]}.`;
    surface.paint();
    onTime(Number(which.value), motion.times[frame]);
  }
  const forceText = (size) => (size >= 1e3 ? `${rounded(size / 1e3)} kN` : `${rounded(size)} N`);
  const momentText = (size) => (size >= 1e3 ? `${rounded(size / 1e3)} kN m` : `${rounded(size)} N m`);

  /** Another trajectory or design: the same frame, or the first one that did not fail. */
  function choose() {
    const { times, force } = now(), last = times.length - 1;
    const solved = (frame) => Number.isFinite(force.values[frame * force.rows * 3]);
    const frame = Math.min(frameOf(), last);
    slider.max = last;
    slider.value = solved(frame) ? frame : Math.max(0, Array.from(times.keys()).findIndex(solved));
    show();
  }

  function follow(details) {
    const motion = motionOf(details);
    if (!motion) {
      stop();
      note.textContent = "Every sample of this design failed; there is nothing to draw.";
      return;
    }
    shown = motion;
    note.textContent = `The longest arrow is ${forceText(shown.longest)}: the force in a joint on the body that it carries.`;
    const view = cameraOf(...shown.box, somePoints(shown));
    camera = touched ? { ...view, azimuth: camera.azimuth, elevation: camera.elevation, zoom: camera.zoom } : view;
    choose();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function start() {
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!shown || document.hidden) return;
      slider.value = (frameOf() + 1) % (Number(slider.max) + 1);
      show();
    }, 50);
  }

  const turn = (across, up) => {
    if (!camera) return;
    touched = true;
    camera.azimuth -= across;
    camera.elevation = Math.max(-1.57, Math.min(1.57, camera.elevation + up));
    surface.paint();
  };
  const zoom = (by) => { if (camera) { touched = true; camera.zoom = Math.max(0.3, Math.min(12, camera.zoom * by)); surface.paint(); } };
  let last = null;
  canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { last = null; });
  canvas.addEventListener("pointercancel", () => { last = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (last) {
      turn((event.clientX - last[0]) / 180, (event.clientY - last[1]) / 180);
      last = [event.clientX, event.clientY];
    } else if (shown) {
      const box = canvas.getBoundingClientRect(), project = projection(camera, surface.width, surface.height, 30);
      const far = names.map((_, joint) => {
        const [x, y] = project(pointOf(now().points, frameOf(), joint));
        return Math.hypot(x - (event.clientX - box.x), y - (event.clientY - box.y));
      });
      const near = far.reduce((best, it, joint) => (it < (best === null ? 12 : far[best]) ? joint : best), null);
      if (near !== hover) { hover = near; show(); }
    }
  });
  canvas.addEventListener("wheel", (event) => { if (event.ctrlKey || document.activeElement === canvas) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1); } }, { passive: false });
  canvas.addEventListener("dblclick", () => { if (shown) { touched = false; camera = cameraOf(...shown.box, somePoints(shown)); surface.paint(); } });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] }[event.key];
    if (moves) { event.preventDefault(); turn(...moves); }
    if (event.key === "+") zoom(1.15);
    if (event.key === "-") zoom(1 / 1.15);
  });

  followers.push(follow);
  which.addEventListener("change", () => shown && choose());
  slider.addEventListener("input", () => { stop(); if (shown) show(); });
  arrows.addEventListener("change", () => shown && surface.paint());
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  if (still) stop(); else start();
  page.mechanism = {
    playing: () => timer !== null,
    forces: () => names.map((_, joint) => Math.hypot(...pointOf(now().force, frameOf(), joint))),
    corners: () => shown.platform.slice(0, -1).map((place) => pointOf(now().points, frameOf(), place)),
    extent: (azimuth) => { // shares of the picture that the mechanism fills when it is seen from there
      const project = projection({ ...camera, azimuth, zoom: 1 }, surface.width, surface.height, 30), seen = camera.points.map(project);
      const span = (axis, size) => (Math.max(...seen.map((it) => it[axis])) - Math.min(...seen.map((it) => it[axis]))) / size;
      return [span(0, surface.width), span(1, surface.height - 30)];
    },
  };

  /** Show the frame of a trajectory that is nearest to one of its samples. */
  return (trajectory, sample) => {
    if (!shown) return;
    stop();
    const { times, step } = shown.trajectories[trajectory];
    which.value = trajectory;
    slider.max = times.length - 1;
    slider.value = Math.min(Math.round(sample / step), times.length - 1);
    show();
  };
}
