// Runs in the head: says that scripts run, and puts back the chosen theme before the first paint.
document.documentElement.classList.add("js");
(function () {
  "use strict";
  const root = document.documentElement;
  const key = "ordeal-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try { return window.localStorage.getItem(key); } catch (error) { return null; }
  }
  function store(theme) {
    try { window.localStorage.setItem(key, theme); } catch (error) { /* private mode: lasts for this page only */ }
  }
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }
  function label(button) {
    button.setAttribute("aria-pressed", String(isDark()));
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use the light theme" : "Use the dark theme");
  }

  const theme = stored();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  document.addEventListener("DOMContentLoaded", function () {
    const button = document.getElementById("theme");
    label(button);
    system.addEventListener("change", function () { label(button); });
    button.addEventListener("click", function () {
      root.dataset.theme = isDark() ? "light" : "dark";
      store(root.dataset.theme);
      label(button);
    });
  });
})();
