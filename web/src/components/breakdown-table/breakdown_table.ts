import { html, nothing, type TemplateResult } from "lit";
import type { Amount, DeviceBreakdown, Term } from "../../core/types";
import { device_name, t, t_core } from "../../i18n/i18n";
import { base_styles, button_styles, swatch_styles } from "../../styles/shared";
import { device_label } from "../device-bar/device_label";
import { StoreElement } from "../store_element";
import "../arithmetic/arithmetic";
import { table_styles } from "./table_styles";
import { total_term } from "./total_term";

/** The terms of the tightest device in figures; each row opens to its arithmetic. */
export class BreakdownTable extends StoreElement {
  static override properties = { ...StoreElement.properties, opened: { state: true } };
  static override styles = [base_styles, button_styles, swatch_styles, table_styles];
  declare opened: ReadonlySet<string>;

  constructor() {
    super();
    this.opened = new Set(["kv_cache"]);
  }

  protected override render(): TemplateResult | typeof nothing {
    const { estimate } = this.store;
    const stale = this.store.stale || this.store.loading;
    const device = estimate?.devices[estimate.verdict.worst_device];
    if (!estimate || !device) return nothing;
    const { place } = device_label(estimate, estimate.verdict.worst_device);
    return html`<table ?data-stale=${stale}>
      <caption>
        <span class="title">
          <span>
            ${device.count > 1 ? t("table.caption") : t("table.caption_of", { device: device_name(device.name) })}
            ${place ? html`<span class="place">· ${place}</span>` : nothing}
          </span>
          ${stale ? html`<span class="old">${t("table.stale")}</span>` : nothing}
        </span>
      </caption>
      <thead>
        <tr>
          <th scope="col">${t("table.term")}</th>
          <th scope="col" class="number">${this.store.format.unit}</th>
          <th scope="col" class="number share">${t("table.share")}</th>
          <th scope="col" class="number range">${t("table.range")}</th>
          <th scope="col" class="known">${t("table.known")}</th>
        </tr>
      </thead>
      ${device.terms.map((term) => this.#term(term, device))}
      ${this.#total(device)}
    </table>`;
  }

  #total(device: DeviceBreakdown): TemplateResult {
    return this.#row(total_term(this.store, device), device, t("table.total"), nothing);
  }

  #term(term: Term, device: DeviceBreakdown): TemplateResult {
    const swatch = html`<span class=${`swatch ${term.id}`}></span>`;
    return this.#row(term, device, t_core("terms", term.id), swatch);
  }

  #row(
    term: Term,
    device: DeviceBreakdown,
    name: string,
    swatch: TemplateResult | typeof nothing,
  ): TemplateResult {
    const open = this.opened.has(term.id);
    return html`<tbody>
      <tr data-term=${term.id} class=${term.id === "total" ? "total" : ""}>
        <th scope="row">
          <button
            class="opener"
            aria-expanded=${open}
            aria-controls=${`detail-${term.id}`}
            title=${t("table.show", { term: name })}
            @click=${() => this.#toggle(term.id)}
          >
            <svg class="arrow" width="7" height="9" viewBox="0 0 7 9" aria-hidden="true">
              <path d="M1 0l5 4.5L1 9z" fill="currentColor" />
            </svg>
            ${swatch}${name}
          </button>
        </th>
        ${this.#figures(term, device)}
      </tr>
      <tr id=${`detail-${term.id}`} class="detail" ?hidden=${!open}>
        <td colspan="5">
          ${open ? html`<vg-arithmetic .store=${this.store} .term=${term}></vg-arithmetic>` : nothing}
        </td>
      </tr>
    </tbody>`;
  }

  #figures(amount: Amount, device: DeviceBreakdown): TemplateResult {
    const format = this.store.format;
    return html`<td
        class="number bytes"
        data-bytes=${amount.bytes}
        title=${format.exact(amount.bytes)}
      >
        ${format.amount(amount.bytes)} ${this.#range(amount, "narrow-range")}
      </td>
      <td class="number share">${format.share(amount.bytes, device.total.bytes)}</td>
      <td class="number range">${this.#range(amount, "") || format.amount(amount.bytes)}</td>
      <td class="known">
        <span class="basis" title=${t_core("basis_help", amount.basis)}
          >${t_core("basis", amount.basis)}</span
        >
      </td>`;
  }

  #range(amount: Amount, name: string): TemplateResult | string {
    if (amount.high_bytes <= amount.low_bytes) return "";
    const format = this.store.format;
    return html`<span
      class=${name}
      title=${`${format.exact(amount.low_bytes)} – ${format.exact(amount.high_bytes)}`}
      >${format.amount(amount.low_bytes)} – ${format.amount(amount.high_bytes)}</span
    >`;
  }

  #toggle(id: string): void {
    const opened = new Set(this.opened);
    if (!opened.delete(id)) opened.add(id);
    this.opened = opened;
  }
}

customElements.define("vg-breakdown-table", BreakdownTable);
