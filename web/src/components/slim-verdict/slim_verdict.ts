import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import { slim_text } from "../verdict/verdict_text";

/** On a narrow page: the verdict in one line, while the full one is out of view. */
export class SlimVerdict extends StoreElement {
  static override styles = [
    base_styles,
    css`
      :host {
        position: fixed;
        z-index: 10;
        top: 0;
        inset-inline: 0;
        transform: translateY(-110%);
        visibility: hidden;
        transition:
          transform 120ms ease-out,
          visibility 120ms;
      }
      :host([data-shown]) {
        transform: none;
        visibility: visible;
      }
      .slim {
        --tone: var(--border-strong);
        display: flex;
        gap: 12px;
        align-items: baseline;
        justify-content: space-between;
        padding: 9px 16px;
        border-bottom: 1px solid var(--hairline);
        border-inline-start: 3px solid var(--tone);
        background: var(--surface);
        box-shadow: 0 1px 8px rgb(0 0 0 / 8%);
        font-size: 14px;
        white-space: nowrap;
      }
      [data-state="fits"] {
        --tone: var(--good);
      }
      [data-state="tight"] {
        --tone: var(--warn);
      }
      [data-state="does_not_fit"] {
        --tone: var(--bad);
      }
      strong {
        color: var(--tone);
        font-weight: 650;
      }
      [data-state="none"] strong {
        color: var(--ink-2);
      }
      .of {
        color: var(--ink-2);
        font-size: 12px;
      }
      @media (max-width: 360px) {
        .of {
          display: none;
        }
      }
      @media (prefers-reduced-motion: reduce) {
        :host {
          transition: none;
        }
      }
    `,
  ];

  /** Hidden from assistive technology: the full verdict is a live region already. */
  protected override render(): TemplateResult | typeof nothing {
    const { estimate, stale, format } = this.store;
    if (!estimate) return nothing;
    if (stale)
      return html`<div class="slim" data-state="none" aria-hidden="true">
        <strong>${t("verdict.no_answer")}</strong>
      </div>`;
    const { state, amount } = slim_text(estimate, format);
    const { needed_bytes, usable_bytes } = estimate.verdict;
    const used = t("bar.used", {
      needed: format.amount(needed_bytes, 1),
      usable: format.size(usable_bytes),
    });
    return html`<div class="slim" data-state=${estimate.verdict.state} aria-hidden="true">
      <span><strong>${state}</strong> · ${amount}</span><span class="of">${used}</span>
    </div>`;
  }
}

customElements.define("vg-slim-verdict", SlimVerdict);
