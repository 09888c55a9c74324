import { css, html, nothing, type TemplateResult } from "lit";
import type { CatalogueKind, DeviceBreakdown, WeightsSummary } from "../../core/types";
import { has_name } from "../../i18n/engine_texts";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import type { ImportPanel } from "../import-panel/import_panel";
import { StoreElement } from "../store_element";
import "../choice-field/choice_field";
import "../import-panel/import_panel";
import "../model-note/model_note";
import "../number-field/number_field";
import type { ProbePanel } from "../probe-panel/probe_panel";
import "../probe-panel/probe_panel";
import "../search-field/search_field";

/** Lists short enough for the browser's own select. */
const kShortLists: CatalogueKind[] = ["engines", "cache_types"];

/** The order of the form; which of these exist, and for which engine, the core says. */
const kSections: { group: string; keys: string[] }[] = [
  { group: "model", keys: ["model", "weight_format"] },
  { group: "hardware", keys: ["gpu", "gpu_memory_gib", "gpu_count"] },
  { group: "engine", keys: ["engine", "cache_type_k", "cache_type_v"] },
  { group: "workload", keys: ["context_tokens", "num_requests", "shared_prefix_tokens"] },
];
const kPlaced = new Set(["model_config", ...kSections.flatMap((section) => section.keys)]);

/** Everything that can be set. Fields without a place of their own fold into Advanced. */
export class Inputs extends StoreElement {
  static override styles = [
    base_styles,
    css`
      h2 {
        margin: 14px 0 10px;
        color: var(--ink-2);
        font-size: 11px;
        font-weight: 600;
        letter-spacing: 0.06em;
        text-transform: uppercase;
      }
      section:first-child h2 {
        margin-top: 4px;
      }
      details {
        margin-top: 12px;
        padding-top: 12px;
        border-top: 1px solid var(--hairline);
      }
      summary {
        margin-bottom: 12px;
        color: var(--ink-2);
        cursor: pointer;
      }
      summary::marker {
        color: var(--ink-3);
        font-size: 11px;
      }
      b {
        color: var(--ink);
        font-weight: 500;
      }
    `,
  ];

  /** Files are about to be dropped. */
  prepare_import(): void {
    void this.#import_panel()?.prepare();
  }

  /** Opens the import panel with the files that were dropped on the page. */
  import_files(files: Promise<File[]>): void {
    void this.#import_panel()?.read_files(files);
  }

  protected override render(): TemplateResult {
    return html`${kSections.map(({ group, keys }) => this.#section(group, keys))}
    ${this.#advanced()}`;
  }

  /** A measured machine was given where a model was expected. */
  #take_probe(text: string): Promise<void> | undefined {
    return this.renderRoot.querySelector<ProbePanel>("vg-probe-panel")?.take(text);
  }

  #import_panel(): ImportPanel | null {
    return this.renderRoot.querySelector<ImportPanel>("vg-import-panel");
  }

  #section(group: string, keys: string[]): TemplateResult {
    const shown = keys.filter((key) => this.#applies(key));
    return html`<section aria-labelledby=${group}>
      <h2 id=${group}>${t(`groups.${group}`)}</h2>
      ${shown.map((key) => this.#field(key))}
    </section>`;
  }

  #advanced(): TemplateResult {
    const keys = this.store.form.fields
      .map((field) => field.key)
      .filter((key) => !kPlaced.has(key) && this.#applies(key));
    // Closed at first: nothing of it is needed for the first answer.
    const shown = this.store.core.is_complete ? keys : [];
    return html`<details class="advanced">
      <summary><b>${t("groups.advanced")}</b> ${t("groups.advanced_hint")}</summary>
      ${shown.map((key) => this.#field(key))}
    </details>`;
  }

  #field(key: string): TemplateResult {
    const info = this.store.fields.get(key);
    if (info?.kind === "option" || info?.kind === "text") {
      // The rule of thumb has none.
      void import("../option-field/option_field");
      return html`<vg-option-field
        .store=${this.store}
        .key=${key}
        data-key=${key}
      ></vg-option-field>`;
    }
    const kind = info?.list;
    if (kind === undefined)
      return html`<vg-number-field
        .store=${this.store}
        .key=${key}
        data-key=${key}
      ></vg-number-field>`;
    if (kShortLists.includes(kind))
      return html`<vg-choice-field
        .store=${this.store}
        .key=${key}
        .kind=${kind}
        data-key=${key}
      ></vg-choice-field>`;
    return html`<vg-search-field
        .store=${this.store}
        .key=${key}
        .kind=${kind}
        .below=${this.#below(key)}
        .label_override=${key === "model" ? this.#custom_name() : undefined}
        data-key=${key}
      ></vg-search-field>
      ${key === "model" ? this.#below_model() : nothing}
      ${key === "gpu" ? html`<vg-probe-panel .store=${this.store}></vg-probe-panel>` : nothing}`;
  }

  #below_model(): TemplateResult {
    return html`<vg-model-note .store=${this.store}></vg-model-note
      ><vg-import-panel
        .store=${this.store}
        @probe=${(event: CustomEvent<string>) => void this.#take_probe(event.detail)}
      ></vg-import-panel>`;
  }

  #below(key: string): string | undefined {
    const estimate = this.store.estimate;
    if (!estimate) return undefined;
    if (key === "weight_format") return this.#bits(estimate.weights);
    return key === "gpu" ? this.#memory(estimate.devices[0]) : undefined;
  }

  #bits({ total_bytes, elements }: WeightsSummary): string | undefined {
    return elements > 0
      ? t("units.bits_per_weight", { bits: this.store.format.tick((8 * total_bytes) / elements) })
      : undefined;
  }

  #memory(device: DeviceBreakdown | undefined): string | undefined {
    if (!device) return undefined;
    const format = this.store.format;
    return t("units.usable_of", {
      usable: format.size(device.usable_bytes, 2),
      capacity: format.size(device.capacity_bytes, 2),
    });
  }

  #custom_name(): string | undefined {
    if (this.store.given["model_config"] === undefined) return undefined;
    const model = this.store.estimate?.model;
    const total = model?.parameters.total;
    const size = total && t("model.parameters", { count: this.store.format.parameters(total) });
    return t("model.custom", { name: model?.name || size || t("model.custom_unnamed") });
  }

  /** A field is shown when the engine has it and its name is there; the memory of a GPU only where the GPU is a custom one. */
  #applies(key: string): boolean {
    const info = this.store.fields.get(key);
    if (!info) return false;
    if (key === "gpu_memory_gib") return this.store.value("gpu") === "custom";
    const engine = this.store.value("engine");
    const engines = info.engines ?? [];
    return has_name(engines) && (engines.length === 0 || engines.some((name) => name === engine));
  }
}

customElements.define("vg-inputs", Inputs);

declare global {
  interface HTMLElementTagNameMap {
    "vg-inputs": Inputs;
  }
}
