import { areaY, axisX, axisY, line, ruleY } from "@observablehq/plot";
import type { Estimate, SweepResult } from "../../core/types";
import { axis_ticks } from "../../format/format";
import { device_name, diag_text, t } from "../../i18n/i18n";
import { svg_element } from "../../report/svg";
import { Chart, type Drawn } from "../chart/chart";
import { linear_contexts } from "../charts/axes";
import { chart_basis } from "../charts/basis";
import { plot, position, token_ticks, type PlotDrawing } from "../charts/plot";

const kHeight = 240;
const kSteps = 33;
const kHeadroom = 1.12;
const kTicks = 5;

/** One context: what each term takes, stacked, and what there is. All in the chosen unit. */
interface Point {
  tokens: number;
  /** Where each term begins, and at the end the total. */
  edges: number[];
  usable: number;
}

/** Memory against context: each term stacked, the limit as a line, the present context marked. */
export class ContextChart extends Chart {
  protected override readonly id_name = "context";

  #tokens: number[] = [];
  #points: Point[] = [];

  protected override drawn_from(): string | undefined {
    const { estimate } = this.store;
    if (!estimate) return undefined;
    this.#tokens = linear_contexts(estimate, kSteps);
    return chart_basis(this.store, this.#tokens, [Number(estimate.scenario["num_requests"])]);
  }

  protected override draw(width: number): Drawn | string {
    const { estimate, core, given } = this.store;
    if (!estimate) return "";
    const tokens = this.#tokens;
    const reply = core.call("sweep", {
      scenario: given,
      x: { field: "context_tokens", values: tokens },
      terms: true,
    });
    if (!reply.ok) return diag_text(reply.errors[0]!).message;
    const terms = estimate.devices[0]?.terms.map((term) => term.id) ?? [];
    this.#points = this.#points_of(tokens, terms, reply.result);
    if (this.#points.length === 0) return t("chart.heat.refused");
    return { drawing: this.#drawing(width, this.#points, terms) };
  }

  protected override mark_here(drawing: PlotDrawing): string {
    const { estimate } = this.store;
    if (!estimate) return "";
    drawing.querySelector(".here")?.remove();
    drawing.append(this.#here(drawing, Number(estimate.scenario["context_tokens"])));
    return this.#summary(estimate, this.#points);
  }

  #points_of(tokens: number[], terms: string[], swept: SweepResult): Point[] {
    const unit = this.store.format.bytes_per_unit();
    const points = tokens.map((count, i) => {
      const edges = [0];
      for (const term of terms)
        edges.push(edges.at(-1)! + (swept.terms?.[term]?.[i] ?? 0) / unit);
      const usable = (swept.usable_bytes[i] ?? swept.usable_bytes[0] ?? 0) / unit;
      return { tokens: count, edges, usable };
    });
    return points.filter((_, i) => swept.states[i] !== "-");
  }

  #drawing(width: number, points: Point[], terms: string[]): PlotDrawing {
    const { format } = this.store;
    const last = points.at(-1)!;
    const top = top_of(points);
    return plot({
      width,
      height: kHeight,
      marginLeft: 34,
      marginRight: 12,
      marginTop: 18,
      marginBottom: 22,
      x: { domain: [0, last.tokens] },
      y: { domain: [0, top] },
      marks: [
        axisY(axis_ticks(top, kTicks), {
          tickSize: 0,
          label: null,
          tickFormat: (value: number) => format.tick(value),
        }),
        axisX(token_ticks(last.tokens, kTicks), {
          tickSize: 0,
          label: null,
          tickFormat: (value: number) => format.tokens(value),
        }),
        ruleY([0], { stroke: "var(--border)" }),
        ...terms.map((term, i) =>
          areaY(points, {
            x: "tokens",
            y1: (point: Point) => point.edges[i]!,
            y2: (point: Point) => point.edges[i + 1]!,
            fill: `var(--term-${term})`,
          }),
        ),
        line(points, { x: "tokens", y: "usable", stroke: "var(--bad)", strokeDasharray: "4,3" }),
      ],
    });
  }

  /** The present context, and the limit's name where it does not meet that of the context. */
  #here(drawing: PlotDrawing, now: number): SVGElement {
    const { format } = this.store;
    const points = this.#points;
    const last = points.at(-1)!;
    const is_late = now > 0.6 * last.tokens;
    const [x, bottom, top] = [
      position(drawing, "x", Math.min(now, last.tokens)).at,
      position(drawing, "y", 0).at,
      position(drawing, "y", top_of(points)).at,
    ];
    const usable = format.size(points[0]!.usable * format.bytes_per_unit());
    const limit_x = position(drawing, "x", is_late ? 0 : last.tokens).at;
    const limit_y = position(drawing, "y", is_late ? points[0]!.usable : last.usable).at;
    const rule = { x1: x, x2: x, y1: top, y2: bottom, stroke: "var(--ink)" };
    return svg_element(
      "g",
      { class: "here" },
      svg_element("line", rule),
      label(limit_x, limit_y, is_late, t("chart.context.usable", { amount: usable })),
      label(x, top, !is_late, t("chart.context.now", { tokens: format.tokens(now) })),
    );
  }

  #summary({ devices, verdict, answers }: Estimate, points: Point[]): string {
    const { format } = this.store;
    const unit = format.bytes_per_unit();
    const size = (amount: number): string => format.size(amount * unit);
    const [first, last] = [points[0]!, points.at(-1)!];
    const usable = size(first.usable);
    const longest = answers.max_context_tokens;
    const limit =
      last.edges.at(-1)! <= last.usable || longest === null
        ? t("chart.context.below", { usable })
        : longest === 0
          ? t("chart.context.above", { usable })
          : t("chart.context.crosses", { usable, tokens: format.integer(longest) });
    return t("chart.context.summary", {
      device: device_name(devices[verdict.worst_device]?.name ?? ""),
      low: size(first.edges.at(-1)!),
      high: size(last.edges.at(-1)!),
      first: format.tokens(first.tokens),
      last: format.tokens(last.tokens),
      limit,
    });
  }
}

const top_of = (points: Point[]): number =>
  kHeadroom * Math.max(...points.flatMap(({ edges, usable }) => [edges.at(-1)!, usable]));

/** Right or left of a point; the paper around the letters keeps them legible on any term. */
function label(x: number, y: number, is_right: boolean, text: string): SVGElement {
  const attributes = {
    x: x + (is_right ? 4 : -4),
    y: y - 8,
    dy: "0.32em",
    "text-anchor": is_right ? "start" : "end",
    "paint-order": "stroke",
    "stroke-linejoin": "round",
    stroke: "var(--paper)",
    "stroke-width": 3,
  };
  return svg_element("text", attributes, text);
}

customElements.define("vg-context-chart", ContextChart);
