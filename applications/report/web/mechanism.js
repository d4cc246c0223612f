// The mechanism of the design that is looked into, in motion: what turns it and moves it along.

function mechanism(onTime) {
  const { joints: names, trajectories, reactions } = data.mechanism;
  const which = byId("trajectory"), slider = byId("time"), play = byId("play"), arrows = byId("arrows");
  const note = byId("motion-note"), readout = byId("frame-readout");
  const surface = canvasOf("mechanism", (...place) => paint(...place)), { canvas } = surface;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let shown = null, camera = null, timer = null, touched = false, hover = null;

  const frameOf = () => Number(slider.value);
  const now = () => shown.trajectories[which.value];

  const paint = (context, width, height) => {
    if (shown) paintMechanism(context, width, height, shown, { camera, trajectory: Number(which.value), frame: frameOf(), arrows: arrows.checked, hover, about: data.mechanism });
  };

  function show() {
    const motion = now(), frame = frameOf(), failed = !solved(frame), sizes = names.map((_, joint) => Math.hypot(...pointOf(motion.force, frame, joint)));
    const most = sizes.reduce((best, size, joint) => (size > (sizes[best] ?? -1) ? joint : best), -1);
    const grid = trajectories[which.value].grid, time = grid ? `point ${frame + 1} of ${motion.times.length}` : `${rounded(motion.times[frame])} s`;
    const name = grid ? time : `time ${time}`;
    slider.setAttribute("aria-valuetext", name);
    byId("time-value").textContent = time;
    readout.textContent = failed ? `${name}: this sample failed; see what fails, and where.`
      : !reactions ? (hover === null ? name : `${name}: ${names[hover]}`)
      : hover !== null ? `${names[hover]}: ${forceText(sizes[hover])}, ${momentText(motion.moment[frame * names.length + hover])}`
        : `${name}: the largest force, ${forceText(sizes[most])}, is in joint ${names[most]}.`;
    surface.whenSeen();
    onTime(Number(which.value), motion.times[frame]);
  }
  const forceText = (size) => (size >= 1e3 ? `${rounded(size / 1e3)} kN` : `${rounded(size)} N`);
  const momentText = (size) => (size >= 1e3 ? `${rounded(size / 1e3)} kN m` : `${rounded(size)} N m`);

  const solved = (frame) => {
    const { values, rows } = now().points, size = 3 * rows;
    return values.subarray(frame * size, (frame + 1) * size).every(Number.isFinite);
  };

  /** Another trajectory or design: the same frame, or the first one that did not fail. */
  function choose() {
    const { times } = now(), last = times.length - 1;
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
    note.textContent = reactions
      ? `The longest arrow is ${forceText(shown.longest)}: the force in a joint on the body that it carries.`
      : "The motion as it was simulated.";
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
