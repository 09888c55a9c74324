import { css, html, svg, type TemplateResult } from "lit";
import type { ByteUnit } from "../../format/format";
import { t } from "../../i18n/i18n";
import { kThemes, type Language, type Theme } from "../../state/preferences";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import "../segmented/segmented";
import "../share/share";

const icon = (shape: TemplateResult): TemplateResult =>
  html`<svg
    width="14"
    height="14"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
  >
    ${shape}
  </svg>`;

const kThemeIcons: Record<Theme, TemplateResult> = {
  system: icon(
    svg`<circle cx="8" cy="8" r="6"/><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor"/>`,
  ),
  light: icon(
    svg`<circle cx="8" cy="8" r="3"/><path d="M8 .8v2M8 13.2v2M.8 8h2M13.2 8h2M2.9 2.9l1.4 1.4M11.7 11.7l1.4 1.4M13.1 2.9l-1.4 1.4M4.3 11.7l-1.4 1.4"/>`,
  ),
  dark: icon(svg`<path d="M13.5 10A6 6 0 0 1 6 2.5a6 6 0 1 0 7.5 7.5z"/>`),
};

/** Name of the page, language, unit and theme, and what there is to share. */
export class Header extends StoreElement {
  static override styles = [
    base_styles,
    css`
      header {
        display: flex;
        flex-wrap: wrap;
        gap: 8px 12px;
        align-items: center;
        padding: 9px 24px;
        border-bottom: 1px solid var(--hairline);
      }
      h1 {
        display: flex;
        flex: 1;
        gap: 8px;
        align-items: baseline;
        margin: 0;
        font-size: 14px;
        font-weight: 650;
        letter-spacing: -0.01em;
        white-space: nowrap;
      }
      .tagline {
        color: var(--ink-3);
        font-weight: 400;
      }
      @media (max-width: 860px) {
        header {
          padding: 9px 16px;
        }
      }
      @media (max-width: 620px) {
        .tagline {
          display: none;
        }
        h1 {
          flex: 1 0 auto;
        }
        vg-share {
          order: 1;
        }
        .switches {
          order: 2;
          justify-content: space-between;
          width: 100%;
        }
      }
      .switches {
        display: flex;
        gap: 12px;
      }
    `,
  ];
  protected override render(): TemplateResult {
    return html`<header>
      <h1>vramgauge <span class="tagline">${t("app.tagline")}</span></h1>
      <div class="switches">${this.#language()} ${this.#unit()} ${this.#theme()}</div>
      <vg-share .store=${this.store}></vg-share>
    </header>`;
  }

  #language(): TemplateResult {
    return html`<vg-segmented
      .label=${t("header.language")}
      .value=${this.store.language}
      .options=${[
        { value: "en", text: "EN", label: "English", lang: "en" },
        { value: "zh-CN", text: "中文", lang: "zh-CN" },
      ]}
      @choose=${(event: CustomEvent<Language>) => void this.store.choose_language(event.detail)}
    ></vg-segmented>`;
  }

  #unit(): TemplateResult {
    return html`<vg-segmented
      .label=${t("header.unit")}
      .value=${this.store.preferences.unit}
      .options=${[
        { value: "GiB", text: "GiB" },
        { value: "GB", text: "GB" },
      ]}
      @choose=${(event: CustomEvent<ByteUnit>) => this.store.choose_unit(event.detail)}
    ></vg-segmented>`;
  }

  #theme(): TemplateResult {
    return html`<vg-segmented
      .label=${t("header.theme")}
      .value=${this.store.preferences.theme}
      .options=${kThemes.map((theme) => ({ value: theme, text: kThemeIcons[theme], label: t(`header.theme_${theme}`) }))}
      @choose=${(event: CustomEvent<Theme>) => this.store.choose_theme(event.detail)}
    ></vg-segmented>`;
  }
}

customElements.define("vg-header", Header);
