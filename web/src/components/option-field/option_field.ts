import { html, type TemplateResult } from "lit";
import { t, t_core } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { chevron, field_shell, field_styles, select_styles } from "../field/field";
import { StoreElement } from "../store_element";

/** One of a few words, or free text such as a list of shares. */
export class OptionField extends StoreElement {
  static override properties = { ...StoreElement.properties, key: {} };
  static override shadowRootOptions = { ...StoreElement.shadowRootOptions, delegatesFocus: true };
  static override styles = [base_styles, field_styles, select_styles];
  declare key: string;

  protected override render(): TemplateResult {
    const options = this.store.fields.get(this.key)?.options;
    return field_shell({
      key: this.key,
      help: t(`field_help.${this.key}`),
      finding: this.store.finding_at(this.key),
      control: options ? this.#select(options) : this.#text(),
    });
  }

  #select(options: string[]): TemplateResult {
    return html`<select
        id="control"
        aria-describedby="about"
        aria-invalid=${this.#invalid()}
        @change=${(event: Event) => this.#set((event.target as HTMLSelectElement).value)}
      >
        ${options.map(
          (option) =>
            html`<option value=${option} .selected=${option === this.#value()}>
              ${t_core("options", option)}
            </option>`,
        )}
      </select>
      ${chevron}`;
  }

  #text(): TemplateResult {
    return html`<input
      id="control"
      type="text"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="about"
      aria-invalid=${this.#invalid()}
      placeholder=${t(`unset.${this.key}`)}
      .value=${this.#value()}
      @change=${(event: Event) => this.#set((event.target as HTMLInputElement).value.trim())}
    />`;
  }

  #value(): string {
    const value = this.store.value(this.key);
    return typeof value === "string" ? value : "";
  }

  #invalid(): "true" | "false" {
    return this.store.error_at(this.key) ? "true" : "false";
  }

  #set(value: string): void {
    this.store.set(this.key, value === "" ? undefined : value);
  }
}

customElements.define("vg-option-field", OptionField);

declare global {
  interface HTMLElementTagNameMap {
    "vg-option-field": OptionField;
  }
}
