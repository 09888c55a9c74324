import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from "lit";
import { t } from "../i18n/i18n";
import { base_styles, button_styles } from "../styles/shared";
import { StoreElement } from "./store_element";

/** A line that opens a panel, whose contents are loaded when they are first asked for. */
export abstract class LaterPanel extends StoreElement {
  static override properties: PropertyDeclarations = {
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

  /** The text of the line. */
  protected abstract title_text(): string;
  /** Fetches the contents' element and its texts. */
  protected abstract fetch_body(): Promise<void>;
  protected abstract body(): TemplateResult;

  /** Loads the panel's contents ahead of need. A failure is said below the line; the next click tries again. */
  async prepare(): Promise<void> {
    try {
      await this.fetch_body();
      this.loaded = true;
      this.failed = false;
    } catch {
      this.failed = true;
    }
  }

  /** Opens the panel; settles when its contents stand, or cannot be had. */
  protected async show(): Promise<void> {
    this.open = true;
    await this.prepare();
    await this.updateComplete;
  }

  protected override render(): TemplateResult {
    return html`<button
        class="text-button"
        aria-expanded=${this.open}
        aria-controls="panel"
        @click=${this.#toggle}
      >
        ${this.title_text()}
      </button>
      <div id="panel" ?hidden=${!this.open}>
        ${this.loaded ? this.body() : nothing}
        ${this.failed ? html`<p class="error" role="alert">${t("import.load_failed")}</p>` : nothing}
      </div>`;
  }

  readonly #toggle = (): void => {
    this.open = !this.open;
    if (this.open && !this.loaded) void this.prepare();
  };
}
