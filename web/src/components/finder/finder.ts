import { html, nothing, type TemplateResult } from "lit";
import type { SearchAxis, SearchResult, SearchRow, SearchSort } from "../../core/plan_types";
import type { CatalogueKind, Envelope, Scenario } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { plan_texts } from "../plan_texts";
import { Planned } from "../planned";
import "../segmented/segmented";
import { finder_styles } from "./finder_styles";

const kLimit = 12;
const kAll = 400;
const kAxes: readonly SearchAxis[] = ["gpus", "models", "formats"];
const kFields: Record<SearchAxis, "gpu" | "model" | "weight_format"> = {
  gpus: "gpu",
  models: "model",
  formats: "weight_format",
};
/** What each table is sorted by at first: the smallest card, the largest model, the most bits. */
const kFirstSort: Record<SearchAxis, [SearchSort, boolean]> = {
  gpus: ["usable", false],
  models: ["parameters", true],
  formats: ["bits", true],
};
const kColumns: Record<SearchAxis, readonly SearchSort[]> = {
  gpus: ["usable", "needed", "margin", "requests"],
  models: ["parameters", "needed", "margin", "requests"],
  formats: ["bits", "needed", "margin", "requests"],
};

/** Which GPU, which model, which format: the catalogue for the present scenario. */
export class Finder extends Planned<SearchResult> {
  static override properties = {
    ...Planned.properties,
    axis: { state: true },
    sort: { state: true },
    descending: { state: true },
    only_fitting: { state: true },
    query: { state: true },
    all: { state: true },
  };
  static override styles = [base_styles, button_styles, panel_styles, finder_styles];
  declare axis: SearchAxis;
  declare sort: SearchSort;
  declare descending: boolean;
  declare only_fitting: boolean;
  declare query: string;
  declare all: boolean;

  constructor() {
    super();
    this.axis = "gpus";
    [this.sort, this.descending] = kFirstSort.gpus;
    this.only_fitting = true;
    this.query = "";
    this.all = false;
  }

  protected override async plan(scenario: Scenario): Promise<Envelope<SearchResult>> {
    const { core } = this.store;
    // On the site, models are fetched one by one until all of them are looked at.
    if (this.axis === "models") await core.load_all_models();
    return this.ask("search", {
      scenario,
      over: this.axis,
      query: this.query,
      verdict: this.only_fitting ? "tight" : "any",
      sort: this.sort,
      descending: this.descending,
      limit: this.all ? kAll : kLimit,
    });
  }

  protected override render(): TemplateResult {
    const options = kAxes.map((axis) => ({ value: axis, text: t(`finder.axes.${axis}`) }));
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("finder.title")}</h2>
      <div class="controls">
        <vg-segmented
          .label=${t("finder.title")}
          .options=${options}
          .value=${this.axis}
          @choose=${(event: CustomEvent<SearchAxis>) => this.#choose_axis(event.detail)}
        ></vg-segmented>
        <input
          type="search"
          aria-label=${t("finder.filter")}
          placeholder=${t("finder.filter")}
          .value=${this.query}
          @input=${(event: Event) => this.#set({ query: (event.target as HTMLInputElement).value })}
        />
        <label>
          <input
            type="checkbox"
            .checked=${this.only_fitting}
            @change=${() => this.#set({ only_fitting: !this.only_fitting })}
          />
          ${t("finder.only_fitting")}
        </label>
      </div>
      ${this.reply ? this.#answer(this.reply) : html`<p class="lead">${t("plan.computing")}</p>`}
    </section>`;
  }

  #choose_axis(axis: SearchAxis): void {
    const [sort, descending] = kFirstSort[axis];
    this.#set({ axis, sort, descending, query: "", all: false });
  }

  #set(
    values: Partial<
      Pick<Finder, "axis" | "sort" | "descending" | "only_fitting" | "query" | "all">
    >,
  ): void {
    Object.assign(this, values);
    this.plan_again();
  }

  #answer(reply: Envelope<SearchResult>): TemplateResult {
    if (!reply.ok) return html`<p class="lead">${diag_text(reply.errors[0]!).message}</p>`;
    const { rows, found, points, fits, tight } = reply.result;
    const { format } = this.store;
    const counts = t("finder.counts", {
      points: format.integer(points),
      fits: format.integer(fits),
      tight: format.integer(tight),
    });
    return html`<p class="lead" role="status">${counts}</p>
      ${rows.length === 0 ? html`<p class="quiet">${t("finder.none")}</p>` : this.#table(rows)}
      ${found > rows.length || this.all
        ? html`<button class="text-button" @click=${() => this.#set({ all: !this.all })}>
            ${this.all ? t("levers.fewer") : t("finder.all", { n: format.integer(found) })}
          </button>`
        : nothing}
      ${how("finder")}`;
  }

  #table(rows: SearchRow[]): TemplateResult {
    return html`<table ?data-stale=${this.pending || this.store.stale}>
      <thead>
        <tr>
          <th scope="col">${t(`finder.axes.${this.axis}`)}</th>
          ${kColumns[this.axis].map((column) => this.#column_head(column))}
          <td></td>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => this.#row(row))}
      </tbody>
    </table>`;
  }

  #column_head(column: SearchSort): TemplateResult {
    const is_sorted = this.sort === column;
    const direction = this.descending ? "descending" : "ascending";
    return html`<th scope="col" class="number ${column}" aria-sort=${is_sorted ? direction : "none"}>
      <button
        class="text-button"
        @click=${() => this.#set({ sort: column, descending: is_sorted ? !this.descending : true })}
      >
        ${t(`finder.columns.${column}`)}${is_sorted ? (this.descending ? " ↓" : " ↑") : ""}
      </button>
    </th>`;
  }

  #row(row: SearchRow): TemplateResult {
    const key = kFields[this.axis];
    const id = row[key] ?? "";
    const name = this.store.lists.item(this.axis as CatalogueKind, id)?.name ?? id;
    const is_present = this.store.resolved(key) === id;
    return html`<tr data-id=${id} ?data-present=${is_present}>
      <th scope="row">
        <span class=${`state ${row.state}`} title=${t(`compare.states.${row.state}`)}></span>${name}
      </th>
      ${kColumns[this.axis].map(
        (column) => html`<td class="number ${column}">${this.#cell(row, column)}</td>`,
      )}
      <td class="number">
        ${is_present
          ? html`<span class="quiet">${t("compare.now")}</span>`
          : html`<button
              class="text-button"
              @click=${() => this.store.set(key, id)}
            >
              ${t("finder.use")}<span class="visually-hidden"> ${name}</span>
            </button>`}
      </td>
    </tr>`;
  }

  #cell(row: SearchRow, column: SearchSort): string {
    const { format } = this.store;
    if (column === "usable") return format.size(row.usable_bytes);
    if (column === "needed") return format.size(row.needed_bytes);
    if (column === "margin")
      return `${row.margin_bytes < 0 ? "−" : "+"}${format.margin(row.margin_bytes)}`;
    if (column === "bits") return format.tick(row.bits);
    if (column === "parameters") return format.parameters(row.parameters);
    return row.max_requests === null ? "∞" : format.integer(row.max_requests);
  }
}

customElements.define("vg-finder", Finder);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-finder .store=${store}></vg-finder>`,
};
