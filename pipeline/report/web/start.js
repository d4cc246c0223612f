// Draws the figures that the page has, then looks at the first design.

const onTime = data.figures.series ? series() : () => {};
const goTo = data.figures.mechanism ? mechanism(onTime) : () => {};
if (data.figures.workspace) workspace(goTo);
for (const id of ["sensitivity", "trouble"]) if (data.figures[id]) draw(id);
if (data.designs) designs();
if (data.details?.length && (data.designs?.chosen ?? null) === null) lookAt(data.details[0].design);
