import { css, html, nothing, type TemplateResult } from "lit";
import { page_error } from "../../core/client";
import type { Diag } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** A config.json has a few kilobytes, some with long lists a few hundred. */
const kMaxFileBytes = 8 * 2 ** 20;

/** Paste or choose a config.json; its findings stand right below. */
export class ImportPanel extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    open: { state: true },
    text: { state: true },
    findings: { state: true },
    taken: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      :host {
        margin-inline-start: var(--label-width);
        padding-bottom: 14px;
        font-size: 12px;
      }
      .panel {
        display: grid;
        gap: 6px;
        margin: 6px 0 0 calc(-1 * var(--label-width));
        padding: 10px;
        border: 1px dashed var(--border-strong);
        border-radius: 8px;
      }
      textarea {
        width: 100%;
        min-height: 96px;
        padding: 8px;
        resize: vertical;
        border: 1px solid var(--border);
        border-radius: 6px;
        background: var(--surface);
        color: var(--ink);
        font: 11.5px/1.45 var(--font-mono);
      }
      textarea[aria-invalid="true"] {
        border-color: var(--bad);
      }
      .quiet,
      .hint {
        color: var(--ink-2);
      }
      .error {
        color: var(--bad);
      }
      .findings {
        display: grid;
        gap: 4px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      code {
        font-family: var(--font-mono);
        font-size: 11px;
        overflow-wrap: anywhere;
      }
    `,
  ];
  declare open: boolean;
  declare text: string;
  declare findings: Diag[];
  declare taken: string | null;

  constructor() {
    super();
    this.open = false;
    this.text = "";
    this.findings = [];
    this.taken = null;
  }

  /** Reads a dropped or chosen file. */
  async read_file(file: File): Promise<void> {
    this.open = true;
    if (file.size > kMaxFileBytes) {
      const format = this.store.format;
      const sizes = { size: format.small_size(file.size), limit: format.small_size(kMaxFileBytes) };
      this.findings = page_error("page.file_too_large", "", sizes).errors;
      return;
    }
    this.#take(await file.text(), file.name);
  }

  protected override render(): TemplateResult {
    return html`<button
        class="text-button"
        aria-expanded=${this.open}
        aria-controls="panel"
        @click=${() => (this.open = !this.open)}
      >
        ${t("import.open")}
      </button>
      <div id="panel" class="panel" ?hidden=${!this.open}>
        <label class="visually-hidden" for="text">${t("import.label")}</label>
        <textarea
          id="text"
          spellcheck="false"
          placeholder=${t("import.placeholder")}
          aria-describedby="findings"
          aria-invalid=${this.findings.length > 0}
          .value=${this.text}
          @input=${(event: InputEvent) => this.#take((event.target as HTMLTextAreaElement).value, undefined)}
        ></textarea>
        <p class="quiet">
          ${t("import.drop")}
          <button
            class="text-button"
            @click=${() => this.renderRoot.querySelector<HTMLInputElement>("#file")?.click()}
          >
            ${t("import.choose")}</button
          >. ${t("import.nothing_leaves")}
        </p>
        <input
          id="file"
          type="file"
          accept=".json,application/json"
          hidden
          @change=${this.#on_choose}
        />
        <div id="findings" role="status">${this.#outcome()}</div>
      </div>`;
  }

  #outcome(): TemplateResult | typeof nothing {
    if (this.findings.length > 0)
      return html`<ul class="findings">
        ${this.findings.map((finding) => this.#finding(finding))}
      </ul>`;
    return this.taken === null ? nothing : html`${t("import.taken", { name: this.taken })}`;
  }

  #finding(finding: Diag): TemplateResult {
    const { message, hint } = diag_text(finding);
    const place = finding.at
      ? t("import.position", { line: finding.at.line, column: finding.at.column })
      : finding.path;
    return html`<li>
      <span class="error">${message}</span>
      ${place === "" ? nothing : html`<code>${place}</code> `}<span class="hint">${hint}</span>
    </li>`;
  }

  readonly #on_choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void this.read_file(file);
    input.value = "";
  };

  #take(text: string, name: string | undefined): void {
    this.text = text;
    this.taken = null;
    this.findings = [];
    if (text.trim() === "") return;
    const reply = this.store.import_config(text, name?.replace(/\.json$/i, ""));
    if (!reply.ok) {
      this.findings = reply.errors;
      return;
    }
    this.taken = reply.result.name || t("model.custom_unnamed");
    this.store.set_all(reply.result.scenario_patch);
  }
}

customElements.define("vg-import-panel", ImportPanel);
