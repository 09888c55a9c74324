/** vram-gauge.js: what a foreign page loads. The rest comes with it, from beside it. */
void import("./vram_gauge").then(({ VramGauge }) => {
  if (!customElements.get("vram-gauge")) customElements.define("vram-gauge", VramGauge);
});
