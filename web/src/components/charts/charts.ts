import { LitElement, css, html, type TemplateResult } from "lit";
import type { Store } from "../../state/store";
import { base_styles } from "../../styles/shared";
import "../attention-kinds/attention_kinds";
import "../context-chart/context_chart";
import "../heat-map/heat_map";
import type { LaterPart } from "../later/later";

/** The charts of the page, side by side where there is room. */
export class Charts extends LitElement {
  static override properties = { store: { attribute: false } };
  static override styles = [
    base_styles,
    css`
      :host {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr));
        gap: 24px 32px;
      }
      vg-attention-kinds {
        grid-column: 1 / -1;
      }
    `,
  ];
  declare store: Store;

  protected override render(): TemplateResult {
    return html`<vg-context-chart .store=${this.store}></vg-context-chart>
      <vg-heat-map .store=${this.store}></vg-heat-map>
      <vg-attention-kinds .store=${this.store}></vg-attention-kinds>`;
  }
}

customElements.define("vg-charts", Charts);

export const part: LaterPart = {
  texts: {
    en: () => import("../../i18n/chart.en.json"),
    "zh-CN": () => import("../../i18n/chart.zh-CN.json"),
  },
  view: (store) => html`<vg-charts .store=${store}></vg-charts>`,
};
