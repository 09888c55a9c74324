import { css, html, nothing, type TemplateResult } from "lit";
import { add_texts, t, type LaterTexts } from "../../i18n/i18n";
import type { Store } from "../../state/store";
import { base_styles, button_styles } from "../../styles/shared";
import { how_texts } from "../derivation/how";
import { StoreElement } from "../store_element";

/** What a module that is loaded later exports as `part`: its texts, and how it is put on the page. */
export interface LaterPart {
  texts: LaterTexts;
  view(store: Store): TemplateResult;
}

export type LoadPart = () => Promise<{ part: LaterPart }>;

/** Loading begins this far before the place comes into view. */
const kAhead = "600px";

/**
 * The place of a part of the page that is loaded when it comes near the view. It has the part's height
 * from the start (`--later-height`), so that nothing moves when the part arrives.
 */
export class Later extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    load: { attribute: false },
    loaded_part: { state: true },
    failed: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      :host(:not([data-ready])) {
        min-height: var(--later-height, 0);
      }
      .error {
        color: var(--bad);
        font-size: 12.5px;
      }
    `,
  ];
  declare load: LoadPart;
  declare loaded_part: LaterPart | null;
  declare failed: boolean;

  readonly #observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) void this.#begin();
    },
    { rootMargin: kAhead },
  );

  constructor() {
    super();
    this.loaded_part = null;
    this.failed = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer.disconnect();
  }

  /** Before the first answer the page is short, and everything would be near. */
  protected override updated(): void {
    const { core, loading } = this.store;
    if (this.isConnected && !this.loaded_part && !loading && core.is_complete)
      this.#observer.observe(this);
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.loaded_part) return this.loaded_part.view(this.store);
    if (!this.failed) return nothing;
    return html`<p class="error" role="alert">
      ${t("import.load_failed")}
      <button class="text-button" @click=${() => void this.#begin()}>${t("later.retry")}</button>
    </p>`;
  }

  async #begin(): Promise<void> {
    try {
      const { part } = await this.load();
      await Promise.all([add_texts(part.texts), add_texts(how_texts)]);
      this.loaded_part = part;
      this.#observer.disconnect();
      this.toggleAttribute("data-ready", true);
    } catch {
      this.failed = true;
    }
  }
}

customElements.define("vg-later", Later);
