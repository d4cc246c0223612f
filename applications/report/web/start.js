// Draws what the page has, then looks at the first design.

async function begin() {
  const bytes = await unpack(data.bundle);
  const onTime = data.series ? series(bytes) : () => {};
  const goTo = data.mechanism ? mechanism(onTime) : () => {};
  if (data.workspace) workspace(goTo, bytes);
  if (data.designs) designs(bytes);
  if (data.runs) runs(bytes);
  if (data.details?.length && (data.designs?.chosen ?? null) === null) lookAt(data.details[0].design);
  performance.mark("ready");
  document.documentElement.dataset.state = "ready";
}
requestAnimationFrame(() => setTimeout(begin)); // after the words have been painted
