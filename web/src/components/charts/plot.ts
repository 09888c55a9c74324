import * as Plot from "@observablehq/plot";

/** A drawing, and where its values lie on it. */
export type PlotDrawing = SVGSVGElement & Pick<Plot.Plot, "scale">;

/** Where a value of an axis begins, and for values with a band how wide that is. */
export function position(
  drawing: PlotDrawing,
  axis: "x" | "y",
  value: number,
): { at: number; width: number } {
  const scale = drawing.scale(axis);
  return { at: Number(scale?.apply(value) ?? 0), width: scale?.bandwidth ?? 0 };
}

/** A drawing without the style sheet that the library puts into it: the page's policy refuses one. */
export function plot(options: Plot.PlotOptions): PlotDrawing {
  const drawing = Plot.plot(options) as PlotDrawing;
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
