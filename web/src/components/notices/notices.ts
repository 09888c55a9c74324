import { css, html, nothing, type TemplateResult } from "lit";
import type { Diag } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** What the visitor must know beside the answer: a link half understood, a crash. */
export class Notices extends StoreElement {
  static override styles = [
    base_styles,
    button_styles,
    css`
      .notice {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 4px 16px;
        margin-bottom: 12px;
        padding: 10px 14px;
        border: 1px solid var(--warn);
        border-radius: 8px;
        background: var(--warn-wash);
        font-size: 12.5px;
      }
      h2 {
        font-size: 13px;
        font-weight: 600;
      }
      ul {
        margin: 2px 0 0;
        padding-inline-start: 16px;
      }
      li,
      p {
        overflow-wrap: anywhere;
      }
      .hint {
        color: var(--ink-2);
      }
      .button {
        align-self: start;
      }
      [data-notice="update"] {
        align-items: center;
        border-color: var(--border);
        background: var(--accent-wash);
      }
      .choice {
        display: flex;
        gap: 8px;
      }
      input {
        width: 100%;
        margin-top: 4px;
        border: 1px solid var(--border);
        border-radius: 4px;
        background: var(--surface);
        color: var(--ink);
        font: 11.5px/2 var(--font-mono);
      }
    `,
  ];

  protected override render(): TemplateResult {
    return html`<div role="status">${this.#update()} ${this.#crash()} ${this.#catalogue()} ${this.#link()}</div>`;
  }

  #update(): TemplateResult | typeof nothing {
    const { update } = this.store;
    if (update === null) return nothing;
    return html`<section class="notice" data-notice="update">
      <h2>${t("notices.update_title")}</h2>
      <div class="choice">
        <button class="button" @click=${update}>${t("notices.update_now")}</button>
        <button class="button" @click=${() => this.store.offer_update(null)}>
          ${t("notices.update_later")}
        </button>
      </div>
    </section>`;
  }

  #crash(): TemplateResult | typeof nothing {
    const link = this.store.crash_link;
    if (link === null) return nothing;
    return html`<section class="notice" data-notice="crash">
      <div>
        <h2>${t("notices.crash_title")}</h2>
        <p>${t("notices.crash_text")}</p>
        <input
          readonly
          aria-label=${t("header.copy_link")}
          .value=${link}
          @focus=${(event: Event) => (event.target as HTMLInputElement).select()}
        />
      </div>
    </section>`;
  }

  #catalogue(): TemplateResult | typeof nothing {
    const findings = this.store.catalogue_findings;
    if (findings.length === 0) return nothing;
    return html`<section class="notice" data-notice="catalogue">
      <div>
        <h2>${t("notices.catalogue_title")}</h2>
        <ul>
          ${findings.map((finding) => this.#finding(finding))}
        </ul>
      </div>
    </section>`;
  }

  #link(): TemplateResult | typeof nothing {
    const findings = this.store.link_findings;
    if (findings.length === 0) return nothing;
    return html`<section class="notice" data-notice="link">
      <div>
        <h2>${t("notices.link_title")}</h2>
        <ul>
          ${findings.map((finding) => this.#finding(finding))}
        </ul>
      </div>
      <button class="button" @click=${() => this.store.dismiss_link_findings()}>
        ${t("notices.dismiss")}
      </button>
    </section>`;
  }

  #finding(finding: Diag): TemplateResult {
    const { message, hint } = diag_text(finding);
    return html`<li>${message} <span class="hint">${hint}</span></li>`;
  }
}

customElements.define("vg-notices", Notices);
