import { css, html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import type { Variant } from "../../import/choose";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** Several models in one repository, mostly quantisations: one is chosen. Dispatches "choose". */
export class VariantList extends StoreElement {
  static override properties = { ...StoreElement.properties, variants: { attribute: false } };
  static override styles = [
    base_styles,
    button_styles,
    css`
      ul {
        display: grid;
        max-height: 240px;
        margin: 4px 0 0;
        padding: 0;
        overflow-y: auto;
        border: 1px solid var(--border);
        border-radius: 6px;
        background: var(--surface);
        list-style: none;
      }
      li + li {
        border-top: 1px solid var(--hairline);
      }
      li button {
        display: flex;
        gap: 8px;
        justify-content: space-between;
        width: 100%;
        padding: 5px 10px;
        border: 0;
        background: none;
        text-align: start;
      }
      li button:hover {
        background: var(--accent-wash);
      }
      li button:focus-visible {
        outline-offset: -2px;
      }
      .name {
        overflow-wrap: anywhere;
      }
      .size {
        flex: none;
        color: var(--ink-2);
      }
      @media (pointer: coarse) {
        li button {
          padding-block: 9px;
        }
      }
    `,
  ];
  declare variants: readonly Variant[];

  protected override render(): TemplateResult {
    return html`<p id="question">${t("reading.which")}</p>
      <ul aria-labelledby="question">
        ${this.variants.map((variant) => this.#item(variant))}
      </ul>`;
  }

  #item(variant: Variant): TemplateResult {
    const { name, size } = variant;
    return html`<li>
      <button @click=${() => this.dispatchEvent(new CustomEvent("choose", { detail: variant }))}>
        <span class="name">${name}</span>
        <span class="size">${size > 0 ? this.store.format.size(size) : ""}</span>
      </button>
    </li>`;
  }
}

customElements.define("vg-variant-list", VariantList);
