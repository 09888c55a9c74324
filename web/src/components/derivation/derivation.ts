import { LitElement, css, html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";

/** A figure's formula, the same with its numbers where they are at hand, and where it is from. */
export interface Derived {
  name?: string;
  formula: string;
  numbers?: string;
}

/** How the figures of a part of the page come about, for those who ask. */
export class Derivation extends LitElement {
  static override properties = { lines: { attribute: false }, source: {} };
  static override styles = [
    base_styles,
    css`
      summary {
        color: var(--ink-3);
        font-size: 12px;
        cursor: pointer;
      }
      summary::marker {
        font-size: 10px;
      }
      .body {
        display: grid;
        gap: 8px;
        margin-top: 6px;
        padding: 10px 14px;
        border: 1px solid var(--hairline);
        border-radius: 6px;
        background: var(--sunken);
      }
      dl {
        display: grid;
        gap: 6px;
        margin: 0;
      }
      dt,
      .source {
        color: var(--ink-2);
        font-size: 11.5px;
      }
      dd {
        margin: 0;
        font: 12px/1.6 var(--font-mono);
        overflow-wrap: anywhere;
      }
      .formula {
        color: var(--ink-2);
      }
      .source {
        overflow-wrap: anywhere;
      }
    `,
  ];
  declare lines: Derived[];
  declare source: string;

  protected override render(): TemplateResult {
    return html`<details>
      <summary>${t("arithmetic.how")}</summary>
      <div class="body">
        <dl>
          ${this.lines.map(
            ({ name, formula, numbers }) =>
              html`<div>
                ${name ? html`<dt>${name}</dt>` : ""}
                <dd class="formula">${formula}</dd>
                ${numbers ? html`<dd class="numbers">= ${numbers}</dd>` : ""}
              </div>`,
          )}
        </dl>
        <p class="source">${t("table.source")}: ${this.source}</p>
      </div>
    </details>`;
  }
}

customElements.define("vg-derivation", Derivation);
