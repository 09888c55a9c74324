import { css, html, nothing, unsafeCSS, type TemplateResult } from "lit";
import type { Estimate } from "../../core/types";
import { add_texts, t, type LaterTexts } from "../../i18n/i18n";
import { csv_report, json_report } from "../../report/data";
import { markdown_report } from "../../report/markdown";
import { bar_blocks, compose_picture, kDrawingWidth } from "../../report/picture";
import { file_stem, save_file, text_file } from "../../report/save";
import { png_of, svg_text } from "../../report/svg";
import { base_styles, button_styles } from "../../styles/shared";
import "../device-bar/device_bar";
import type { DeviceBar } from "../device-bar/device_bar";
import "../embed-dialog/embed_dialog";
import { copy_text } from "../share/copy_text";
import { StoreElement } from "../store_element";

const kTexts: LaterTexts = {
  en: () => import("../../i18n/share.en.json"),
  "zh-CN": () => import("../../i18n/share.zh-CN.json"),
};
const kPngScale = 2;
const kSaidMs = 1800;

export const load_share_texts = (): Promise<void> => add_texts(kTexts);

type Action = "markdown" | "json" | "csv" | "svg" | "png" | "embed";
const kActions: Action[] = ["markdown", "json", "csv", "svg", "png", "embed"];

/** Every way to take the answer elsewhere. Dispatches "close", and "embed" for the dialog. */
export class ShareMenu extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    open: { attribute: false },
    said: { state: true },
    drawing: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      :host {
        position: absolute;
        z-index: 20;
        top: calc(100% + 4px);
        inset-inline-end: 0;
      }
      .menu {
        width: max-content;
        min-width: 250px;
        padding: 4px;
        border: 1px solid var(--border);
        border-radius: 8px;
        background: var(--surface);
        box-shadow: var(--shadow);
      }
      .menu > button {
        display: flex;
        gap: 20px;
        align-items: baseline;
        justify-content: space-between;
        width: 100%;
        padding: 6px 10px;
        border: 0;
        border-radius: 5px;
        background: none;
        font-size: 12.5px;
        text-align: start;
      }
      .menu > button:hover,
      .menu > button:focus-visible {
        background: var(--accent-wash);
      }
      .menu > button:disabled {
        color: var(--ink-3);
        background: none;
        cursor: default;
      }
      .note {
        color: var(--ink-2);
        font-size: 11.5px;
      }
      [data-said="copied"] .note {
        color: var(--good);
      }
      [data-said="failed"] .note {
        color: var(--bad);
      }
      .embed {
        display: none !important;
      }
      .drawing {
        position: absolute;
        width: ${unsafeCSS(kDrawingWidth)}px;
      }
      .offstage {
        height: 0;
        overflow: hidden;
      }
      @media (max-width: 860px) {
        .menu > .embed {
          display: flex !important;
        }
      }
      @media (pointer: coarse) {
        .menu > button {
          padding-block: 10px;
        }
      }
    `,
  ];
  declare open: boolean;
  /** What became of the action that was chosen last. */
  declare said: { action: Action; outcome: "copied" | "failed" } | null;
  /** The bars are drawn once more, at the width of the picture. */
  declare drawing: boolean;

  constructor() {
    super();
    this.open = false;
    this.said = null;
    this.drawing = false;
    this.addEventListener("keydown", this.#on_key);
  }

  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has("open") && this.open) this.#items()[0]?.focus();
  }

  protected override render(): TemplateResult | typeof nothing {
    return html`<div class="menu" role="menu" aria-label=${t("share.menu")} ?hidden=${!this.open}>
        ${kActions.map((action) => this.#item(action))}
      </div>
      <span class="visually-hidden" role="status">
        ${this.said ? t(`share.${this.said.outcome}`) : nothing}
      </span>
      ${this.drawing ? this.#offstage() : nothing}`;
  }

  #item(action: Action): TemplateResult {
    const said = this.said?.action === action ? this.said.outcome : null;
    return html`<button
      class=${action}
      role="menuitem"
      tabindex="-1"
      data-action=${action}
      data-said=${said ?? nothing}
      ?disabled=${!this.store.estimate || this.store.stale}
      @click=${() => void this.#choose(action)}
    >
      ${t(`share.${action}`)}
      <span class="note">${said ? t(`share.${said}`) : t(`share.${action}_note`)}</span>
    </button>`;
  }

  #offstage(): TemplateResult {
    return html`<div class="offstage" aria-hidden="true">
      <vg-device-bar
        class="drawing"
        .store=${this.store}
        legend
      ></vg-device-bar>
    </div>`;
  }

  async #choose(action: Action): Promise<void> {
    const { estimate } = this.store;
    if (!estimate) return;
    if (action === "embed") return void this.dispatchEvent(new CustomEvent("embed"));
    const done = await this.#act(action, estimate).catch(() => false);
    if (done && action !== "markdown") return this.#close();
    this.said = { action, outcome: done ? "copied" : "failed" };
    setTimeout(() => (this.said = null), kSaidMs);
  }

  async #act(action: Action, estimate: Estimate): Promise<boolean> {
    const { store } = this;
    const save = (extension: string, content: Blob): true => {
      save_file(`${file_stem(store)}.${extension}`, content);
      return true;
    };
    if (action === "markdown") return copy_text(markdown_report(store, estimate));
    if (action === "json") return save("json", text_file(json_report(store), "application/json"));
    if (action === "csv") return save("csv", text_file(csv_report(estimate), "text/csv"));
    const picture = await this.#picture();
    if (action === "svg") return save("svg", text_file(svg_text(picture), "image/svg+xml"));
    return save("png", await png_of(picture, kPngScale));
  }

  async #picture(): Promise<SVGElement> {
    this.drawing = true;
    try {
      await this.updateComplete;
      const bars = this.renderRoot.querySelector<DeviceBar>("vg-device-bar")!;
      await bars.updateComplete;
      return compose_picture(this.store, bar_blocks(bars.renderRoot));
    } finally {
      this.drawing = false;
    }
  }

  #items(): HTMLElement[] {
    const items = [...this.renderRoot.querySelectorAll<HTMLElement>(".menu > button")];
    return items.filter((item) => item.offsetParent !== null && !item.hasAttribute("disabled"));
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent("close"));
  }

  readonly #on_key = (event: KeyboardEvent): void => {
    const items = this.#items();
    const at = items.indexOf(this.shadowRoot?.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape") this.#close();
    else if (next === undefined) return;
    else items.at(next % items.length)?.focus();
    event.preventDefault();
  };
}

customElements.define("vg-share-menu", ShareMenu);
