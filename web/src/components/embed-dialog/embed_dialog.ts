import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { kThemes, type Language, type Theme } from "../../state/preferences";
import { base_styles, button_styles } from "../../styles/shared";
import "../segmented/segmented";
import { copy_text } from "../share/copy_text";
import { StoreElement } from "../store_element";
import {
  element_snippet,
  follow_snippet,
  frame_snippet,
  needed_policy,
  type EmbedChoices,
} from "./snippets";

const kCopiedMs = 1800;
/** The one-file page has no script beside it that others could load. */
const kHasElement = import.meta.env.MODE !== "single";

/** What to paste into another page. */
export class EmbedDialog extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    shown: { state: true },
    language: { state: true },
    theme: { state: true },
    copied: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      dialog {
        width: min(680px, calc(100vw - 32px));
        max-height: calc(100vh - 32px);
        padding: 18px 22px 22px;
        border: 1px solid var(--border);
        border-radius: 10px;
        background: var(--paper);
        color: var(--ink);
        box-shadow: var(--shadow);
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 35%);
      }
      .title,
      .row {
        display: flex;
        gap: 12px;
        align-items: baseline;
        justify-content: space-between;
      }
      h2 {
        font-size: 16px;
        font-weight: 650;
      }
      h3 {
        font-size: 13px;
        font-weight: 600;
      }
      p,
      summary {
        color: var(--ink-2);
        font-size: 12.5px;
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: 12px;
        margin: 14px 0 4px;
      }
      section {
        margin-top: 14px;
        padding-top: 14px;
        border-top: 1px solid var(--hairline);
      }
      pre {
        max-height: 132px;
        margin: 8px 0 0;
        padding: 9px 11px;
        overflow: auto;
        border: 1px solid var(--border);
        border-radius: 6px;
        background: var(--surface);
        font: 11.5px/1.55 var(--font-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      details,
      pre + p {
        margin-top: 8px;
      }
      summary {
        cursor: pointer;
      }
      code {
        font: 11px var(--font-mono);
      }
      .copy {
        min-width: 76px;
      }
    `,
  ];
  declare shown: boolean;
  declare language: Language;
  declare theme: Theme;
  /** The snippet that was copied a moment ago. */
  declare copied: string;

  constructor() {
    super();
    this.shown = false;
    this.copied = "";
    this.theme = "system";
    this.language = "en";
  }

  show(): void {
    this.language = this.store.language;
    this.shown = true;
    void this.updateComplete.then(() => this.renderRoot.querySelector("dialog")?.showModal());
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.shown) return nothing;
    const choices = this.#choices();
    return html`<dialog aria-labelledby="title" @close=${() => (this.shown = false)}>
      <div class="title">
        <h2 id="title">${t("embed_dialog.title")}</h2>
        <form method="dialog"><button class="button">${t("embed_dialog.close")}</button></form>
      </div>
      <p>${t("embed_dialog.lead")}</p>
      ${location.protocol === "file:" ? html`<p>${t("embed_dialog.local")}</p>` : nothing}
      <div class="choices">${this.#language()} ${this.#theme()}</div>
      <section>
        ${this.#snippet("frame", frame_snippet(choices))}
        <details>
          <summary>${t("embed_dialog.follow")}</summary>
          <pre tabindex="0">${follow_snippet(choices.home)}</pre>
        </details>
      </section>
      ${kHasElement ? this.#element(choices) : nothing}
    </dialog>`;
  }

  #element(choices: EmbedChoices): TemplateResult {
    return html`<section>
      ${this.#snippet("element", element_snippet(choices))}
      <p>${t("embed_dialog.policy", { policy: needed_policy(choices.home) })}</p>
    </section>`;
  }

  #snippet(kind: "frame" | "element", text: string): TemplateResult {
    const copied = this.copied === kind;
    return html`<div class="row">
        <h3>${t(`embed_dialog.${kind}`)}</h3>
        <button class="button copy" data-copy=${kind} @click=${() => void this.#copy(kind, text)}>
          ${t(copied ? "embed_dialog.copied" : "embed_dialog.copy")}
        </button>
      </div>
      <p>${t(`embed_dialog.${kind}_note`)}</p>
      <pre tabindex="0" data-snippet=${kind} aria-label=${t(`embed_dialog.${kind}`)}>${text}</pre>`;
  }

  #language(): TemplateResult {
    return html`<vg-segmented
      .label=${t("header.language")}
      .value=${this.language}
      .options=${[
        { value: "en", text: "EN", label: "English", lang: "en" },
        { value: "zh-CN", text: "中文", lang: "zh-CN" },
      ]}
      @choose=${(event: CustomEvent<Language>) => (this.language = event.detail)}
    ></vg-segmented>`;
  }

  #theme(): TemplateResult {
    return html`<vg-segmented
      .label=${t("header.theme")}
      .value=${this.theme}
      .options=${kThemes.map((theme) => ({ value: theme, text: t(`header.theme_${theme}`) }))}
      @choose=${(event: CustomEvent<Theme>) => (this.theme = event.detail)}
    ></vg-segmented>`;
  }

  #choices(): EmbedChoices {
    const link = this.store.link();
    return {
      home: this.store.home,
      fragment: link.slice(link.indexOf("#") + 1),
      language: this.language,
      theme: this.theme,
      title: t("app.title"),
    };
  }

  async #copy(kind: string, text: string): Promise<void> {
    if (!(await copy_text(text))) return;
    this.copied = kind;
    setTimeout(() => (this.copied = ""), kCopiedMs);
  }
}

customElements.define("vg-embed-dialog", EmbedDialog);
