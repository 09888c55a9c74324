import { html, nothing, type TemplateResult } from "lit";
import type { CatalogueItem, CatalogueKind } from "../../core/types";
import { t } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { field_shell, field_styles } from "../field/field";
import { StoreElement } from "../store_element";
import { extra_items, item_detail, item_name } from "./items";
import { search_styles } from "./search_styles";

const kShownItems = 60;

/** One of a long list, found by typing: a combobox with a list below it. */
export class SearchField extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    key: {},
    kind: {},
    below: {},
    label_override: {},
    query: { state: true },
    active: { state: true },
  };
  static override shadowRootOptions = { ...StoreElement.shadowRootOptions, delegatesFocus: true };
  static override styles = [base_styles, field_styles, search_styles];
  declare key: string;
  declare kind: CatalogueKind;
  /** What the choice comes to, below the field. */
  declare below: string | undefined;
  /** Text of the field where the value is not one of the list (a custom model). */
  declare label_override: string | undefined;
  /** What is typed; null while the list is closed. */
  declare query: string | null;
  declare active: number;

  #items: CatalogueItem[] = [];
  #total = 0;

  constructor() {
    super();
    this.query = null;
    this.active = 0;
  }

  protected override willUpdate(): void {
    super.willUpdate();
    if (this.query !== null) this.#find(this.query);
  }

  protected override render(): TemplateResult {
    const open = this.query !== null;
    const error = this.store.error_at(this.key);
    const control = html`<input
        id="control"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck="false"
        aria-autocomplete="list"
        aria-expanded=${open}
        aria-controls="list"
        aria-activedescendant=${open && this.#items.length > 0 ? `item-${this.active}` : nothing}
        aria-describedby="about"
        aria-invalid=${error ? "true" : "false"}
        placeholder=${(open && this.#selected_name()) || this.#unset_name() || nothing}
        .value=${this.query ?? this.#selected_name()}
        @input=${(event: InputEvent) => this.#open((event.target as HTMLInputElement).value)}
        @keydown=${this.#on_key}
        @click=${() => this.#open(this.query ?? "")}
        @focus=${(event: FocusEvent) => (event.target as HTMLInputElement).select()}
        @blur=${() => this.#close()}
      /><svg
        class="chevron"
        width="10"
        height="6"
        viewBox="0 0 10 6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        aria-hidden="true"
      >
        <path d="M1 1l4 4 4-4" />
      </svg>
      ${this.#list(open)}`;
    return field_shell({
      key: this.key,
      below: this.below,
      finding: this.store.finding_at(this.key),
      control,
    });
  }

  protected override updated(): void {
    this.renderRoot.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  #list(open: boolean): TemplateResult {
    return html`<div
      class="popup"
      ?hidden=${!open}
      @pointerdown=${(event: Event) => event.preventDefault()}
    >
      <ul id="list" role="listbox" aria-label=${t(`fields.${this.key}`)}>
        ${open ? this.#items.map((item, index) => this.#option(item, index)) : nothing}
      </ul>
      <p class="count" role="status">${open ? this.#count_text() : ""}</p>
    </div>`;
  }

  #option(item: CatalogueItem, index: number): TemplateResult {
    return html`<li
      id=${`item-${index}`}
      role="option"
      aria-selected=${index === this.active}
      data-id=${item.id}
      ?data-current=${item.id === this.store.value(this.key)}
      @click=${() => this.#choose(item)}
      @pointermove=${() => (this.active = index)}
    >
      <span class="name">${item_name(item)}</span>
      <span class="detail">${item_detail(this.kind, item, this.store.format)}</span>
    </li>`;
  }

  #count_text(): string {
    if (this.#items.length === 0) return t("choices.no_match", { query: this.query ?? "" });
    if (this.#items.length >= this.#total) return "";
    return t("choices.shown", { shown: this.#items.length, total: this.#total });
  }

  #find(query: string): void {
    const found = this.store.lists.search(this.kind, query, kShownItems);
    const extra = extra_items(this.kind, query, found.items);
    const unset = query === "" && this.#unset_name();
    if (unset) extra.unshift({ id: "", name: unset });
    this.#items = [...extra, ...found.items];
    this.#total = found.total + extra.length;
    this.active = Math.max(0, Math.min(this.active, this.#items.length - 1));
  }

  #selected_name(): string {
    if (this.label_override !== undefined) return this.label_override;
    const id = this.store.value(this.key);
    if (typeof id !== "string") return "";
    const item =
      extra_items(this.kind, "", []).find((extra) => extra.id === id) ??
      this.store.lists.item(this.kind, id);
    return item ? item_name(item) : id;
  }

  /** What an empty field stands for, where it may be empty. */
  #unset_name(): string {
    const may_be_empty = this.store.fields.get(this.key)?.default === "";
    return may_be_empty ? t(`unset.${this.key}`) : "";
  }

  #open(query: string): void {
    const fresh = this.query === null && query === "";
    this.query = query;
    this.#find(query);
    // An opened list starts at the present choice, a search at its best match.
    const current = this.#items.findIndex((item) => item.id === this.store.value(this.key));
    this.active = fresh ? Math.max(0, current) : 0;
  }

  #close(): void {
    this.query = null;
    // The text may differ from the last one rendered even though the value does not.
    const input = this.renderRoot.querySelector("input");
    if (input) input.value = this.#selected_name();
  }

  #choose(item: CatalogueItem): void {
    this.query = null;
    this.store.set(this.key, item.id || undefined);
  }

  readonly #on_key = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      if (this.query === null) this.#open("");
      else this.active = Math.max(0, Math.min(this.active + move, this.#items.length - 1));
    } else if (event.key === "Enter" && this.query !== null) {
      event.preventDefault();
      const item = this.#items[this.active];
      if (item) this.#choose(item);
    } else if (event.key === "Escape" && this.query !== null) {
      event.preventDefault();
      this.#close();
    }
  };
}

customElements.define("vg-search-field", SearchField);
