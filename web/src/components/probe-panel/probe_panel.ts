import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import type { ProbeBody } from "../probe-body/probe_body";
import { StoreElement } from "../store_element";

/** Opens what takes a measured machine in. That is loaded when it is first asked for. */
export class ProbePanel extends StoreElement {
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
        margin: -9px 0 14px var(--label-width);
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

  /** Takes a probe's text that was given elsewhere on the page. */
  async take(text: string): Promise<void> {
    this.open = true;
    await this.#load();
    await this.updateComplete;
    this.renderRoot.querySelector<ProbeBody>("vg-probe-body")?.take(text);
  }

  protected override render(): TemplateResult {
    return html`<button
        class="text-button"
        aria-expanded=${this.open}
        aria-controls="panel"
        @click=${this.#toggle}
      >
        ${t("import.open_probe")}
      </button>
      <div id="panel" ?hidden=${!this.open}>
        ${this.loaded ? html`<vg-probe-body .store=${this.store}></vg-probe-body>` : nothing}
        ${this.failed ? html`<p class="error" role="alert">${t("import.load_failed")}</p>` : nothing}
      </div>`;
  }

  async #load(): Promise<void> {
    try {
      await (await import("../probe-body/probe_body")).load_probe_texts();
      this.loaded = true;
    } catch {
      // Said below the button; the next click tries again.
    }
    this.failed = !this.loaded;
  }

  readonly #toggle = (): void => {
    this.open = !this.open;
    if (this.open && !this.loaded) void this.#load();
  };
}

customElements.define("vg-probe-panel", ProbePanel);
