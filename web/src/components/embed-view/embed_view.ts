import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import type { Store } from "../../state/store";
import { base_styles } from "../../styles/shared";
import "../gauge/gauge";
import { start_failure } from "../start-failure/start_failure";

/** The whole page when another one shows it in a frame. Tells that page how high it is. */
export class EmbedView extends LitElement {
  static override properties = { store: { attribute: false }, failure: { attribute: false } };
  static override styles = [
    base_styles,
    css`
      :host {
        padding: 12px 14px;
      }
    `,
  ];
  declare store: Store | undefined;
  declare failure: string | undefined;

  readonly #observer = new ResizeObserver(() => tell_height(this.offsetHeight));

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer.disconnect();
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.failure !== undefined) return start_failure(this.failure);
    if (!this.store) return nothing;
    return html`<main>
      <h1 class="visually-hidden">${t("app.title")}</h1>
      <vg-gauge .store=${this.store}></vg-gauge>
    </main>`;
  }
}

/** Any page may learn the height: it says nothing that a frame does not show. */
function tell_height(height_px: number): void {
  if (window.parent !== window)
    window.parent.postMessage({ source: "vramgauge", height_px: Math.ceil(height_px) }, "*");
}

customElements.define("vg-embed-view", EmbedView);

declare global {
  interface HTMLElementTagNameMap {
    "vg-embed-view": EmbedView;
  }
}
