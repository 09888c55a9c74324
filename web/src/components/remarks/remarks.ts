import { css, html, nothing, type TemplateResult } from "lit";
import { diag_text, t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** Warnings about the answer that belong to no field. */
export class Remarks extends StoreElement {
  static override styles = [
    base_styles,
    css`
      h2 {
        margin-bottom: 6px;
        font-size: 13px;
        font-weight: 600;
      }
      ul {
        display: grid;
        gap: 4px;
        margin: 0;
        padding-inline-start: 16px;
        font-size: 12.5px;
      }
      li {
        overflow-wrap: anywhere;
      }
      li::marker {
        color: var(--warn);
      }
      .hint {
        color: var(--ink-2);
      }
    `,
  ];

  protected override render(): TemplateResult | typeof nothing {
    const remarks = this.store.remarks();
    if (remarks.length === 0) return nothing;
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("notices.warnings")}</h2>
      <ul>
        ${remarks.map((remark) => {
          const { message, hint } = diag_text(remark);
          return html`<li>${message} <span class="hint">${hint}</span></li>`;
        })}
      </ul>
    </section>`;
  }
}

customElements.define("vg-remarks", Remarks);
