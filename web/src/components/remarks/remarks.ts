import { css, html, nothing, type TemplateResult } from "lit";
import type { Diag } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/**
 * Warnings about the answer that belong to no field: a line below it that is always there, so that nothing
 * moves when one comes or goes. All of them in full open over what follows.
 */
export class Remarks extends StoreElement {
  static override properties = { ...StoreElement.properties, open: { state: true } };
  static override styles = [
    base_styles,
    button_styles,
    css`
      section {
        display: grid;
        position: relative;
        grid-template-columns: max-content minmax(0, 1fr) max-content;
        gap: 0 10px;
        align-items: baseline;
        height: 1.5em;
        margin-top: 8px;
        font-size: 12.5px;
        line-height: 1.5;
      }
      h2 {
        font-size: 12.5px;
        font-weight: 600;
      }
      .some h2 {
        color: var(--warn);
      }
      .none h2 {
        color: var(--ink-3);
        font-weight: 400;
      }
      ul {
        height: 1.5em;
        margin: 0;
        padding: 0;
        overflow: hidden;
        list-style: none;
      }
      li {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .hint {
        color: var(--ink-2);
      }
      .open ul {
        display: grid;
        position: absolute;
        z-index: 5;
        inset: calc(100% + 4px) 0 auto;
        gap: 8px;
        height: auto;
        max-height: min(46vh, 420px);
        padding: 12px 16px;
        overflow-y: auto;
        border: 1px solid var(--border);
        border-radius: 8px;
        background: var(--surface);
        box-shadow: var(--shadow);
      }
      .open li {
        overflow-wrap: anywhere;
        white-space: normal;
      }
      .open button {
        grid-column: 3;
      }
      @media (max-width: 620px) {
        section,
        ul {
          height: 3em;
        }
        li {
          display: -webkit-box;
          -webkit-box-orient: vertical;
          -webkit-line-clamp: 2;
          white-space: normal;
        }
        .open li {
          display: block;
        }
      }
    `,
  ];
  declare open: boolean;

  constructor() {
    super();
    this.open = false;
  }

  protected override render(): TemplateResult {
    const remarks = this.store.remarks();
    const has_some = remarks.length > 0;
    const open = this.open && has_some;
    return html`<section
      aria-labelledby="title"
      class=${`${has_some ? "some" : "none"} ${open ? "open" : ""}`}
      @keydown=${this.#on_key}
    >
      <h2 id="title">${t(has_some ? "notices.warnings" : "notices.no_warnings")}</h2>
      ${has_some ? this.#list(remarks, open) : nothing}
    </section>`;
  }

  #list(remarks: Diag[], open: boolean): TemplateResult {
    return html`<ul id="list" tabindex=${open ? "0" : nothing} aria-labelledby="title">
        ${remarks.map((remark) => {
          const { message, hint } = diag_text(remark);
          return html`<li>${message} <span class="hint">${hint}</span></li>`;
        })}
      </ul>
      <button
        class="text-button"
        aria-expanded=${open}
        aria-controls="list"
        @click=${() => (this.open = !this.open)}
      >
        ${t(open ? "notices.close" : "notices.all", { n: remarks.length })}
      </button>`;
  }

  readonly #on_key = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.open = false;
  };
}

customElements.define("vg-remarks", Remarks);
