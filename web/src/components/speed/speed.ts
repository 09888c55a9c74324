import { css, html, type TemplateResult } from "lit";
import type { Speed } from "../../core/plan_types";
import type { Envelope, Scenario } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { plan_texts } from "../plan_texts";
import { Planned } from "../planned";

/** How fast it can be at best: bytes and operations of a step against the card's own limits. */
export class SpeedPanel extends Planned<Speed> {
  static override styles = [
    base_styles,
    panel_styles,
    css`
      dl {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(150px, 1fr));
        gap: 8px 24px;
        margin: 0;
        padding-top: 8px;
        border-top: 1px solid var(--border);
      }
      dt {
        color: var(--ink-2);
        font-size: 12px;
      }
      dd {
        margin: 0;
        font-size: 15px;
        font-weight: 600;
      }
    `,
  ];

  protected override plan(scenario: Scenario): Promise<Envelope<Speed>> {
    return this.ask("speed", { scenario });
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("speed.title")}</h2>
      ${this.reply ? this.#answer(this.reply) : html`<p class="lead">${t("plan.computing")}</p>`}
    </section>`;
  }

  #answer(reply: Envelope<Speed>): TemplateResult {
    if (!reply.ok) return html`<p class="lead">${diag_text(reply.errors[0]!).message}</p>`;
    const { format } = this.store;
    const speed = reply.result;
    const percent = (value: number): string => format.share(value, 1);
    const figures: [string, string][] = [
      ["per_request", t("speed.tokens_per_s", { n: format.tick(speed.tokens_per_s_per_request) })],
      ["all", t("speed.tokens_per_s", { n: format.integer(Math.round(speed.tokens_per_s)) })],
      ["prefill", t("speed.seconds", { n: format.tick(speed.prefill_s) })],
      ["four_bit", t("speed.requests", { n: format.integer(Math.round(speed.four_bit_no_gain_from_requests)) })],
    ];
    return html`<p class="lead" title=${speed.reached.source}>
        ${t("speed.lead", { low: percent(speed.reached.low), high: percent(speed.reached.high) })}
      </p>
      <dl ?data-stale=${this.pending || this.store.stale}>
        ${figures.map(
          ([id, value]) =>
            html`<div data-figure=${id}>
              <dt>${t(`speed.figures.${id}`)}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
      <p class="quiet">
        ${t(`speed.bound.${speed.bound}`, {
          weights: format.size(speed.weight_bytes_per_step),
          cache: format.size(speed.cache_bytes_per_step),
          step: format.tick(speed.step_us / 1000),
        })}
      </p>
      ${how("speed", { card: this.#card(), reached: speed.reached.source })}`;
  }

  /** What the catalogue says of the card's speed. */
  #card(): string {
    const card = this.store.lists.item("gpus", String(this.store.value("gpu")));
    const figures = [
      [card?.["bandwidth_gb_s"], "GB/s"],
      [card?.["fp16_dense_tflops"], "TFLOPS FP16"],
    ].filter(([value]) => typeof value === "number");
    const all = figures.map(([value, unit]) => `${this.store.format.tick(Number(value))} ${unit}`);
    return [card?.name ?? "", ...all].join(", ");
  }
}

customElements.define("vg-speed", SpeedPanel);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-speed .store=${store}></vg-speed>`,
};
