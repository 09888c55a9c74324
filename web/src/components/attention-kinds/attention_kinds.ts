import { axisY, barX, text } from "@observablehq/plot";
import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { Chart, type Drawn } from "../chart/chart";
import { plot, type PlotDrawing } from "../charts/plot";
import { attention_kinds, attention_layers, type AttentionKind } from "./kinds";

const kRowHeight = 26;
const kNameWidth = 132;
/** Room for the amount behind the longest bar. */
const kAmountWidth = 132;

/** What the cache would be with each kind of attention, for the present context and requests. */
export class AttentionKinds extends Chart {
  static override styles = [
    ...Chart.styles,
    css`
      .place {
        --chart-height: 112px;
      }
      .note {
        margin-top: 4px;
        color: var(--ink-2);
        font-size: 11.5px;
      }
    `,
  ];
  protected override readonly id_name = "attention";

  /** The kinds of the model they were asked for. */
  #known: { key: string; kinds: AttentionKind[] } = { key: "", kinds: [] };

  protected override draw(width: number): Drawn | string {
    const { estimate, format } = this.store;
    if (!estimate) return "";
    const kinds = this.#kinds();
    if (kinds.length === 0) return t("chart.attention.none");
    const { context_tokens, num_requests } = estimate.scenario;
    const tokens = Number(context_tokens) * Number(num_requests);
    const rows = kinds.map((kind) => ({
      ...kind,
      title: t(`chart.attention.kinds.${kind.name}`, { heads: kind.num_kv_heads }),
      bytes: kind.bytes_per_token * tokens,
    }));
    const own = rows.find(({ is_own }) => is_own);
    return {
      drawing: this.#drawing(width, rows),
      summary: t("chart.attention.summary", {
        rows: rows
          .map(({ title, bytes }) =>
            t("chart.attention.row", { name: title, amount: format.size(bytes) }),
          )
          .join(", "),
        own: own?.title ?? "",
      }),
    };
  }

  protected override footer(): TemplateResult | typeof nothing {
    const { estimate, format } = this.store;
    if (!estimate || this.reason !== "") return nothing;
    const { context_tokens, num_requests } = estimate.scenario;
    return html`<p class="note">
      ${t("chart.attention.note", {
        layers: attention_layers(estimate.model),
        context: format.tokens(Number(context_tokens)),
        requests: format.integer(Number(num_requests)),
      })}
    </p>`;
  }

  #kinds(): AttentionKind[] {
    const { estimate, core } = this.store;
    const model = estimate!.model;
    const key = JSON.stringify([model.id, model.mixers]);
    if (this.#known.key !== key) this.#known = { key, kinds: attention_kinds(core, model) };
    return this.#known.kinds;
  }

  #drawing(
    width: number,
    rows: (AttentionKind & { title: string; bytes: number })[],
  ): PlotDrawing {
    const { format } = this.store;
    return plot({
      width,
      height: kRowHeight * rows.length + 8,
      marginLeft: kNameWidth,
      marginRight: kAmountWidth,
      marginTop: 4,
      marginBottom: 4,
      x: { axis: null, domain: [0, Math.max(1, ...rows.map(({ bytes }) => bytes))] },
      y: { type: "band", domain: rows.map(({ title }) => title), padding: 0.25 },
      color: { type: "identity" },
      marks: [
        axisY({ tickSize: 0, label: null, textAnchor: "start", dx: 10 - kNameWidth }),
        barX(rows, {
          x: "bytes",
          y: "title",
          fill: ({ is_own }: AttentionKind) =>
            is_own ? "var(--term-kv_cache)" : "var(--term-runtime)",
        }),
        text(rows, {
          x: "bytes",
          y: "title",
          text: ({ bytes, is_own }: { bytes: number; is_own: boolean }) =>
            format.size(bytes) + (is_own ? ` · ${t("chart.attention.own")}` : ""),
          textAnchor: "start",
          dx: 6,
          fill: "var(--ink)",
        }),
      ],
    });
  }
}

customElements.define("vg-attention-kinds", AttentionKinds);
