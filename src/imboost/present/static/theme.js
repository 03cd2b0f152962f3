// The theme that was chosen, set before the page is painted. Without this script it is the system's.
"use strict";
(() => {
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;

  function stored() {
    try {
      return localStorage.getItem("imboost-theme");
    } catch {
      return null; // storage is switched off
    }
  }

  function apply(theme) {
    root.dataset.theme = THEMES.includes(theme) ? theme : "auto";
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[root.dataset.theme];
      button.setAttribute("aria-label", `Theme: ${root.dataset.theme}`);
    }
  }

  root.classList.add("js");
  apply(stored());
  document.addEventListener("DOMContentLoaded", () => apply(root.dataset.theme));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    apply(next);
    try {
      localStorage.setItem("imboost-theme", next);
    } catch {
      // the theme lasts until the next page
    }
  });
})();
