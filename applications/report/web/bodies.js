// What is drawn of a mechanism at each time: its solids from behind to the front, its path, its forces.

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

/** Draws a mechanism at a frame of a trajectory; `about` has the names of its joints and the colours of its limbs. */
function paintMechanism(context, width, height, shown, { camera, trajectory, frame, arrows, hover, about }) {
  const { joints: names, colours: limbColours } = about, { size } = camera;
  const motion = shown.trajectories[trajectory], project = projection(camera, width, height, 30);
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
  if (!about.trajectories[trajectory].grid) path(context, project, shown, motion);
  const layer = (depth) => Math.round(depth / (1e-6 * size)); // of a plane mechanism all are one: then in the order above
  parts.sort((a, b) => layer(a[0]) - layer(b[0]));
  for (const [, draw] of parts) draw();
  if (arrows) names.forEach((_, joint) => {
    const start = pointOf(motion.points, frame, joint), force = pointOf(motion.force, frame, joint);
    if (Number.isFinite(start[0]) && Number.isFinite(force[0]))
      arrow(context, project(start), project(start.map((value, axis) => value + shown.arrow * force[axis])), colours.bad);
  });
  legend(context, camera, project, height);
}

/** The way of the middle of the platform. */
function path(context, project, shown, { points, times }) {
  const corners = shown.platform.slice(0, -1);
  if (!corners.length) return;
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
