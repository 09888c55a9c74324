import { css, html, nothing, type TemplateResult } from "lit";
import type { Binding, Outcome, Solved, SolveTarget } from "../../core/plan_types";
import type { Envelope, Scenario } from "../../core/types";
import { field_value_text } from "../../format/field_value";
import { device_name, t, t_core } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import "../derivation/derivation";
import type { Derived } from "../derivation/derivation";
import type { LaterPart } from "../later/later";
import { plan_texts } from "../plan_texts";
import { Planned } from "../planned";

const kTargets: readonly SolveTarget[] = [
  "num_requests",
  "context_tokens",
  "cached_tokens",
  "prefill_budget",
  "gpu_count",
  "weight_format",
  "cache_type",
  "gpu_layers",
  "cpu_moe_layers",
];
const kSmallest: readonly SolveTarget[] = ["gpu_count", "cpu_moe_layers"];
const kWidest: readonly SolveTarget[] = ["weight_format", "cache_type"];
/** Fields that a target sets, to write its value as the page does. */
const kFields: Partial<Record<SolveTarget, string>> = {
  cached_tokens: "context_tokens",
  prefill_budget: "context_tokens",
  cache_type: "cache_type_k",
};

/** The questions the other way round, each with its proof: what fits, and one step more that does not. */
export class Inverse extends Planned<Solved[]> {
  static override styles = [
    base_styles,
    button_styles,
    panel_styles,
    css`
      li {
        display: grid;
        grid-template-columns: minmax(140px, 1fr) minmax(90px, 0.6fr) minmax(0, 2fr) 64px;
        gap: 4px 16px;
        align-items: center;
        min-height: 46px;
        padding: 4px 0;
      }
      .value {
        font-weight: 600;
      }
      .apply {
        justify-self: end;
      }
      @media (max-width: 620px) {
        li {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .proof {
          grid-row: 2;
        }
        .apply {
          grid-row: 2;
        }
      }
    `,
  ];

  protected override async plan(scenario: Scenario): Promise<Envelope<Solved[]>> {
    const replies: Solved[] = [];
    for (const target of kTargets) {
      const reply = await this.ask("solve", { scenario, for: target });
      // An engine that has no such field answers with an error: there is no such question then.
      if (reply.ok) replies.push(reply.result);
    }
    return { ok: true, result: replies, warnings: [] };
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("inverse.title")}</h2>
      <p class="lead">${this.reply ? t("inverse.lead") : t("plan.computing")}</p>
      ${this.reply?.ok
        ? html`<ul class="rows" ?data-stale=${this.pending || this.store.stale}>
              ${this.reply.result.map((solved) => this.#row(solved))}
            </ul>
            <vg-derivation
              .lines=${this.reply.result.map((solved) => this.#how(solved))}
              source=${t("how.solved.source", { engine: String(this.store.value("engine")) })}
            ></vg-derivation>`
        : nothing}
    </section>`;
  }

  #row(solved: Solved): TemplateResult {
    const { value } = solved;
    const name = t(`inverse.targets.${solved.for}`);
    const changes = Object.entries(solved.scenario_patch).some(
      ([key, to]) => this.store.value(key) !== to,
    );
    return html`<li data-target=${solved.for}>
      <span>${name}</span>
      <span class="number value">${value === null ? t("inverse.nothing") : this.#value(solved, value)}</span>
      <span class="proof quiet">${this.#proof(solved)}</span>
      ${changes
        ? html`<button
            class="button apply"
            aria-label=${t("levers.apply_named", { name })}
            @click=${() => this.store.set_all(solved.scenario_patch)}
          >
            ${t("levers.apply")}
          </button>`
        : nothing}
    </li>`;
  }

  #how({ for: target, at, next, value, ...solved }: Solved): Derived {
    const name = t(`inverse.targets.${target}`);
    const kind = kSmallest.includes(target) ? "fewest" : kWidest.includes(target) ? "best" : "formula";
    const shown = { for: target, value, ...solved };
    const numbers = [
      value !== null && at ? this.#compared(this.#value(shown, value), at) : "",
      next ? this.#compared(this.#value(shown, next.value), next) : "",
    ].filter((text) => text !== "");
    return { name, formula: t(`how.solved.${kind}`, { name: kFields[target] ?? target }), numbers: numbers.join("; ") };
  }

  #compared(value: string, { needed_bytes, usable_bytes }: Outcome): string {
    if (needed_bytes === undefined || usable_bytes === undefined) return "";
    const { format } = this.store;
    const sign = needed_bytes <= usable_bytes ? "≤" : ">";
    return `${value}: ${format.exact(needed_bytes)} ${sign} ${format.exact(usable_bytes)}`;
  }

  #value(solved: Solved, value: number | string): string {
    return field_value_text(this.store, kFields[solved.for] ?? solved.for, value);
  }

  #proof({ at, next, one_less, binding, ...solved }: Solved): string {
    const parts = [
      solved.value !== null && at ? this.#margin(at) : "",
      next ? t("inverse.next", { value: this.#value(solved as Solved, next.value), how: this.#margin(next) }) : "",
      one_less?.[0] ? t("inverse.one_less", { how: this.#margin(one_less[0]) }) : "",
      binding ? this.#binding(binding) : "",
      solved.holds_again_at ? t("inverse.again", { value: this.#value(solved as Solved, solved.holds_again_at) }) : "",
    ];
    return parts.filter((part) => part !== "").join(" · ");
  }

  #margin({ margin_bytes, refusal }: Outcome): string {
    if (refusal || margin_bytes === undefined) return t("inverse.refused");
    const amount = this.store.format.margin(margin_bytes);
    return t(margin_bytes < 0 ? "inverse.short" : "inverse.spare", { amount });
  }

  #binding({ kind, term, device }: Binding): string {
    if (kind === "memory" && term)
      return t("inverse.bound_by", { term: t_core("terms", term), device: device_name(device ?? "") });
    return t(`inverse.bound.${kind}`);
  }
}

customElements.define("vg-inverse", Inverse);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-inverse .store=${store}></vg-inverse>`,
};
