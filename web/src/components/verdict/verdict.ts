import { css, html, type TemplateResult } from "lit";
import { diag_text, t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import { explanation, headline } from "./verdict_text";

interface Shown {
  state: string;
  title: string;
  text: string;
}

/** The answer: the largest text on the page. */
export class VerdictPanel extends StoreElement {
  static override styles = [
    base_styles,
    css`
      /* Room for the longest answer: another one moves nothing below it. */
      :host {
        display: grid;
        height: 120px;
      }
      .verdict {
        --tone: var(--border-strong);
        --wash: var(--sunken);
        display: grid;
        gap: 4px;
        align-content: start;
        padding: 11px 18px;
        border-inline-start: 3px solid var(--tone);
        border-start-end-radius: 8px;
        border-end-end-radius: 8px;
        background: var(--wash);
      }
      [data-state="fits"] {
        --tone: var(--good);
        --wash: var(--good-wash);
      }
      [data-state="tight"] {
        --tone: var(--warn);
        --wash: var(--warn-wash);
      }
      [data-state="does_not_fit"] {
        --tone: var(--bad);
        --wash: var(--bad-wash);
      }
      h2 {
        font-size: 22px;
        font-weight: 650;
        letter-spacing: -0.012em;
        line-height: 1.25;
        text-wrap: balance;
      }
      p {
        color: var(--ink-2);
        font-size: 13.5px;
        line-height: 1.42;
      }
      h2,
      p {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
      }
      @media (max-width: 1100px) {
        :host {
          height: 156px;
        }
        .verdict {
          padding: 12px 16px;
        }
        h2 {
          font-size: 19px;
          -webkit-line-clamp: 3;
        }
        p {
          font-size: 13px;
          line-height: 1.38;
          -webkit-line-clamp: 3;
        }
      }
    `,
  ];

  protected override render(): TemplateResult {
    const { state, title, text } = this.#shown();
    return html`<section class="verdict" data-state=${state} aria-live="polite" aria-atomic="true">
      <h2>${title}</h2>
      <p>${text}</p>
    </section>`;
  }

  #shown(): Shown {
    const { estimate, errors, format, loading } = this.store;
    if (loading)
      return {
        state: "none",
        title: t("verdict.loading", { model: String(this.store.value("model")) }),
        text: "",
      };
    const error = errors[0];
    if (error || !estimate) {
      const { message, hint } = error ? diag_text(error) : { message: "", hint: "" };
      return { state: "none", title: t("verdict.no_answer"), text: `${message} ${hint}` };
    }
    return {
      state: estimate.verdict.state,
      title: headline(estimate, format),
      text: explanation(estimate, format),
    };
  }
}

customElements.define("vg-verdict", VerdictPanel);
