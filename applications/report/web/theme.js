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
const sections = [...document.querySelectorAll("section.part")];
for (const section of sections) seen.observe(section);

// On a narrow screen the parts after the second open when their title, or the link to them, is pressed.
const FIRST_PARTS = 2;
for (const section of innerWidth < 620 ? sections.slice(FIRST_PARTS) : []) {
  const title = section.querySelector("h2"), press = element("button", title.textContent, { type: "button", class: "unfold", "aria-expanded": "false" });
  const fold = (folded) => {
    section.classList.toggle("folded", folded);
    press.setAttribute("aria-expanded", String(!folded));
    if (!folded) dispatchEvent(new Event("resize")); // drawings take their size now
  };
  title.replaceChildren(press);
  press.addEventListener("click", () => fold(!section.classList.contains("folded")));
  links.find((link) => link.hash === `#${section.id}`)?.addEventListener("click", () => fold(false));
  fold(true);
}
