import { css, html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { chosen_inputs } from "../../report/inputs";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import "../device-bar/device_bar";
import { notices_view } from "../notices/notices_view";
import "../verdict/verdict";

/** The answer alone, for other pages: verdict, bars and the inputs they belong to. */
export class Gauge extends StoreElement {
  static override styles = [
    base_styles,
    css`
      vg-verdict {
        height: auto;
      }
      vg-device-bar {
        margin-block: 12px;
      }
      dl {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 16px;
        margin: 0;
        padding-top: 10px;
        border-top: 1px solid var(--hairline);
        font-size: 12px;
      }
      dl > div {
        display: flex;
        gap: 6px;
      }
      dt,
      a {
        color: var(--ink-2);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .open {
        margin-inline-start: auto;
      }
      a {
        text-decoration: none;
      }
      a:hover {
        text-decoration: underline;
      }
    `,
  ];

  protected override render(): TemplateResult {
    const { store } = this;
    return html`${notices_view(store)}
      <vg-verdict .store=${store}></vg-verdict>
      <vg-device-bar .store=${store} legend></vg-device-bar>
      <dl>
        ${chosen_inputs(store).map(
          ({ key, name, value }) =>
            html`<div data-input=${key}>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
        <div class="open">
          <dt class="visually-hidden">${t("embed.page")}</dt>
          <dd><a href=${store.link()} target="_blank" rel="noopener">${t("embed.open")}</a></dd>
        </div>
      </dl>`;
  }
}

customElements.define("vg-gauge", Gauge);
