import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { base_styles, button_styles } from "../../styles/shared";
import type { EmbedDialog } from "../embed-dialog/embed_dialog";
import { StoreElement } from "../store_element";
import { copy_text } from "./copy_text";

type CopyState = "idle" | "copied" | "failed";
const kCopiedMs = 1800;

/** The link to share, and what opens everything else: the menu and the dialog are loaded on demand. */
export class Share extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    copy_state: { state: true },
    open: { state: true },
    loaded: { state: true },
    failed: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      :host {
        display: flex;
        position: relative;
        gap: 12px;
      }
      .split {
        display: flex;
      }
      .split > :first-child {
        border-start-end-radius: 0;
        border-end-end-radius: 0;
      }
      .more {
        display: grid;
        width: 28px;
        padding: 0;
        margin-inline-start: 1px;
        border-start-start-radius: 0;
        border-end-start-radius: 0;
        place-items: center;
      }
      .copy {
        display: inline-grid;
        place-items: center;
      }
      /* Both texts keep the place, so the button never changes its width. */
      .copy > span {
        grid-area: 1 / 1;
        visibility: hidden;
      }
      .copy > span[data-shown] {
        visibility: visible;
      }
      /* No place of its own: loading it moves nothing. */
      vg-embed-dialog {
        position: absolute;
      }
      .error {
        position: absolute;
        z-index: 20;
        top: calc(100% + 4px);
        inset-inline-end: 0;
        width: 240px;
        color: var(--bad);
      }
      @media (max-width: 860px) {
        .embed {
          display: none;
        }
      }
    `,
  ];
  declare copy_state: CopyState;
  declare open: boolean;
  declare loaded: boolean;
  declare failed: boolean;

  constructor() {
    super();
    this.copy_state = "idle";
    this.open = false;
    this.loaded = false;
    this.failed = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener("focusout", this.#on_leave);
    window.addEventListener("pointerdown", this.#on_pointer_down);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("pointerdown", this.#on_pointer_down);
  }

  protected override render(): TemplateResult {
    return html`<button class="button embed" aria-haspopup="dialog" @click=${this.#embed}>
        ${t("header.embed")}
      </button>
      <div class="split">
        <button class="button primary link" @click=${this.#copy}>
          <span class="copy">
            ${this.#copy_label("idle", "header.copy_link")}
            ${this.#copy_label("copied", "header.copied")}
          </span>
        </button>
        <button
          class="button primary more"
          aria-label=${t("header.share")}
          title=${t("header.share")}
          aria-haspopup="menu"
          aria-expanded=${this.open}
          @click=${this.#toggle}
        >
          <svg width="10" height="6" fill="none" stroke="currentColor" stroke-width="1.5">
            <path d="M1 1l4 4 4-4" />
          </svg>
        </button>
      </div>
      ${this.failed ? html`<p class="error" role="alert">${t("import.load_failed")}</p>` : nothing}
      ${this.loaded ? this.#loaded() : nothing}
      <span class="visually-hidden" role="status">${this.#spoken()}</span>`;
  }

  #loaded(): TemplateResult {
    return html`<vg-share-menu
        .store=${this.store}
        .open=${this.open}
        @close=${this.#close}
        @embed=${this.#embed}
      ></vg-share-menu>
      <vg-embed-dialog .store=${this.store}></vg-embed-dialog>`;
  }

  #copy_label(state: CopyState, key: string): TemplateResult {
    const shown = (this.copy_state === "copied") === (state === "copied");
    return html`<span ?data-shown=${shown} aria-hidden=${!shown}>${t(key)}</span>`;
  }

  #spoken(): string {
    if (this.copy_state === "idle") return "";
    return t(this.copy_state === "copied" ? "header.copied" : "header.copy_failed");
  }

  async #copy(): Promise<void> {
    this.copy_state = (await copy_text(this.store.link())) ? "copied" : "failed";
    setTimeout(() => (this.copy_state = "idle"), kCopiedMs);
  }

  async #load(): Promise<boolean> {
    try {
      await (await import("../share-menu/share_menu")).load_share_texts();
      this.loaded = true;
    } catch {
      // Said below the button; the next click tries again.
    }
    this.failed = !this.loaded;
    await this.updateComplete;
    return this.loaded;
  }

  async #toggle(): Promise<void> {
    if (this.open) this.#close();
    else this.open = await this.#load();
  }

  readonly #close = (): void => {
    if (this.open) this.renderRoot.querySelector<HTMLElement>(".more")?.focus();
    this.open = false;
  };

  /** Only what leaves the component reaches it. */
  readonly #on_leave = (event: FocusEvent): void => {
    if (event.relatedTarget !== null) this.open = false;
  };

  readonly #on_pointer_down = (event: PointerEvent): void => {
    if (!event.composedPath().includes(this)) this.open = false;
  };

  readonly #embed = async (): Promise<void> => {
    this.#close();
    if (await this.#load())
      this.renderRoot.querySelector<EmbedDialog>("vg-embed-dialog")?.show();
  };
}

customElements.define("vg-share", Share);
