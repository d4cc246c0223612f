// Figures of the plotting library: it starts when the first of them is near the window, each is drawn when it is.

const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
const NARROW = 600; // pixels of a figure up to which it is laid out for a phone
const waitingPlots = []; // draws each figure that has not been drawn yet
let library = null;

/** Starts the library, whose text is in the page. */
function startPlotting() {
  library ??= new Promise((done) => {
    const script = document.createElement("script");
    script.textContent = byId("plotting").textContent;
    document.head.append(script);
    done();
  });
  return library;
}

/** Colours of the page for a figure: its text, lines and grids. */
function themed(figure) {
  const axis = { gridcolor: colours.line, zerolinecolor: colours.line, linecolor: colours.quiet, tickcolor: colours.quiet };
  const changes = { "font.color": colours.ink, "modebar.bgcolor": "rgba(0, 0, 0, 0)", "modebar.color": colours.quiet, "modebar.activecolor": colours.accent };
  for (const name of Object.keys(figure.layout).filter((key) => /^[xy]axis\d*$/.test(key)))
    for (const [key, value] of Object.entries(axis)) changes[`${name}.${key}`] = value;
  if (figure.layout.scene)
    for (const name of ["xaxis", "yaxis", "zaxis"])
      for (const [key, value] of Object.entries({ gridcolor: colours.line, color: colours.ink, showbackground: false })) changes[`scene.${name}.${key}`] = value;
  return changes;
}

/** Two panels side by side stand one below the other where the page is narrow, their scale of colours below both. */
function narrowed({ data: traces, layout }, width) {
  if (width > NARROW || !layout.xaxis2 || layout.scene || layout.xaxis3 || layout.xaxis2.matches) return;
  Object.assign(layout.xaxis, { domain: [0, 1] });
  Object.assign(layout.xaxis2, { domain: [0, 1] });
  Object.assign(layout.yaxis, { domain: [0.6, 1] });
  Object.assign(layout.yaxis2, { domain: [0, 0.4] });
  for (const { marker } of traces)
    if (marker?.colorbar) Object.assign(marker.colorbar, { orientation: "h", x: 0.5, y: -0.22, yanchor: "top", len: 1, title: { ...marker.colorbar.title, side: "top" } });
  layout.height = 1.5 * width;
  layout.margin = { ...layout.margin, l: 60, b: 130 };
}

/** Marks of a scale of colours have a rim: its dark end is hardly seen on a dark page. */
function rimmed(id, figure) {
  const marked = figure.data.flatMap(({ type, marker }, k) => (marker?.colorscale && type !== "scatter3d" ? [k] : []));
  return marked.length ? Plotly.restyle(id, { "marker.line.color": colours.quiet, "marker.line.width": 0.6 }, marked) : null;
}

/** Draws a figure when it comes near the window; the promise is kept when it is drawn. */
function draw(id) {
  const place = byId(id), figure = data.figures[id];
  let start;
  const drawn = new Promise((done) => {
    let asked = false;
    start = async () => {
      if (asked) return;
      asked = true;
      await startPlotting();
      narrowed(figure, place.clientWidth);
      await Plotly.newPlot(id, figure.data, figure.layout, { ...config, displayModeBar: place.clientWidth > NARROW ? "hover" : false });
      await Plotly.relayout(id, themed(figure));
      await rimmed(id, figure);
      done();
    };
  });
  waitingPlots.push(start);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    start();
  }, { rootMargin: "400px" }).observe(place);
  repaints.push(() => { if (place._fullLayout) Plotly.relayout(id, themed(figure)).then(() => rimmed(id, figure)); });
  return drawn;
}

/** Draws everything at once, as paper and tests ask for. */
function drawAll() {
  for (const now of drawings) now();
  return Promise.all(waitingPlots.map((start) => start()));
}
document.addEventListener("limbsweep-draw", drawAll);
