import { axisX, axisY, cell } from "@observablehq/plot";
import { css, html, type TemplateResult } from "lit";
import type { Estimate, SweepResult } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { svg_element } from "../../report/svg";
import { Chart, type Drawn } from "../chart/chart";
import { map_contexts, map_requests, nearest } from "../charts/axes";
import { chart_basis } from "../charts/basis";
import { plot, position, type PlotDrawing } from "../charts/plot";

const kHeight = 240;
/** How much of the hue a cell has: little where memory is empty, all of it where it is full. */
const kPalestPercent = 22;

type State = "fits" | "tight" | "does_not_fit" | "refused";
const kStates: Record<string, State> = { f: "fits", t: "tight", n: "does_not_fit", "-": "refused" };
const kKey: State[] = ["fits", "tight", "does_not_fit"];

interface Cell {
  context: number;
  requests: number;
  state: State;
  fill: string;
  title: string;
}

/** Context × requests: what fits. The present point is outlined; a click or the arrow keys set it. */
export class HeatMap extends Chart {
  static override styles = [
    ...Chart.styles,
    css`
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 14px;
        margin: 4px 0 0;
        padding: 0;
        color: var(--ink-2);
        font-size: 11.5px;
        list-style: none;
      }
      .key span {
        display: inline-block;
        width: 9px;
        height: 9px;
        margin-inline-end: 5px;
        border-radius: 2px;
        forced-color-adjust: none;
      }
      .key .fits {
        width: 22px;
        background: linear-gradient(
          to right,
          color-mix(in srgb, var(--term-activations) 22%, var(--paper)),
          var(--term-activations)
        );
      }
      .key .tight {
        background: var(--term-kv_cache);
      }
      .key .does_not_fit {
        background: var(--bar-ground);
      }
      .hint {
        margin-inline-start: auto;
        color: var(--ink-3);
      }
      .place [data-mark="cell"] rect {
        cursor: pointer;
        forced-color-adjust: none;
      }
      .place > svg:focus-visible {
        outline-offset: 4px;
      }
    `,
  ];
  protected override readonly id_name = "heat";

  #contexts: number[] = [];
  #requests: number[] = [];
  #cells: Cell[] = [];

