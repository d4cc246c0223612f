// Figures of the plotting library: it starts when the first of them is near the window, each is drawn when it is.

const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
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
  const changes = { "font.color": colours.ink };
  for (const name of Object.keys(figure.layout).filter((key) => /^[xy]axis\d*$/.test(key)))
    for (const [key, value] of Object.entries(axis)) changes[`${name}.${key}`] = value;
  if (figure.layout.scene)
    for (const name of ["xaxis", "yaxis", "zaxis"])
      for (const [key, value] of Object.entries({ gridcolor: colours.line, color: colours.ink, showbackground: false })) changes[`scene.${name}.${key}`] = value;
  return changes;
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
      await Plotly.newPlot(id, figure.data, figure.layout, config);
      await Plotly.relayout(id, themed(figure));
      done();
    };
  });
  waitingPlots.push(start);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    start();
  }, { rootMargin: "400px" }).observe(place);
  repaints.push(() => { if (place._fullLayout) Plotly.relayout(id, themed(figure)); });
  return drawn;
}

/** Draws everything at once, as paper and tests ask for. */
function drawAll() {
  for (const now of drawings) now();
  return Promise.all(waitingPlots.map((start) => start()));
}
document.addEventListener("limbsweep-draw", drawAll);
