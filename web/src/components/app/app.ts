import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import type { Store } from "../../state/store";
import { t } from "../../i18n/i18n";
import { dropped_files } from "../../import/dropped_files";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";
import "../answers/answers";
import "../breakdown-table/breakdown_table";
import "../device-bar/device_bar";
import "../header/header";
import "../inputs/inputs";
import "../later/later";
import { notices_view } from "../notices/notices_view";
import "../remarks/remarks";
import { start_failure } from "../start-failure/start_failure";
import "../slim-verdict/slim_verdict";
import "../verdict/verdict";
import { app_styles } from "./app_styles";
import { kParts, load_own_catalogue } from "./parts";

/** The page: loading, failure, or the calculator. */
export class App extends LitElement {
  static override properties = { store: { attribute: false }, failure: { attribute: false } };
  static override styles = [
    base_styles,
    css`
      .failure {
        max-width: 60ch;
        margin: 15vh auto;
        padding: 0 16px;
      }
      h1 {
        font-size: 18px;
      }
    `,
  ];
  declare store: Store | undefined;
  declare failure: string | undefined;

  protected override render(): TemplateResult | typeof nothing {
    if (this.store) return html`<vg-calculator .store=${this.store}></vg-calculator>`;
    if (this.failure === undefined) return nothing;
    return start_failure(this.failure);
  }
}

/** The calculator: inputs beside the answer, or below the verdict where the page is narrow. */
export class Calculator extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    verdict_in_view: { state: true },
    dragging: { state: true },
    catalogue_open: { state: true },
  };
  static override styles = [base_styles, button_styles, app_styles];
  declare verdict_in_view: boolean;
  declare dragging: boolean;
  declare catalogue_open: boolean;

  #observer: IntersectionObserver | null = null;
  #leave_timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.verdict_in_view = true;
    this.dragging = false;
    this.catalogue_open = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("dragover", this.#on_drag_over);
    window.addEventListener("drop", this.#on_drop);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("dragover", this.#on_drag_over);
    window.removeEventListener("drop", this.#on_drop);
    this.#observer?.disconnect();
  }

  protected override firstUpdated(): void {
    this.#observer = new IntersectionObserver((entries) => {
      this.verdict_in_view = entries.at(-1)?.isIntersecting ?? true;
    });
    const sentinel = this.renderRoot.querySelector(".verdict-end");
    if (sentinel) this.#observer.observe(sentinel);
  }

  protected override render(): TemplateResult {
    const store = this.store;
    return html`
      <vg-header .store=${store}></vg-header>
      <vg-slim-verdict
        .store=${store}
        ?inert=${this.verdict_in_view}
        ?data-shown=${!this.verdict_in_view}
      ></vg-slim-verdict>
      <div class="layout">
        <aside aria-label=${t("app.inputs")}><vg-inputs .store=${store}></vg-inputs></aside>
        <main aria-label=${t("app.answer")}>
          <div class="head">
            ${notices_view(store)}
            <vg-verdict .store=${store}></vg-verdict>
            <div class="verdict-end"></div>
            <vg-device-bar .store=${store}></vg-device-bar>
            <vg-remarks .store=${store}></vg-remarks>
          </div>
          <div class="body">
            <vg-breakdown-table .store=${store}></vg-breakdown-table>
            <vg-answers .store=${store}></vg-answers>
            ${kParts.map(
              ({ id, load }) =>
                html`<vg-later .store=${store} .load=${load} data-part=${id}></vg-later>`,
            )}
          </div>
        </main>
      </div>
      <footer>
        <p>
          ${t("app.privacy")} ${t("app.version", { version: store.version })}
          <button
            class="text-button"
            aria-expanded=${this.catalogue_open}
            @click=${() => (this.catalogue_open = !this.catalogue_open)}
          >
            ${t("app.own_catalogue")}
          </button>
        </p>
        ${this.catalogue_open ? html`<vg-later .store=${store} .load=${load_own_catalogue}></vg-later>` : nothing}
      </footer>
      <div class="drop-veil" ?hidden=${!this.dragging} aria-hidden="true">
        ${t("import.drop_anywhere")}
      </div>
    `;
  }

  readonly #on_drag_over = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (!this.dragging) this.renderRoot.querySelector("vg-inputs")?.prepare_import();
    this.dragging = true;
    clearTimeout(this.#leave_timer);
    // dragleave fires for every child; the absence of dragover does not.
    this.#leave_timer = setTimeout(() => (this.dragging = false), 200);
  };

  readonly #on_drop = (event: DragEvent): void => {
    const transfer = event.dataTransfer;
    if (!transfer?.types.includes("Files")) return;
    event.preventDefault();
    this.dragging = false;
    this.renderRoot.querySelector("vg-inputs")?.import_files(dropped_files(transfer));
  };
}

customElements.define("vg-calculator", Calculator);
customElements.define("vg-app", App);

declare global {
  interface HTMLElementTagNameMap {
    "vg-app": App;
    "vg-calculator": Calculator;
  }
}
