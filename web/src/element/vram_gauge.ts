import { assets } from "virtual:core-assets";
import { adoptStyles, css, html, render, unsafeCSS, type TemplateResult } from "lit";
import "../components/gauge/gauge";
import { start_failure } from "../components/start-failure/start_failure";
import { site_root } from "../core/assets_site";
import { CoreClient } from "../core/client";
import { load_error_texts, start_i18n, use_language } from "../i18n/i18n";
import {
  initial_language,
  language_of,
  resolved_theme,
  theme_of,
  type Language,
  type Theme,
} from "../state/preferences";
import { Store } from "../state/store";
import tokens from "../styles/tokens.css?inline";

/** One core for all elements of a page. */
let shared_core: Promise<CoreClient> | null = null;

const element_styles = [
  unsafeCSS(tokens.replaceAll(":root", ".root")),
  css`
    :host {
      display: block;
    }
    .root {
      padding: 12px 14px;
      border: 1px solid var(--hairline);
      border-radius: 8px;
      background: var(--paper);
      color: var(--ink);
      font: 13px/1.5 var(--font);
      font-variant-numeric: tabular-nums;
      text-align: start;
    }
  `,
];

/**
 * <vram-gauge scenario="v=1&model=…" lang="zh-CN" theme="auto" unit="GiB">: the answer on a foreign page.
 * `scenario` is a link of the page, or its fragment; every attribute may change at any time.
 */
export class VramGauge extends HTMLElement {
  static readonly observedAttributes = ["scenario", "lang", "theme", "unit"];

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #system = matchMedia("(prefers-color-scheme: dark)");
  #store: Store | null = null;
  #core: CoreClient | null = null;
  #failure: string | null = null;

  connectedCallback(): void {
    adoptStyles(this.#root, element_styles);
    this.#system.addEventListener("change", this.#show);
    void this.#start();
  }

  disconnectedCallback(): void {
    this.#system.removeEventListener("change", this.#show);
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.isConnected) return;
    if (name === "lang") void this.#start();
    else if (name === "unit") this.#store?.show_in(this.#unit());
    else if (name === "scenario") this.#store?.open_link(this.#scenario());
    this.#show();
  }

  /** Loads what there is to load, then shows the answer; also when the language has changed. */
  async #start(): Promise<void> {
    const language = this.#language();
    try {
      shared_core ??= CoreClient.start(assets);
      [this.#core] = await Promise.all([
        shared_core,
        start_i18n(language).then(load_error_texts),
      ]);
    } catch (failure) {
      shared_core = null;
      this.#failure = String(failure);
      return this.#show();
    }
    if (language !== this.#language() || !this.isConnected) return;
    this.#failure = null;
    if (this.#store?.language !== language) this.#open(this.#core, language);
    this.#show();
  }

  #open(core: CoreClient, language: Language): void {
    const preferences = { language, theme: this.#theme(), unit: this.#unit() };
    this.#store = new Store(core, preferences, language, site_root.href);
    this.#store.open_link(this.#scenario());
  }

  readonly #show = (): void => {
    const language = this.#language();
    use_language(language);
    render(
      html`<div class="root" lang=${language} data-theme=${resolved_theme(this.#theme())}>
        ${this.#content()}
      </div>`,
      this.#root,
    );
  };

  #content(): TemplateResult | string {
    if (this.#failure !== null) return start_failure(this.#failure);
    return this.#store ? html`<vg-gauge .store=${this.#store}></vg-gauge>` : "";
  }

  #scenario(): string {
    return this.getAttribute("scenario") ?? "";
  }

  /** Its own, else that of the page around it, else the browser's. */
  #language(): Language {
    return initial_language(language_of(this.closest("[lang]")?.getAttribute("lang") ?? null));
  }

  #theme(): Theme {
    return theme_of(this.getAttribute("theme")) ?? "system";
  }

  #unit(): "GiB" | "GB" {
    return this.getAttribute("unit") === "GB" ? "GB" : "GiB";
  }
}
