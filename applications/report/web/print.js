// Figures on paper: all of them are drawn, light, as wide as a page.

const PAPER = 700; // width of a page without its margins, in pixels of 96 to the inch
let before = null; // the colours that the reader has chosen

addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme ?? "";
  document.documentElement.dataset.theme = "light";
  readColours();
  drawAll();
  for (const details of document.querySelectorAll("details.paper")) details.open = true;
  for (const figure of document.querySelectorAll(".figure")) figure.style.zoom = Math.min(1, PAPER / figure.clientWidth);
});
addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  for (const figure of document.querySelectorAll(".figure")) figure.style.zoom = "";
  repaint();
});
