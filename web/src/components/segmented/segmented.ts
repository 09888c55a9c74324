import { LitElement, css, html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { base_styles } from "../../styles/shared";

export interface SegmentOption {
  value: string;
  text: string | TemplateResult;
  /** Spoken name where the text is an icon. */
  label?: string;
  lang?: string;
}

/** A few exclusive options side by side: a radio group. Dispatches "choose" with the value. */
export class Segmented extends LitElement {
  static override properties = { label: {}, options: { attribute: false }, value: {} };
  static override styles = [
    base_styles,
    css`
      fieldset {
        display: flex;
        min-width: 0;
        margin: 0;
        padding: 0;
        border: 1px solid var(--border);
        border-radius: 6px;
        background: var(--surface);
      }
      label {
        display: grid;
        position: relative;
        min-width: 30px;
        height: 28px;
        padding: 0 9px;
        place-items: center;
        border-radius: 5px;
        color: var(--ink-2);
        font-size: 12px;
        cursor: pointer;
        white-space: nowrap;
      }
      label:hover {
        color: var(--ink);
      }
      label:has(:checked) {
        background: var(--ink);
        color: var(--paper);
      }
      label:has(:focus-visible) {
        outline: 2px solid var(--accent);
        outline-offset: 1px;
      }
      input {
        position: absolute;
        inset: 0;
        margin: 0;
        opacity: 0;
        cursor: pointer;
      }
      @media (pointer: coarse) {
        label {
          height: 34px;
        }
      }
      @media (forced-colors: active) {
        label:has(:checked) {
          background: Highlight;
          color: HighlightText;
          forced-color-adjust: none;
        }
      }
    `,
  ];
  declare label: string;
  declare options: SegmentOption[];
  declare value: string;

  protected override render(): TemplateResult {
    return html`<fieldset>
      <legend class="visually-hidden">${this.label}</legend>
      ${this.options.map((option) => this.#option(option))}
    </fieldset>`;
  }

  #option(option: SegmentOption): TemplateResult {
    return html`<label title=${option.label ?? ""} lang=${option.lang ?? ""}>
      <input
        type="radio"
        name="choice"
        aria-label=${option.label ?? (option.text as string)}
        .checked=${live(option.value === this.value)}
        @change=${() => this.dispatchEvent(new CustomEvent("choose", { detail: option.value }))}
      />
      <span aria-hidden="true">${option.text}</span>
    </label>`;
  }
}

customElements.define("vg-segmented", Segmented);
