import { css, html, nothing, type TemplateResult } from "lit";
import type { AttentionKind, Diag, ModelSummary } from "../../core/types";
import { diag_text, t, t_core } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** What was read of the model, and what was assumed, below its field. */
export class ModelNote extends StoreElement {
  static override styles = [
    base_styles,
    button_styles,
    css`
      :host {
        margin: -9px 0 8px var(--label-width);
        color: var(--ink-2);
        font-size: 12px;
        line-height: 1.45;
      }
      /* Two lines are kept free, so that another model moves nothing. */
      .facts {
        min-height: 2.9em;
      }
      summary {
        color: var(--ink-3);
        cursor: pointer;
      }
      summary::marker {
        font-size: 10px;
      }
      ul {
        margin: 4px 0 0;
        padding-inline-start: 16px;
      }
      .source {
        overflow-wrap: anywhere;
      }
    `,
  ];

  protected override render(): TemplateResult | typeof nothing {
    const model = this.store.estimate?.model;
    if (!model) return nothing;
    return html`<p class="facts">${this.#facts(model)}</p>
      ${this.#custom() ? html`<button class="text-button" @click=${this.#back}>${t("model.back_to_preset")}</button>` : nothing}
      ${this.#origin(model)}`;
  }

  #facts(model: ModelSummary): string {
    const format = this.store.format;
    const { total, active } = model.parameters;
    const parts = [t("model.parameters", { count: format.parameters(total) })];
    if (active > 0 && active < total) parts.push(t("model.active", { count: format.parameters(active) }));
    parts.push(t("model.layers", { count: model.num_layers, n: format.integer(model.num_layers) }));
    const kinds = model.attention.map(attention_text).filter((text) => text !== "");
    if (kinds.length > 0) parts.push(kinds.join(" + "));
    if (model.max_context_tokens) parts.push(format.tokens(model.max_context_tokens));
    return parts.map((part) => part.replaceAll(" ", "\u00a0")).join("\u00a0· ");
  }

  #origin(model: ModelSummary): TemplateResult {
    const verified = this.#custom() ? "custom" : (model.verified ?? "");
    const title = verified === "" ? "" : t_core("model.verified", verified);
    const count = model.assumptions.length;
    const assumed = count === 0 ? "" : t("model.assumed", { count, n: String(count) });
    return html`<details>
      <summary>${[title, assumed].filter((text) => text !== "").join(" · ")}</summary>
      ${model.source && !this.#custom() ? html`<p class="source">${t("model.source", { source: model.source })}</p>` : nothing}
      <ul ?hidden=${count === 0}>
        ${model.assumptions.map((assumption) => html`<li>${assumption_text(assumption)}</li>`)}
      </ul>
    </details>`;
  }

  #custom(): boolean {
    return this.store.given["model_config"] !== undefined;
  }

  readonly #back = (): void => this.store.set("model_config", undefined);
}

function attention_text(kind: AttentionKind): string {
  const { heads, kv_heads, num_heads, num_kv_heads } = kind as Record<string, unknown>;
  const queries = heads ?? num_heads;
  const keys = kv_heads ?? num_kv_heads;
  const name = t_core("attention", kind.kind);
  return typeof queries === "number" && typeof keys === "number" && keys > 0 ? `${group_name(queries, keys)} ${queries}/${keys}` : name;
}

function group_name(query_heads: number, kv_heads: number): string {
  if (kv_heads === query_heads) return "MHA";
  return kv_heads === 1 ? "MQA" : "GQA";
}

function assumption_text(assumption: Diag | string): string {
  return typeof assumption === "string" ? assumption : diag_text(assumption).message;
}

customElements.define("vg-model-note", ModelNote);
