import { css, html, nothing, type TemplateResult } from "lit";
import type { ModelSummary } from "../../core/types";
import { t, t_core } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** Above this share of active parameters the rest is embeddings and towers, not experts. */
const kSparseFrac = 0.9;

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
      code {
        font: 11px var(--font-mono);
      }
      li,
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
    const parts: string[] = [];
    if (total) parts.push(t("model.parameters", { count: format.parameters(total) }));
    if (total && active && active < kSparseFrac * total)
      parts.push(t("model.active", { count: format.parameters(active) }));
    parts.push(t("model.layers", { count: model.num_layers, n: format.integer(model.num_layers) }));
    const heads = attention_heads(model);
    if (heads) parts.push(heads);
    const kinds = cache_kinds(model);
    if (kinds.length > 1 || kinds.some((kind) => kind !== "full"))
      parts.push(kinds.map((kind) => t_core("cache_kinds", kind)).join(" +\u2009"));
    if (model.max_context_tokens > 0) parts.push(format.tokens(model.max_context_tokens));
    // Facts stay whole; only a long list of kinds may break, at the thin space after a plus sign.
    return parts.map((part) => part.replaceAll(" ", "\u00a0")).join("\u00a0· ");
  }

  #origin(model: ModelSummary): TemplateResult {
    const verified = this.#custom() ? model.container || "custom" : (model.verified ?? "");
    const title = verified === "" ? "" : t_core("model.verified", verified);
    const count = model.assumptions.length;
    const assumed = count === 0 ? "" : t("model.assumed", { count, n: String(count) });
    return html`<details>
      <summary>${[title, assumed].filter((text) => text !== "").join(" · ")}</summary>
      ${model.source && !this.#custom() ? html`<p class="source">${t("model.source", { source: model.source })}</p>` : nothing}
      <ul ?hidden=${count === 0}>
        ${model.assumptions.map((assumption) => html`<li><code>${assumption.key}</code> = ${assumption.value}</li>`)}
      </ul>
    </details>`;
  }

  #custom(): boolean {
    return this.store.given["model_config"] !== undefined;
  }

  readonly #back = (): void => this.store.set("model_config", undefined);
}

/** The abbreviation that every model card uses, with query and KV heads: "GQA 64/8"; empty for uneven heads. */
function attention_heads(model: ModelSummary): string {
  const shapes = new Set(
    model.mixers
      .filter((mixer) => mixer.kind === "attention")
      .map(({ num_heads = 0, num_kv_heads = 0 }) => `${grouping(num_heads, num_kv_heads)} ${num_heads}/${num_kv_heads}`),
  );
  return shapes.size === 1 ? [...shapes].join("") : "";
}

function grouping(num_heads: number, num_kv_heads: number): string {
  if (num_kv_heads === 1) return "MQA";
  return num_heads === num_kv_heads ? "MHA" : "GQA";
}

function cache_kinds(model: ModelSummary): string[] {
  return [...new Set(model.kv?.segments.map((segment) => segment.kind) ?? [])];
}

customElements.define("vg-model-note", ModelNote);
