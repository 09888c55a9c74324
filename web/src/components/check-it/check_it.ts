import { html, nothing, type TemplateResult } from "lit";
import type { CheckRow, LogCheck } from "../../core/plan_types";
import type { Envelope } from "../../core/types";
import { page_error } from "../../core/client";
import { diag_text, t, t_core } from "../../i18n/i18n";
import { save_file, text_file } from "../../report/save";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { run_texts } from "../run_texts";
import { text_area_styles } from "../run-it/text_area";
import { StoreElement } from "../store_element";
import { check_styles } from "./check_styles";

/** Longer logs are read by the command line, in one pass. */
const kMaxBytes = 16 * 1024 ** 2;

/** The engine's start-up log beside the prediction, term by term. */
export class CheckIt extends StoreElement {
  static override properties = { ...StoreElement.properties, checked: { state: true } };
  static override styles = [
    base_styles,
    button_styles,
    panel_styles,
    text_area_styles,
    check_styles,
  ];
  declare checked: Envelope<LogCheck> | null;

  constructor() {
    super();
    this.checked = null;
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("check.title")}</h2>
      <p class="lead">${t("check.lead")}</p>
      <textarea rows="4" spellcheck="false" aria-labelledby="title" placeholder=${t("check.placeholder")}></textarea>
      <div class="actions">
        <button class="button" @click=${this.#check_text}>${t("check.check")}</button>
        <button class="button" @click=${this.#choose}>${t("check.open")}</button>
        <input type="file" accept=".log,.txt,text/plain" hidden @change=${this.#on_file} />
      </div>
      <div role="status">${this.#answer()}</div>
    </section>`;
  }

  readonly #check_text = (): void => {
    const text = this.renderRoot.querySelector("textarea")?.value ?? "";
    if (text.trim() !== "") void this.#check(text);
  };

  readonly #choose = (): void => this.renderRoot.querySelector("input")?.click();

  readonly #on_file = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    if (file.size <= kMaxBytes) {
      void file.text().then((text) => this.#check(text));
      return;
    }
    const { format } = this.store;
    const sizes = { size: format.small_size(file.size), limit: format.small_size(kMaxBytes) };
    this.checked = page_error("page.file_too_large", "", sizes);
  };

  async #check(text: string): Promise<void> {
    this.checked = await this.store.core.ask("check_log", { text });
  }

  #answer(): TemplateResult | typeof nothing {
    const { checked } = this;
    if (!checked) return nothing;
    if (!checked.ok)
      return html`<p class="bad">${checked.errors.map((error) => diag_text(error).message).join(" ")}</p>`;
    const { rows, prediction_errors, scenario_patch, observation, calibration } = checked.result;
    const notes = [...checked.warnings, ...prediction_errors];
    return html`${notes.map((note) => html`<p class="quiet">${diag_text(note).message}</p>`)}
      ${rows.length === 0 ? html`<p class="quiet">${t("check.nothing")}</p>` : this.#table(rows)}
      <div class="actions">
        <button class="button" @click=${() => this.store.set_all(scenario_patch)}>${t("check.fill")}</button>
        ${
          calibration === null
            ? nothing
            : html`<button class="button" title=${calibration.text} @click=${() => this.store.set_all(calibration.scenario_patch)}>
                ${t("check.use")}
              </button>`
        }
        <button class="button" @click=${() => save_json("observation.json", observation)}>
          ${t("check.observation")}
        </button>
        <button class="button" @click=${() => save_json("calibration.json", calibration)}>
          ${t("check.calibration")}
        </button>
      </div>
      ${how("check")}`;
  }

  #table(rows: CheckRow[]): TemplateResult {
    return html`<table>
      <thead>
        <tr>
          <th scope="col">${t("check.quantity")}</th>
          <th scope="col" class="number">${t("check.measured")}</th>
          <th scope="col" class="number">${t("check.predicted")}</th>
          <th scope="col" class="number">${t("check.residual")}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => this.#row(row))}
      </tbody>
    </table>`;
  }

  #row(row: CheckRow): TemplateResult {
    const { quantity, where, measured, predicted, residual, line } = row;
    const place = where === "" ? "" : ` · ${where === "host" ? t("choices.host") : `GPU ${where}`}`;
    return html`<tr data-quantity=${quantity}>
        <th scope="row">${t_core("check.quantities", quantity)}<span class="quiet">${place}</span></th>
        <td class="number" title=${t("check.line", { line })}>${this.#amount(measured, row)}</td>
        <td class="number">${predicted === undefined ? "–" : this.#amount(predicted, row)}</td>
        <td class="number ${row.is_large ? "warn" : ""}">
          ${residual === undefined ? "" : this.#residual(residual, row)}
        </td>
      </tr>
      ${row.reasons.length === 0
        ? nothing
        : html`<tr class="reasons">
            <td colspan="4" class="quiet">
              ${row.reasons.map(({ name, text }) => reason_text(name, text)).join(" ")}
            </td>
          </tr>`}`;
  }

  #amount(value: number, { unit }: CheckRow): string {
    const { format } = this.store;
    return unit === "bytes" ? format.small_size(value) : format.integer(value);
  }

  #residual(residual: number, row: CheckRow): string {
    const sign = residual < 0 ? "−" : "+";
    const share = row.predicted ? ` (${this.store.format.share(Math.abs(residual), Math.abs(row.predicted))})` : "";
    return residual === 0 ? "0" : `${sign}${this.#amount(Math.abs(residual), row)}${share}`;
  }
}

/** The page's own words for a reason, else the core's. */
function reason_text(name: string, text: string): string {
  const key = t_core("check.reasons", name);
  return key === name ? text : key;
}

function save_json(name: string, value: unknown): void {
  save_file(name, text_file(`${JSON.stringify(value, null, 2)}\n`, "application/json"));
}

customElements.define("vg-check-it", CheckIt);

export const part: LaterPart = {
  texts: run_texts,
  view: (store) => html`<vg-check-it .store=${store}></vg-check-it>`,
};
