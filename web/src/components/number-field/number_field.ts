import { html, type TemplateResult } from "lit";
import { compact_tokens, field_text, parse_decimal, parse_integer } from "../../format/format";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { field_shell, field_styles } from "../field/field";
import { StoreElement } from "../store_element";

/** What stands behind the number, where the core's unit alone would not say enough. */
const kNotes: Record<string, string> = { prefill_batch: "sequences", live_buffers: "buffers" };

/** Fields in which 0 says that nothing is set. */
const kUnsetAtZero = new Set([
  "gpu_memory_gib",
  "host_ram_gib",
  "live_buffers",
  "lora_gib",
  "prefill_batch",
  "prefill_tokens",
  "projector_gib",
]);

/** A number that may be typed as 8k, 128K or 1M. While it has the focus its text belongs to the typist. */
export class NumberField extends StoreElement {
  static override properties = { ...StoreElement.properties, key: {} };
  static override shadowRootOptions = { ...StoreElement.shadowRootOptions, delegatesFocus: true };
  static override styles = [base_styles, field_styles];
  declare key: string;

  #text = "";
  #focused = false;

  protected override willUpdate(): void {
    super.willUpdate();
    if (!this.#focused && this.store.error_at(this.key)?.code !== "page.not_a_number")
      this.#text = this.#shown_text();
  }

  protected override render(): TemplateResult {
    const error = this.store.error_at(this.key);
    const control = html`<input
        id="control"
        type="text"
        inputmode=${this.#is_tokens() ? "text" : "decimal"}
        autocomplete="off"
        spellcheck="false"
        aria-describedby="about unit"
        aria-invalid=${error ? "true" : "false"}
        placeholder=${this.#unset_text()}
        .value=${this.#text}
        @focus=${() => (this.#focused = true)}
        @input=${this.#on_input}
        @blur=${this.#on_blur}
      /><span id="unit" class="note">${this.#note()}</span>`;
    return field_shell({
      key: this.key,
      help: this.#help(),
      finding: this.store.finding_at(this.key),
      control,
    });
  }

  readonly #on_input = (event: InputEvent): void => {
    this.#text = (event.target as HTMLInputElement).value;
    const text = this.#text.trim();
    if (text === "") return this.store.set(this.key, undefined);
    const value = this.#parse(text);
    if (value === null) this.store.set_unreadable(this.key, text);
    else this.store.set(this.key, value);
  };

  readonly #on_blur = (): void => {
    this.#focused = false;
    this.requestUpdate();
  };

  #parse(text: string): number | null {
    return this.store.fields.get(this.key)?.kind === "integer"
      ? parse_integer(text)
      : parse_decimal(text);
  }

  #shown_text(): string {
    const value = this.store.value(this.key);
    if (typeof value !== "number" || (value === 0 && kUnsetAtZero.has(this.key))) return "";
    return field_text(value, this.#is_tokens());
  }

  /** What an empty field stands for. */
  #unset_text(): string {
    return kUnsetAtZero.has(this.key) ? t(`unset.${this.key}`) : this.#default_text();
  }

  #default_text(): string {
    const value = this.store.fields.get(this.key)?.default;
    return typeof value === "number" ? field_text(value, this.#is_tokens()) : "";
  }

  #is_tokens(): boolean {
    return this.store.fields.get(this.key)?.unit === "tokens";
  }

  #note(): string {
    const value = this.store.value(this.key);
    if (this.#is_tokens()) {
      if (this.store.error_at(this.key)) return t("units.tokens");
      const folded = typeof value === "number" && compact_tokens(value) !== null;
      return folded
        ? t("units.tokens_exact", { count: this.store.format.integer(value) })
        : t("units.tokens");
    }
    const unit = kNotes[this.key] ?? this.store.fields.get(this.key)?.unit ?? "none";
    return unit === "none" ? "" : t(`units.${unit}`, { count: Number(value) });
  }

  #help(): string | undefined {
    const help = t(`field_help.${this.key}`);
    return help.startsWith("field_help.") ? undefined : help;
  }
}

customElements.define("vg-number-field", NumberField);
