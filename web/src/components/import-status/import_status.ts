import { html, nothing, type TemplateResult } from "lit";
import type { Diag } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";
import type { FailureArgs, ImportFailure } from "../../import/failure";
import type { ReadResult } from "../../import/model_reader";
import type { Progress } from "../../import/read_model";
import type { ImportState } from "../../import/task";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import "../variant-list/variant_list";
import { status_styles } from "./status_styles";

/** Where an import stands, or that a pasted configuration was taken. */
export type Outcome = ImportState | { kind: "taken"; result: ReadResult };

/** Progress, choice, result or failure of an import. Dispatches "cancel" and passes "choose" on. */
export class ImportStatus extends StoreElement {
  static override properties = { ...StoreElement.properties, outcome: { attribute: false } };
  static override styles = [base_styles, button_styles, status_styles];
  declare outcome: Outcome;

  protected override render(): TemplateResult | typeof nothing {
    const outcome = this.outcome;
    switch (outcome.kind) {
      case "idle":
        return nothing;
      case "listing":
        return this.#running(t("reading.listing", { host: outcome.host }), undefined);
      case "reading":
        return this.#reading(outcome.progress);
      case "choosing":
        return html`<vg-variant-list
          .store=${this.store}
          .variants=${outcome.variants}
          @choose=${this.#pass_on}
        ></vg-variant-list>`;
      case "failed":
        return this.#failure(outcome.failure);
      case "refused":
        return html`<ul class="findings">
          ${outcome.findings.map((finding) => finding_item(finding))}
        </ul>`;
      case "taken":
        return this.#taken(outcome.result, []);
      case "done":
        return html`${this.#taken(outcome.result, this.#extent(outcome.progress))}
        ${this.#warnings(outcome.warnings)}`;
    }
  }

  #reading(progress: Progress): TemplateResult {
    if (progress.bytes === 0) return this.#running(t("reading.starting"), undefined);
    const { format } = this.store;
    const text = t("reading.headers", {
      done: format.integer(progress.files_done),
      files: format.integer(progress.files),
      bytes: format.small_size(progress.bytes),
    });
    return this.#running(text, progress.frac);
  }

  #running(text: string, frac: number | undefined): TemplateResult {
    return html`<div class="running">
      <p>${text}</p>
      <button class="button" @click=${() => this.dispatchEvent(new CustomEvent("cancel"))}>
        ${t("reading.cancel")}
      </button>
      <svg
        class="bar"
        role="progressbar"
        aria-label=${t("reading.progress")}
        aria-valuemin="0"
        aria-valuemax="100"
        aria-valuenow=${frac === undefined ? nothing : Math.floor(100 * frac)}
        data-unknown=${frac === undefined ? "" : nothing}
      >
        <rect height="100%" width="${frac === undefined ? 30 : 100 * frac}%"></rect>
      </svg>
    </div>`;
  }

  #failure(failure: ImportFailure): TemplateResult {
    const args = this.#shown(failure.args);
    const quiet = failure.code === "cancelled";
    return html`<p class="failure" data-code=${failure.code}>
      <span class=${quiet ? "" : "error"}
        >${t(`import_errors.${failure.code}.message`, args).trim()}</span
      >
      <span class="hint">${t(`import_errors.${failure.code}.hint`, args)}</span>
    </p>`;
  }

  #shown(args: FailureArgs): FailureArgs {
    return Object.fromEntries(
      Object.entries(args).map(([name, value]) => [
        name,
        name.endsWith("_bytes") ? this.store.format.exact(Number(value)) : value,
      ]),
    );
  }

  #taken(result: ReadResult, extent: string[]): TemplateResult {
    const name = result.name || t("model.custom_unnamed");
    const facts = [...this.#facts(result), ...extent];
    return html`<p class="taken">${t("reading.taken", { name })}</p>
      <p class="hint">
        ${facts.map((fact, index) => html`${index > 0 ? " · " : ""}<span class="fact">${fact}</span>`)}
      </p>
      ${this.#counted()}`;
  }

  /** The weights are not those of the checkpoint: somebody who only gave a configuration may not know. */
  #counted(): TemplateResult | typeof nothing {
    const { store } = this;
    const format = store.value("weight_format");
    if (typeof format !== "string" || format === "auto") return nothing;
    const name = store.lists.item("formats", format)?.name ?? format;
    return html`<p class="counted">
      ${t("reading.counted", { format: name })}
      <button class="text-button" @click=${() => store.set("weight_format", "auto")}>
        ${t("reading.use_own")}
      </button>
    </p>`;
  }

  #facts(result: ReadResult): string[] {
    const { total } = result.parameters;
    return [
      ...(result.model_type ? [result.model_type] : []),
      ...(total ? [t("model.parameters", { count: this.store.format.parameters(total) })] : []),
      ...(result.stored ? [this.#weights(result.stored)] : []),
    ];
  }

  #weights({ total_bytes, is_total_only }: NonNullable<ReadResult["stored"]>): string {
    const size = this.store.format.size(total_bytes, 2);
    return is_total_only ? t("reading.weights_total", { size }) : t("reading.weights", { size });
  }

  #extent({ files, bytes }: Progress): string[] {
    const { format } = this.store;
    return [
      t("reading.files", { count: files, n: format.integer(files) }),
      t("reading.bytes", { bytes: format.small_size(bytes) }),
    ];
  }

  #warnings(warnings: readonly Diag[]): TemplateResult | typeof nothing {
    const shown = warnings.filter(({ code }) => code !== "model.assumed_default");
    if (shown.length === 0) return nothing;
    return html`<ul class="findings">
      ${shown.map((warning) => html`<li class="hint">${diag_text(warning).message}</li>`)}
    </ul>`;
  }

  readonly #pass_on = (event: CustomEvent): void => {
    this.dispatchEvent(new CustomEvent("choose", { detail: event.detail }));
  };
}

/** What is wrong, where, and what to do. */
function finding_item(finding: Diag): TemplateResult {
  const { message, hint } = diag_text(finding);
  const place = finding.at
    ? t("reading.position", { line: finding.at.line, column: finding.at.column })
    : finding.path;
  return html`<li>
    <span class="error">${message}</span>
    ${place === "" ? nothing : html`<code>${place}</code> `}<span class="hint">${hint}</span>
  </li>`;
}

customElements.define("vg-import-status", ImportStatus);
