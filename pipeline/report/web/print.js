// Figures on paper: as wide as a page, and views in three dimensions as still pictures, which printers can have.

const PAPER = 700; // width of a page without its margins, in pixels of 96 to the inch

/** A copy of what a view shows; its own canvas is empty by the time that it is printed. */
function still(figure) {
  const view = figure._fullLayout?.scene?._scene, canvas = view?.glplot?.canvas;
  if (!canvas) return;
  view.glplot.redraw();
  const copy = document.createElement("canvas");
  [copy.width, copy.height, copy.className] = [canvas.width, canvas.height, "still"];
  copy.getContext("2d").drawImage(canvas, 0, 0);
  copy.style.cssText = canvas.style.cssText;
  canvas.after(copy);
}

addEventListener("beforeprint", () => {
  for (const figure of document.querySelectorAll(".figure")) {
    still(figure);
    figure.style.zoom = Math.min(1, PAPER / figure.clientWidth);
  }
});
addEventListener("afterprint", () => {
  for (const figure of document.querySelectorAll(".figure")) figure.style.zoom = "";
  for (const copy of document.querySelectorAll(".still")) copy.remove();
});
