(() => {
  let theme = "system";
  try { theme = localStorage.getItem("vramgauge.theme") || "system"; } catch {}
  if (theme === "system") theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
})();
