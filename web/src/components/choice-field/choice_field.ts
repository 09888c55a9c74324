import { html, type TemplateResult } from "lit";
import type { CatalogueItem, CatalogueKind } from "../../core/types";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { chevron, field_shell, field_styles, select_styles } from "../field/field";
import { StoreElement } from "../store_element";

/** One of a short list: the browser's own select. */
export class ChoiceField extends StoreElement {
  static override properties = { ...StoreElement.properties, key: {}, kind: {} };
  static override shadowRootOptions = { ...StoreElement.shadowRootOptions, delegatesFocus: true };
  static override styles = [base_styles, field_styles, select_styles];
  declare key: string;
  declare kind: CatalogueKind;

  protected override render(): TemplateResult {
    const error = this.store.error_at(this.key);
    const current = this.#current();
    const control = html`<select
        id="control"
        aria-describedby="about"
        aria-invalid=${error ? "true" : "false"}
        @change=${(event: Event) => this.#choose((event.target as HTMLSelectElement).value)}
      >
        ${this.#items(current).map(
          (item) =>
            html`<option
              value=${item.id}
              .selected=${item.id === current}
              ?disabled=${item["refused"] !== undefined}
            >
              ${this.#name(item)}
            </option>`,
        )}
      </select>
      ${chevron}`;
    return field_shell({ key: this.key, finding: this.store.finding_at(this.key), control });
  }

  #choose(id: string): void {
    this.store.set(this.key, id === "" ? undefined : id);
  }

  /** The V cache follows K until it is set apart; the empty choice stands for that. */
  #follows(): boolean {
    return this.key === "cache_type_v";
  }

  #current(): string {
    const value = this.#follows() ? this.store.given[this.key] : this.store.value(this.key);
    return typeof value === "string" ? value : "";
  }

  #items(current: string): CatalogueItem[] {
    const items = this.store.lists.whole(this.kind);
    const first = this.#follows() ? [{ id: "", name: t("choices.same_as_k") }] : [];
    const known = current === "" || items.some((item) => item.id === current);
    return [...first, ...items, ...(known ? [] : [{ id: current, name: current }])];
  }

  #name(item: CatalogueItem): string {
    return this.kind === "engines" && item.id === "generic" ? t("choices.generic") : item.name;
  }
}

customElements.define("vg-choice-field", ChoiceField);
