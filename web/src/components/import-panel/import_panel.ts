import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import type { ImportBody } from "../import-body/import_body";
import { StoreElement } from "../store_element";

/** Opens what reads a model of one's own. That is loaded when it is first asked for. */
export class ImportPanel extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    open: { state: true },
    loaded: { state: true },
    failed: { state: true },
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
      #panel {
        margin: 6px 0 0 calc(-1 * var(--label-width));
      }
      .error {
        color: var(--bad);
      }
    `,
  ];
  declare open: boolean;
  declare loaded: boolean;
  declare failed: boolean;

  constructor() {
    super();
    this.open = false;
    this.loaded = false;
    this.failed = false;
  }

  /** Loads the panel's contents ahead of need. */
  async prepare(): Promise<void> {
    try {
      const { load_import_texts } = await import("../import-body/import_body");
      await load_import_texts();
      this.loaded = true;
      this.failed = false;
    } catch {
      this.failed = true;
    }
  }

  /** Reads files that were dropped on the page. */
  async read_files(files: Promise<File[]>): Promise<void> {
    this.open = true;
    await this.prepare();
    await this.updateComplete;
    const body = this.renderRoot.querySelector<ImportBody>("vg-import-body");
    await body?.read_files(await files.catch(() => []));
  }

  protected override render(): TemplateResult {
    return html`<button
        class="text-button"
        aria-expanded=${this.open}
        aria-controls="panel"
        @click=${this.#toggle}
      >
        ${t("import.open")}
      </button>
      <div id="panel" ?hidden=${!this.open}>
        ${this.loaded ? html`<vg-import-body .store=${this.store}></vg-import-body>` : nothing}
        ${this.failed ? html`<p class="error" role="alert">${t("import.load_failed")}</p>` : nothing}
      </div>`;
  }

  readonly #toggle = (): void => {
    this.open = !this.open;
    if (this.open && !this.loaded) void this.prepare();
  };
}

customElements.define("vg-import-panel", ImportPanel);
