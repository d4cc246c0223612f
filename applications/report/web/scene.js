// The mechanism as solids on a canvas: links as rods with thickness, joints as balls, plates, forces with arrow heads.

const FLAT = 0.15; // of the longest edge: a mechanism that is thinner along an axis is seen along it
const NEAR = 4.2; // distance of the eye, in sizes of the mechanism

/** Where the eye is: a mechanism within [low, high], of which some points are to be in the picture. */
function cameraOf(low, high, points) {
  const edges = high.map((value, axis) => value - low[axis]), longest = Math.max(...edges) || 1;
  const thin = edges.findIndex((edge) => edge < FLAT * longest);
  const looks = { 0: [0, 0], 1: [-Math.PI / 2, 0], 2: [-Math.PI / 2, Math.PI / 2] };
  const [azimuth, elevation] = looks[thin] ?? [-0.95, 0.32];
  return { azimuth, elevation, zoom: 1, middle: high.map((value, axis) => (value + low[axis]) / 2), size: Math.hypot(...edges) || 1, points };
}

function axesOf({ azimuth, elevation }) {
  const [sa, ca, se, ce] = [Math.sin(azimuth), Math.cos(azimuth), Math.sin(elevation), Math.cos(elevation)];
  return [[-sa, ca, 0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]];
}

/** A function from points [m] to pixels: x, y, depth towards the eye, and pixels to a metre there. */
function projection(camera, width, height, bottom = 0) {
  const [right, up, toward] = axesOf(camera), { middle, size } = camera;
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const seen of camera.points) {
    const point = [seen[0] - middle[0], seen[1] - middle[1], seen[2] - middle[2]];
    const near = 1 / (1 - dot(point, toward) / (NEAR * size)), u = dot(point, right) * near, v = dot(point, up) * near;
    [x0, x1, y0, y1] = [Math.min(x0, u), Math.max(x1, u), Math.min(y0, v), Math.max(y1, v)];
  }
  const room = Math.min(width, height - bottom) * 0.05 + 10;
  const scale = camera.zoom * Math.min((width - 2 * room) / (x1 - x0 || 1), (height - bottom - 2 * room) / (y1 - y0 || 1));
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const project = (point) => {
    const away = [point[0] - middle[0], point[1] - middle[1], point[2] - middle[2]], depth = dot(away, toward);
    const near = 1 / (1 - depth / (NEAR * size)), pixels = scale * near;
    return [width / 2 + (dot(away, right) - cx / near) * pixels, (height - bottom) / 2 - (dot(away, up) - cy / near) * pixels, depth, pixels];
  };
  project.scale = scale;
  return project;
}

function shade(colour, share) { // towards white for shares above 0, towards black below
  const rgb = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)), end = share > 0 ? 255 : 0;
  return `rgb(${rgb.map((value) => Math.round(value + (end - value) * Math.abs(share))).join(",")})`;
}

/** A rod between two projected points, dark at its edges and light along its middle. */
function rod(context, a, b, thick, colour) {
  const wide = thick * (a[3] + b[3]) / 2, lines = [[wide + 1.5, shade(colour, -0.55)], [wide, shade(colour, -0.12)], [wide * 0.62, colour], [wide * 0.24, shade(colour, 0.45)]];
  const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, off = [(-Math.abs(b[1] - a[1]) / long) * wide * 0.12, (-Math.abs(b[0] - a[0]) / long) * wide * 0.12];
  context.lineCap = "round";
  lines.forEach(([width, stroke], k) => {
    const [dx, dy] = k > 1 ? off : [0, 0];
    context.strokeStyle = stroke;
    context.lineWidth = Math.max(0.8, width);
    context.beginPath();
    context.moveTo(a[0] + dx, a[1] + dy);
    context.lineTo(b[0] + dx, b[1] + dy);
    context.stroke();
  });
}

function ball(context, at, radius, colour) {
  const r = Math.max(1.5, radius * at[3]), light = context.createRadialGradient(at[0] - r * 0.35, at[1] - r * 0.35, r * 0.1, at[0], at[1], r);
  light.addColorStop(0, shade(colour, 0.75));
  light.addColorStop(1, shade(colour, -0.25));
  context.fillStyle = light;
  context.strokeStyle = shade(colour, -0.6);
  context.lineWidth = 1;
  context.beginPath();
  context.arc(at[0], at[1], r, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

/** A plate through projected corners; what is a line or a point gets the width of a rod. */
function plate(context, corners, thick, colour) {
  context.beginPath();
  corners.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.lineJoin = "round";
  context.globalAlpha = 0.82;
  context.fillStyle = shade(colour, 0.15);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = shade(colour, -0.3);
  context.lineWidth = Math.max(2, thick * corners[0][3]);
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, thick * corners[0][3] - 2);
  context.stroke();
}

/** An arrow with a head that keeps its form; an arrow shorter than its head is a small head. */
function arrow(context, from, to, colour) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]], long = Math.hypot(dx, dy);
  if (long < 3) return;
  const head = Math.min(13, long * 0.6), [u, v] = [dx / long, dy / long], [bx, by] = [to[0] - u * head, to[1] - v * head];
  for (const [edge, line, extra] of [[colours.panel, 5, 1.6], [colour, 2.4, 0]]) {
    context.strokeStyle = context.fillStyle = edge;
    context.lineWidth = line;
    context.lineCap = "butt";
    context.beginPath();
    context.moveTo(from[0], from[1]);
    context.lineTo(bx, by);
    context.stroke();
    context.beginPath();
    context.moveTo(to[0] + u * extra * 1.5, to[1] + v * extra * 1.5);
    context.lineTo(bx - v * (head * 0.42 + extra), by + u * (head * 0.42 + extra));
    context.lineTo(bx + v * (head * 0.42 + extra), by - u * (head * 0.42 + extra));
    context.closePath();
    context.fill();
  }
}

/** A bar of a round length, and the axes of the base. */
function legend(context, camera, project, height) {
  const metres = ticks(0, 90 / project.scale, 1).filter((it) => it > 0)[0] ?? 0.1, long = metres * project.scale, y = height - 16;
  context.strokeStyle = context.fillStyle = colours.quiet;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(16, y - 4); context.lineTo(16, y); context.lineTo(16 + long, y); context.lineTo(16 + long, y - 4);
  context.stroke();
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(metres < 1 ? `${rounded(metres * 1000)} mm` : `${rounded(metres)} m`, 16, y - 5);
  const [right, up] = axesOf(camera), origin = [34 + long + 26, y - 12];
  ["x", "y", "z"].forEach((name, axis) => {
    const end = [origin[0] + right[axis] * 24, origin[1] - up[axis] * 24];
    if (Math.hypot(end[0] - origin[0], end[1] - origin[1]) < 5) return;
    arrow(context, origin, end, colours.quiet);
    context.fillText(name, end[0] + right[axis] * 7 - 3, end[1] - up[axis] * 7 + 6);
  });
}
