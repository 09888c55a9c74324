import { areaY, axisX, axisY, line, ruleX, ruleY, text, type Markish } from "@observablehq/plot";
import type { Estimate, SweepResult } from "../../core/types";
import { axis_ticks } from "../../format/format";
import { device_name, diag_text, t } from "../../i18n/i18n";
import { Chart, type Drawn } from "../chart/chart";
import { linear_contexts } from "../charts/axes";
import { plot, token_ticks } from "../charts/plot";

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

  protected override draw(width: number): Drawn | string {
    const { estimate, core, given } = this.store;
    if (!estimate) return "";
    const tokens = linear_contexts(estimate, kSteps);
    const reply = core.call("sweep", {
      scenario: given,
      x: { field: "context_tokens", values: tokens },
      terms: true,
    });
    if (!reply.ok) return diag_text(reply.errors[0]!).message;
    const terms = estimate.devices[0]?.terms.map((term) => term.id) ?? [];
    const points = this.#points(tokens, terms, reply.result);
    if (points.length === 0) return t("chart.heat.refused");
    return {
      drawing: this.#drawing(width, points, terms, Number(estimate.scenario["context_tokens"])),
      summary: this.#summary(estimate, points),
    };
  }

  #points(tokens: number[], terms: string[], swept: SweepResult): Point[] {
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

  #drawing(width: number, points: Point[], terms: string[], now: number): SVGSVGElement {
    const { format } = this.store;
    const last = points.at(-1)!;
    const top = kHeadroom * Math.max(...points.flatMap(({ edges, usable }) => [edges.at(-1)!, usable]));
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
        ...this.#labels(points, now, top),
      ],
    });
  }

  #labels(points: Point[], now: number, top: number): Markish[] {
    const { format } = this.store;
    const last = points.at(-1)!;
    const is_late = now > 0.6 * last.tokens;
    const usable = format.size(points[0]!.usable * format.bytes_per_unit());
    const limit = {
      x: is_late ? 0 : last.tokens,
      y: is_late ? points[0]!.usable : last.usable,
      label: t("chart.context.usable", { amount: usable }),
    };
    const here = { x: now, y: top, label: t("chart.context.now", { tokens: format.tokens(now) }) };
    // The paper around the letters keeps them legible on any term.
    const halo = { stroke: "var(--paper)", strokeWidth: 3 };
    const channels = { x: "x", y: "y", text: "label", fill: "var(--ink)", ...halo };
    return [
      ruleX([now], { stroke: "var(--ink)", strokeWidth: 1 }),
      text([limit], {
        ...channels,
        textAnchor: is_late ? "start" : "end",
        dx: is_late ? 4 : -4,
        dy: -8,
      }),
      text([here], {
        ...channels,
        textAnchor: is_late ? "end" : "start",
        dx: is_late ? -4 : 4,
        dy: -8,
      }),
    ];
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

customElements.define("vg-context-chart", ContextChart);
