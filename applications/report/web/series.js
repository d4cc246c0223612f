// Time series of the actuators of the design that is looked into; a line shows the time of the mechanism.

function series(bytes) {
  const { actuators, samples, ...about } = data.series, stored = decode(about.times, bytes);
  const which = byId("series-trajectory"), drawn = draw("series"), place = byId("series");
  const offered = (trajectory) => Array.from(which.options).some((option) => Number(option.value) === trajectory);
  let rows = [];

  function fill() {
    const lines = [], start = Number(which.value) * samples;
    const times = stored.length > samples ? stored.subarray(start, start + samples) : stored; // of each, or of all
    for (const values of rows)
      for (let actuator = 0; actuator < actuators; actuator++)
        lines.push(Float64Array.from(times, (_, k) => values[(start + k) * actuators + actuator]));
    return Plotly.restyle("series", { x: lines.map(() => times), y: lines });
  }

  followers.push((details) => {
    rows = unpacked(details, "series", () => about.rows.map((name) => details.get(details.series[name])));
    drawn.then(fill);
  });
  which.addEventListener("change", () => drawn.then(fill));
  return (trajectory, time) => {
    if (!place._fullLayout || !offered(trajectory)) return;
    const box = place.getBoundingClientRect();
    if ((box.bottom < 0 || box.top > innerHeight) && page.mechanism?.playing()) return; // nobody sees the line
    Plotly.relayout("series", { "shapes[0].x0": time, "shapes[0].x1": time });
    if (Number(which.value) !== trajectory) { which.value = trajectory; fill(); }
  };
}