  protected override draw(width: number): Drawn | string {
    const { estimate, core, given } = this.store;
    if (!estimate) return "";
    const reply = core.call("sweep", {
      scenario: given,
      x: { field: "context_tokens", values: this.#contexts },
      y: { field: "num_requests", values: this.#requests },
    });
    if (!reply.ok) return diag_text(reply.errors[0]!).message;
    this.#cells = this.#cells_of(reply.result);
    return { drawing: this.#drawing(width) };
  }

  protected override drawn_from(): string | undefined {
    const { estimate } = this.store;
    if (!estimate) return undefined;
    this.#contexts = map_contexts(estimate);
    this.#requests = map_requests(estimate);
    return chart_basis(this.store, this.#contexts, this.#requests);
  }

  protected override mark_here(drawing: PlotDrawing): string {
    const { estimate } = this.store;
    const here = estimate && this.#here(estimate);
    drawing.querySelector(".here")?.remove();
    if (here) drawing.append(outline(drawing, here));
    return estimate ? this.#summary(estimate) : "";
  }

  protected override footer(): TemplateResult {
    return html`<ul class="key">
      ${kKey.map((state) => html`<li><span class=${state}></span>${t(`chart.heat.${state}`)}</li>`)}
      <li class="hint">${t("chart.heat.hint")}</li>
    </ul>`;
  }

  protected override drawn(drawing: SVGSVGElement): void {
    drawing.setAttribute("role", "group");
    drawing.tabIndex = 0;
    drawing.addEventListener("click", this.#on_click);
    drawing.addEventListener("keydown", this.#on_key);
  }

  #cells_of(swept: SweepResult): Cell[] {
    const { format } = this.store;
    return [...swept.states].map((letter, i) => {
      const context = this.#contexts[i % this.#contexts.length]!;
      const requests = this.#requests[Math.floor(i / this.#contexts.length)]!;
      const state = kStates[letter] ?? "refused";
      const [needed, usable] = [swept.needed_bytes[i] ?? 0, swept.usable_bytes[i] ?? swept.usable_bytes[0] ?? 0];
      const named = {
        context: format.tokens(context),
        requests: format.integer(requests),
        state: t(`chart.heat.${state}`),
      };
      const title =
        state === "refused"
          ? t("chart.heat.cell_refused", named)
          : t("chart.heat.cell", { ...named, needed: format.size(needed), usable: format.size(usable) });
      return { context, requests, state, title, fill: fill_of(state, usable > 0 ? needed / usable : 0) };
    });
  }

  #drawing(width: number): PlotDrawing {
    const { format } = this.store;
    const is_round = (value: number): boolean => Number.isInteger(Math.log2(value));
    return plot({
      width,
      height: kHeight,
      marginLeft: 34,
      marginRight: 2,
      marginTop: 4,
      marginBottom: 22,
      x: { type: "band", domain: this.#contexts, padding: 0.06 },
      y: { type: "band", domain: [...this.#requests].reverse(), padding: 0.06 },
      marks: [
        axisX(this.#contexts.filter(is_round), {
          tickSize: 0,
          label: null,
          tickFormat: (value: number) => format.tokens(value),
        }),
        axisY(this.#requests.filter(is_round), {
          tickSize: 0,
          label: null,
          tickFormat: (value: number) => format.integer(value),
        }),
        cell(this.#cells, { x: "context", y: "requests", fill: "fill", title: "title", rx: 2 }),
      ],
      color: { type: "identity" },
    });
  }

  /** The cell that the present point belongs to. */
  #here({ scenario }: Estimate): Cell | undefined {
    const column = nearest(this.#contexts, Number(scenario["context_tokens"]));
    const row = nearest(this.#requests, Number(scenario["num_requests"]));
    return this.#cells[row * this.#contexts.length + column];
  }

  #summary({ scenario, verdict }: Estimate): string {
    const { format } = this.store;
    const count = (state: State): string =>
      format.integer(this.#cells.filter((shown) => shown.state === state).length);
    return t("chart.heat.summary", {
      total: format.integer(this.#cells.length),
      fits: count("fits"),
      tight: count("tight"),
      context: format.tokens(Number(scenario["context_tokens"])),
      requests: format.integer(Number(scenario["num_requests"])),
      state: t(`chart.heat.${verdict.state}`),
    });
  }

  readonly #on_click = (event: Event): void => {
    const rect = event.target as Element;
    const index = [...(rect.parentElement?.children ?? [])].indexOf(rect);
    const chosen = rect.localName === "rect" ? this.#cells[index] : undefined;
    if (chosen) this.#choose(chosen);
  };

  readonly #on_key = (event: KeyboardEvent): void => {
    const { estimate } = this.store;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
    const here = estimate && this.#here(estimate);
    if (!step || !here) return;
    event.preventDefault();
    const column = this.#contexts.indexOf(here.context) + step[0]!;
    const row = this.#requests.indexOf(here.requests) + step[1]!;
    const context = this.#contexts[column];
    const requests = this.#requests[row];
    if (context !== undefined && requests !== undefined) this.#choose({ context, requests });
  };

  #choose({ context, requests }: Pick<Cell, "context" | "requests">): void {
    this.store.set_all({ context_tokens: context, num_requests: requests });
  }
}

/** Around the cell of the present point. */
function outline(drawing: PlotDrawing, { context, requests }: Cell): SVGElement {
  const [x, y] = [position(drawing, "x", context), position(drawing, "y", requests)];
  return svg_element("rect", {
    class: "here",
    x: x.at - 1,
    y: y.at - 1,
    width: x.width + 2,
    height: y.width + 2,
    rx: 3,
    fill: "none",
    stroke: "var(--ink)",
    "stroke-width": 2,
    "pointer-events": "none",
  });
}

function fill_of(state: State, filled: number): string {
  if (state === "tight") return "var(--term-kv_cache)";
  if (state === "does_not_fit") return "var(--bar-ground)";
  if (state === "refused") return "var(--paper)";
  const percent = Math.round(kPalestPercent + (100 - kPalestPercent) * Math.min(1, filled));
  return `color-mix(in srgb, var(--term-activations) ${percent}%, var(--paper))`;
}

customElements.define("vg-heat-map", HeatMap);
