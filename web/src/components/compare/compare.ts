import { html, nothing, type TemplateResult } from "lit";
import type { Estimate, Scenario } from "../../core/types";
import { field_value_text } from "../../format/field_value";
import { t, t_core } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { plan_texts } from "../plan_texts";
import { StoreElement } from "../store_element";
import { compare_styles } from "./compare_styles";

const kMost = 4;
/** A whole configuration is no text for a cell. */
const kUnshown = ["model_config"];

interface Pin {
  given: Scenario;
  estimate: Estimate;
}

interface Column extends Pin {
  /** Place among the pins; null for the scenario of the form. */
  pinned: number | null;
}

interface Row {
  id: string;
  name: string;
  cells: string[];
}

/** Scenarios side by side: the fields in which they differ, and what comes of it. */
export class Compare extends StoreElement {
  static override properties = { ...StoreElement.properties, pins: { state: true } };
  static override styles = [base_styles, button_styles, panel_styles, compare_styles];
  declare pins: readonly Pin[];

  constructor() {
    super();
    this.pins = [];
  }

  protected override render(): TemplateResult {
    const { estimate, stale, loading } = this.store;
    const is_full = this.pins.length >= kMost;
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("compare.title")}</h2>
      <p class="lead">${t("compare.lead")}</p>
      ${this.pins.length === 0 || !estimate ? nothing : this.#table(this.#columns(estimate))}
      <button
        class="button"
        ?disabled=${is_full || stale || loading || !estimate}
        @click=${this.#pin}
      >
        ${is_full ? t("compare.full") : t("compare.pin")}
      </button>
      ${this.pins.length === 0 ? nothing : how("compare")}
    </section>`;
  }

  #columns(estimate: Estimate): Column[] {
    const now = { given: this.store.given, estimate, pinned: null };
    return [...this.pins.map((pin, i) => ({ ...pin, pinned: i })), now];
  }

  readonly #pin = (): void => {
    const { estimate, given } = this.store;
    if (estimate) this.pins = [...this.pins, { given, estimate }];
  };

  #table(columns: Column[]): TemplateResult {
    return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <td></td>
            ${columns.map((column) => html`<th scope="col">${this.#head(column)}</th>`)}
          </tr>
        </thead>
        <tbody class="fields">
          ${this.#field_rows(columns).map((row) => this.#row(row))}
        </tbody>
        <tbody>
          ${this.#answer_rows(columns).map((row) => this.#row(row))}
        </tbody>
      </table>
    </div>`;
  }

  #head({ estimate, pinned, given }: Column): TemplateResult {
    const verdict = html`<span class=${`state ${estimate.verdict.state}`}
      >${t_core("compare.states", estimate.verdict.state)}</span
    >`;
    if (pinned === null) return html`<span class="quiet">${t("compare.now")}</span> ${verdict}`;
    return html`<span class="quiet">${String.fromCharCode(65 + pinned)}</span> ${verdict}
      <span class="actions">
        <button class="text-button" @click=${() => this.#open(given)}>${t("compare.open")}</button>
        <button class="text-button" @click=${() => this.#remove(pinned)}>${t("compare.remove")}</button>
      </span>`;
  }

  #open(given: Scenario): void {
    const cleared = Object.fromEntries(Object.keys(this.store.given).map((key) => [key, undefined]));
    this.store.set_all({ ...cleared, ...given });
  }

  #remove(place: number): void {
    this.pins = this.pins.filter((_, i) => i !== place);
  }

  /** Only where the scenarios differ. */
  #field_rows(columns: Column[]): Row[] {
    const keys = [...this.store.fields.keys()].filter((key) => !kUnshown.includes(key));
    return keys
      .map((key) => ({
        id: key,
        name: t_core("fields", key),
        cells: columns.map(({ estimate }) => this.#cell(key, estimate)),
      }))
      .filter(({ cells }) => new Set(cells).size > 1);
  }

  #cell(key: string, { scenario, model }: Estimate): string {
    if (key === "model") return model.name;
    return field_value_text(this.store, key, scenario[key]);
  }

  #answer_rows(columns: Column[]): Row[] {
    const { format } = this.store;
    const count = (value: number | null): string =>
      value === null ? t("answers.no_limit") : format.integer(value);
    const figures: [string, (estimate: Estimate) => string][] = [
      ["needed", ({ verdict }) => format.size(verdict.needed_bytes)],
      ["usable", ({ verdict }) => format.size(verdict.usable_bytes)],
      ["margin", ({ verdict }) => signed(verdict.margin_bytes, format.margin(verdict.margin_bytes))],
      ["max_requests", ({ answers }) => count(answers.max_requests)],
      ["max_context", ({ answers }) => count(answers.max_context_tokens)],
      ["cached", ({ answers }) => count(answers.max_cached_tokens)],
    ];
    return figures.map(([id, text]) => ({
      id,
      name: t(`compare.${id}`),
      cells: columns.map(({ estimate }) => text(estimate)),
    }));
  }

  #row({ id, name, cells }: Row): TemplateResult {
    const differs = new Set(cells).size > 1;
    return html`<tr data-row=${id} ?data-differs=${differs}>
      <th scope="row">${name}</th>
      ${cells.map((cell) => html`<td>${cell}</td>`)}
    </tr>`;
  }
}

const signed = (value: number, text: string): string => `${value < 0 ? "−" : "+"}${text}`;

customElements.define("vg-compare", Compare);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-compare .store=${store}></vg-compare>`,
};
