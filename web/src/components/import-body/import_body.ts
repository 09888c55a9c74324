import { html, nothing, type TemplateResult } from "lit";
import { page_error } from "../../core/client";
import type { Diag, Scenario } from "../../core/types";
import { add_texts, t, type LaterTexts } from "../../i18n/i18n";
import type { Variant } from "../../import/choose";
import { lone_config, readable_files } from "../../import/chosen_files";
import { open_model_reader } from "../../import/core_reader";
import { as_failure } from "../../import/failure";
import { ImportTask, type HubRequest } from "../../import/task";
import { is_probe } from "../../state/measured_gpus";
import { base_styles, button_styles } from "../../styles/shared";
import "../hub-form/hub_form";
import "../import-status/import_status";
import type { Outcome } from "../import-status/import_status";
import { StoreElement } from "../store_element";
import { body_styles } from "./body_styles";

const kTexts: LaterTexts = {
  en: () => import("../../i18n/import.en.json"),
  "zh-CN": () => import("../../i18n/import.zh-CN.json"),
};

/** A config.json has a few kilobytes, some with long lists a few hundred. */
const kMaxConfigBytes = 8 * 2 ** 20;

/** What an import came from: its outcome stands right there. */
type Origin = "hub" | "files" | "paste";

export const load_import_texts = (): Promise<void> => add_texts(kTexts);

/** Reads a model from a hub, from files or from a pasted configuration. */
export class ImportBody extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    origin: { state: true },
    text: { state: true },
    outcome: { state: true },
  };
  static override styles = [base_styles, button_styles, body_styles];
  declare origin: Origin;
  declare text: string;
  declare outcome: Outcome;

  readonly #task = new ImportTask(() => open_model_reader(this.store));

  constructor() {
    super();
    this.origin = "hub";
    this.text = "";
    this.outcome = { kind: "idle" };
    this.#task.addEventListener("change", this.#on_change);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#task.cancel();
  }

  /** Reads chosen or dropped files: a configuration alone as text, everything else by its headers. */
  async read_files(files: readonly File[]): Promise<void> {
    this.#begin("files");
    const config = lone_config(files);
    if (config) return this.#read_config(config);
    try {
      await this.#task.read_files(readable_files(files));
    } catch (thrown) {
      this.outcome = { kind: "failed", failure: as_failure(thrown) };
    }
  }

  protected override render(): TemplateResult {
    return html`<div class="panel">
      <section aria-labelledby="hub-title">
        <h3 id="hub-title">${t("hub.title")}</h3>
        <vg-hub-form .store=${this.store} @read=${this.#on_read}></vg-hub-form>
        ${this.#status("hub")}
      </section>
      <section aria-labelledby="files-title">
        <h3 id="files-title">${t("files.title")}</h3>
        <p class="row">
          <button class="button" @click=${this.#choose_files}>${t("files.choose")}</button>
          <span class="quiet">${t("files.drop")}</span>
        </p>
        <p class="quiet">${t("files.note")}</p>
        <input id="file" type="file" multiple hidden @change=${this.#on_files} />
        ${this.#status("files")}
      </section>
      <section aria-labelledby="paste-title">
        <h3 id="paste-title">${t("paste.title")}</h3>
        <label class="visually-hidden" for="text">${t("paste.label")}</label>
        <textarea
          id="text"
          spellcheck="false"
          placeholder=${t("paste.placeholder")}
          aria-describedby="status-paste"
          aria-invalid=${this.origin === "paste" && this.outcome.kind === "refused"}
          .value=${this.text}
          @input=${this.#on_text}
        ></textarea>
        ${this.#status("paste")}
      </section>
    </div>`;
  }

  #status(origin: Origin): TemplateResult {
    return html`<div
      id="status-${origin}"
      class="status"
      role="status"
      tabindex="-1"
      aria-busy=${this.origin === origin && this.outcome.kind === "reading"}
    >
      ${
        this.origin === origin
          ? html`<vg-import-status
              .store=${this.store}
              .outcome=${this.outcome}
              @cancel=${this.#on_cancel}
              @choose=${this.#on_choose}
            ></vg-import-status>`
          : nothing
      }
    </div>`;
  }

  #begin(origin: Origin): void {
    this.#task.reset();
    this.origin = origin;
    this.text = "";
  }

  readonly #on_change = (): void => {
    this.outcome = this.#task.state;
    if (this.outcome.kind === "done") this.#use(this.outcome.result.scenario_patch);
  };

  readonly #on_read = (event: CustomEvent<HubRequest>): void => {
    this.#begin("hub");
    void this.#task.read_hub(event.detail);
  };

  readonly #on_cancel = (): void => {
    this.#keep_focus();
    this.#task.cancel();
  };

  readonly #on_choose = (event: CustomEvent<Variant>): void => {
    this.#keep_focus();
    void this.#task.choose(event.detail);
  };

  /** The button that was pressed goes away: the focus stays where it stood. */
  #keep_focus(): void {
    this.renderRoot.querySelector<HTMLElement>(`#status-${this.origin}`)?.focus();
  }

  readonly #choose_files = (): void =>
    this.renderRoot.querySelector<HTMLInputElement>("#file")?.click();

  readonly #on_files = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const files = [...(input.files ?? [])];
    input.value = "";
    if (files.length > 0) void this.read_files(files);
  };

  readonly #on_text = (event: InputEvent): void => {
    const { value } = event.target as HTMLTextAreaElement;
    this.#begin("paste");
    void this.#take(value, undefined);
  };

  async #read_config(file: File): Promise<void> {
    if (file.size > kMaxConfigBytes) {
      const { format } = this.store;
      const sizes = {
        size: format.small_size(file.size),
        limit: format.small_size(kMaxConfigBytes),
      };
      this.#refuse(page_error("page.file_too_large", "", sizes).errors);
      return;
    }
    await this.#take(await file.text(), file.name.replace(/\.json$/i, ""));
  }

  async #take(text: string, name: string | undefined): Promise<void> {
    this.text = text;
    if (text.trim() === "") return;
    if (is_probe(text)) return this.#pass_on(text);
    const reply = await this.store.core.ask("import", { text, ...(name && { name }) });
    // Something else has been typed or given meanwhile.
    if (this.text !== text) return;
    if (!reply.ok) return this.#refuse(reply.errors);
    this.outcome = { kind: "taken", result: reply.result };
    this.#use(reply.result.scenario_patch);
  }

  /** What is no model but a measured machine goes to those who know it. */
  #pass_on(text: string): void {
    this.text = "";
    this.outcome = { kind: "idle" };
    this.dispatchEvent(new CustomEvent("probe", { detail: text, bubbles: true, composed: true }));
  }

  #refuse(findings: Diag[]): void {
    this.outcome = { kind: "refused", findings };
  }

  #use(patch: Scenario): void {
    this.store.set_all(patch);
  }
}

customElements.define("vg-import-body", ImportBody);
