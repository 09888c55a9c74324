import { LitElement, type PropertyDeclarations } from "lit";
import { use_language } from "../i18n/i18n";
import type { Store } from "../state/store";

/** A component that shows the store and renders again whenever it changes. */
export abstract class StoreElement extends LitElement {
  static override properties: PropertyDeclarations = { store: { attribute: false } };
  declare store: Store;

  readonly #on_change = (): void => this.requestUpdate();
  #subscribed: Store | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#subscribe();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#subscribed?.removeEventListener("change", this.#on_change);
    this.#subscribed = null;
  }

  protected override willUpdate(): void {
    this.#subscribe();
    // Elements on a foreign page may each have a language of their own.
    if (this.store) use_language(this.store.language);
  }

  #subscribe(): void {
    if (this.#subscribed === this.store) return;
    this.#subscribed?.removeEventListener("change", this.#on_change);
    this.store?.addEventListener("change", this.#on_change);
    this.#subscribed = this.store;
  }
}
