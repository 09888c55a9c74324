import * as Plot from "@observablehq/plot";

/** A drawing without the style sheet that the library puts into it: the page's policy refuses one. */
export function plot(options: Plot.PlotOptions): SVGSVGElement {
  const drawing = Plot.plot(options) as SVGSVGElement;
  for (const style of drawing.querySelectorAll("style")) style.remove();
  // Groups have no role that a label could belong to; the drawing as a whole has one.
  for (const group of drawing.querySelectorAll("g[aria-label]")) {
    group.setAttribute("data-mark", group.getAttribute("aria-label") ?? "");
    group.removeAttribute("aria-label");
  }
  return drawing;
}

/** A small round number of ticks, at multiples of a power of two. */
export function token_ticks(last: number, count: number): number[] {
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, last / count)));
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}
