// Light and dark: what the system asks for, until the reader switches. Drawings ask for colours by name.

const repaints = []; // called when colours have changed
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = Object.fromEntries(
    ["ink", "quiet", "line", "paper", "panel", "accent", "good", "bad", "dot", "faint", "platform", "base"]
      .map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
}

function repaint() {
  readColours();
  for (const paint of repaints) paint();
}

const darkAsked = matchMedia("(prefers-color-scheme: dark)"), themeButton = byId("theme");
const isDark = () => (document.documentElement.dataset.theme ?? (darkAsked.matches ? "dark" : "light")) === "dark";

function showTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-pressed", String(isDark()));
  themeButton.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  repaint();
}

themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
darkAsked.addEventListener("change", showTheme);
showTheme();

// Contents: the part that is read is marked.
const links = [...document.querySelectorAll("nav a")];
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links) {
      const here = link.hash === `#${entry.target.id}`;
      if (here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      if (here && innerWidth < 1000) link.parentElement.parentElement.scrollTo({ left: link.offsetLeft - 60 });
    }
  }
}, { rootMargin: "-20% 0px -70% 0px" });
for (const section of document.querySelectorAll("section.part")) seen.observe(section);
