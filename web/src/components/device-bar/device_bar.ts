import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { DeviceBreakdown, Term } from "../../core/types";
import { axis_ticks, type Formatter } from "../../format/format";
import { t, t_core } from "../../i18n/i18n";
import { base_styles, swatch_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import { bar_styles } from "./bar_styles";
import { device_label, type DeviceLabel } from "./device_label";

const kBarTop = 6;
const kBarHeight = 30;
const kTicks = 6;
/** How much of the width the label of a limit takes, and on a phone. */
const kLabelFrac = 0.11;
const kNarrowLabelFrac = 0.33;
/** Room right of the longest thing drawn, so that lines at the end are not cut. */
const kHeadroom = 1.03;

/** One bar per kind of device: what each term takes, and what there is. */
export class DeviceBar extends StoreElement {
  static override styles = [base_styles, swatch_styles, bar_styles];

  protected override render(): TemplateResult | typeof nothing {
    const { estimate, stale } = this.store;
    if (!estimate) return nothing;
    return html`<div class="bars" ?data-stale=${stale || this.store.loading}>
      ${estimate.devices.map((device, index) =>
        this.#device(device, device_label(estimate, index)),
      )}
    </div>`;
  }

  #device(device: DeviceBreakdown, { name, place }: DeviceLabel): TemplateResult {
    const format = this.store.format;
    const used = is_known(device)
      ? t("bar.used", {
          needed: format.amount(device.total.bytes, 1),
          usable: format.size(device.usable_bytes),
        })
      : format.size(device.total.bytes);
    return html`<figure>
      <figcaption>
        <span>${name}${place ? html` <em>· ${place}</em>` : nothing}</span>
        <span title=${`${format.exact(device.total.bytes)} / ${format.exact(device.usable_bytes)}`}
          >${used}</span
        >
      </figcaption>
      ${this.#drawing(device, name)} ${this.#legend(device.terms)}
    </figure>`;
  }

  #drawing(device: DeviceBreakdown, name: string): TemplateResult {
    const scale = new Scale(device);
    const format = this.store.format;
    return html`<svg
      class="drawing"
      height="58"
      role="img"
      aria-label=${summary(device, name, format)}
    >
      <defs>
        <pattern
          id="band"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect class="band-line" width="2" height="6" />
        </pattern>
      </defs>
      <rect
        class="ground"
        x="0"
        y=${kBarTop}
        width=${scale.at(device.capacity_bytes)}
        height=${kBarHeight}
      />
      ${this.#segments(device, scale)} ${this.#band(device, scale)} ${this.#axis(device, scale)}
      ${this.#limits(device, scale)}
    </svg>`;
  }

  #segments(device: DeviceBreakdown, scale: Scale): SVGTemplateResult[] {
    let start_bytes = 0;
    return device.terms.map((term) => {
      const x = scale.at(start_bytes);
      start_bytes += term.bytes;
      return svg`<rect class=${`term ${term.id}`} x=${x} y=${kBarTop} width=${scale.at(term.bytes)} height=${kBarHeight}>
        <title>${t_core("terms", term.id)} ${this.store.format.size(term.bytes, 2)} (${this.store.format.exact(term.bytes)})</title>
      </rect>`;
    });
  }

  /** Where the total may lie: hatched, with a whisker below. */
  #band(device: DeviceBreakdown, scale: Scale): SVGTemplateResult | typeof nothing {
    const { low_bytes, high_bytes } = device.total;
    if (high_bytes <= low_bytes) return nothing;
    const [low, high, width] = [
      scale.at(low_bytes),
      scale.at(high_bytes),
      scale.at(high_bytes - low_bytes),
    ];
    const y = kBarTop + kBarHeight + 3;
    return svg`<rect class="band" x=${low} y=${kBarTop} width=${width} height=${kBarHeight} fill="url(#band)">
        <title>${t("bar.band", { low: this.store.format.size(low_bytes, 2), high: this.store.format.size(high_bytes, 2) })}</title>
      </rect>
      <line class="whisker" x1=${low} x2=${high} y1=${y} y2=${y} />
      <line class="whisker" x1=${low} x2=${low} y1=${y - 2} y2=${y + 2} />
      <line class="whisker" x1=${high} x2=${high} y1=${y - 2} y2=${y + 2} />`;
  }

  #axis(device: DeviceBreakdown, scale: Scale): SVGTemplateResult[] {
    const unit_bytes = this.store.format.bytes_per_unit();
    const limits = [device.capacity_bytes, device.usable_bytes];
    const apart = (bytes: number): number =>
      Math.min(...limits.map((limit) => Math.abs(scale.fraction(bytes) - scale.fraction(limit))));
    return axis_ticks(scale.max_bytes / unit_bytes, kTicks)
      .filter(
        (tick) => apart(tick * unit_bytes) > kLabelFrac && scale.fraction(tick * unit_bytes) < 0.97,
      )
      .map(
        (tick) =>
          svg`<text class=${apart(tick * unit_bytes) < kNarrowLabelFrac ? "tick near" : "tick"} x=${scale.at(tick * unit_bytes)} y="54" text-anchor=${tick === 0 ? "start" : "middle"}>${this.store.format.tick(tick)}</text>`,
      );
  }

  #limits(device: DeviceBreakdown, scale: Scale): SVGTemplateResult[] {
    if (!is_known(device)) return [];
    const { capacity_bytes, usable_bytes } = device;
    const usable = this.#limit(
      "usable",
      usable_bytes,
      t("bar.usable", { amount: this.store.format.amount(usable_bytes, 1) }),
      scale,
    );
    const apart = scale.fraction(capacity_bytes) - scale.fraction(usable_bytes);
    if (apart < 0.002) return [usable];
    const label =
      apart > 0.22
        ? t("bar.capacity", { amount: this.store.format.amount(capacity_bytes, 1) })
        : "";
    return [this.#limit("capacity", capacity_bytes, label, scale), usable];
  }

  #limit(kind: string, bytes: number, label: string, scale: Scale): SVGTemplateResult {
    const x = scale.at(bytes);
    const anchor = scale.fraction(bytes) > 0.8 ? "end" : "middle";
    return svg`<line class=${`limit ${kind}`} x1=${x} x2=${x} y1="0" y2=${kBarTop + kBarHeight + 6} />
      <text class="tick" x=${x} y="54" text-anchor=${anchor}>${label}</text>`;
  }

  #legend(terms: Term[]): TemplateResult {
    return html`<ul class="legend" aria-hidden="true">
      ${terms.map(
        (term) =>
          html`<li>
            <span class=${`swatch ${term.id}`}></span>${t_core("terms", term.id)}
            ${this.store.format.amount(term.bytes, 1)}
          </li>`,
      )}
    </ul>`;
  }
}

/** Maps bytes to per cent of the drawing's width, so that it needs no measuring. */
class Scale {
  readonly max_bytes: number;

  constructor(device: DeviceBreakdown) {
    this.max_bytes = Math.max(
      1,
      kHeadroom * Math.max(device.capacity_bytes, device.total.bytes, device.total.high_bytes),
    );
  }

  fraction(bytes: number): number {
    return bytes / this.max_bytes;
  }

  at(bytes: number): string {
    return `${(100 * this.fraction(bytes)).toFixed(3)}%`;
  }
}

/** Host memory is given only where somebody told it. */
function is_known(device: DeviceBreakdown): boolean {
  return device.capacity_bytes > 0;
}

function summary(device: DeviceBreakdown, name: string, format: Formatter): string {
  const terms = device.terms.map((term) =>
    t("bar.summary_term", { term: t_core("terms", term.id), amount: format.size(term.bytes) }),
  );
  return t(is_known(device) ? "bar.summary" : "bar.summary_unknown", {
    device: name,
    terms: terms.join(", "),
    total: format.size(device.total.bytes),
    usable: format.size(device.usable_bytes),
    capacity: format.size(device.capacity_bytes),
  });
}

customElements.define("vg-device-bar", DeviceBar);
