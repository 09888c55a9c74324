import { css, html, nothing, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { kHubs, parse_base, parse_target } from "../../import/hub_target";
import type { HubRequest } from "../../import/task";
import { base_styles, button_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

const kOther = "other";

/** Which model to read from which hub. Dispatches "read" with a HubRequest; asks for nothing itself. */
export class HubForm extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    name: { state: true },
    hub: { state: true },
    address: { state: true },
    token: { state: true },
    with_token: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    css`
      form {
        display: grid;
        gap: 6px;
      }
      .row {
        display: flex;
        gap: 8px;
        align-items: center;
      }
      .choice {
        flex: 1;
        position: relative;
        min-width: 0;
      }
      .chevron {
        position: absolute;
        inset-inline-end: 10px;
        top: calc(50% - 3px);
        color: var(--ink-3);
        pointer-events: none;
      }
      input,
      select {
        flex: 1;
        width: 100%;
        min-width: 0;
        height: 30px;
        padding-inline: 10px;
        border: 1px solid var(--border);
        border-radius: 6px;
        background: var(--surface);
        color: var(--ink);
        font: inherit;
      }
      select {
        appearance: none;
        padding-inline-end: 28px;
        cursor: pointer;
      }
      input:hover,
      select:hover {
        border-color: var(--border-strong);
      }
      input::placeholder {
        color: var(--ink-3);
      }
      option {
        background: var(--surface);
        color: var(--ink);
      }
      .quiet {
        color: var(--ink-2);
      }
      @media (pointer: coarse) {
        /* Smaller text in a field makes some phones zoom into the page. */
        input,
        select {
          height: 36px;
          font-size: 16px;
        }
      }
    `,
  ];
  declare name: string;
  declare hub: string;
  declare address: string;
  declare token: string;
  declare with_token: boolean;

  constructor() {
    super();
    this.name = "";
    this.hub = kHubs[0];
    this.address = "";
    this.token = "";
    this.with_token = false;
  }

  protected override render(): TemplateResult {
    if (network_is_forbidden()) return html`<p class="quiet">${t("hub.no_network")}</p>`;
    return html`<form @submit=${this.#on_submit}>
      <div class="row">
        <input
          id="name"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          aria-label=${t("hub.name")}
          placeholder=${t("hub.placeholder")}
          .value=${this.name}
          @input=${(event: InputEvent) => (this.name = value_of(event))}
        />
        <button class="button primary">${t("hub.read")}</button>
      </div>
      <div class="row">${this.#hub_choice()} ${this.#token_opener()}</div>
      ${this.hub === kOther ? this.#address_field() : nothing}
      ${this.with_token ? this.#token_field() : nothing}
      <p class="quiet">${t("hub.note")}</p>
    </form>`;
  }

  #hub_choice(): TemplateResult {
    return html`<div class="choice">
      <select
        id="hub"
        aria-label=${t("hub.base")}
        @change=${(event: Event) => (this.hub = value_of(event))}
      >
        ${kHubs.map((hub) => html`<option value=${hub} .selected=${hub === this.hub}>${hub.replace("https://", "")}</option>`)}
        <option value=${kOther} .selected=${this.hub === kOther}>${t("hub.other")}</option>
      </select>
      <svg
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
    </div>`;
  }

  #address_field(): TemplateResult {
    return html`<input
      id="address"
      inputmode="url"
      autocomplete="off"
      spellcheck="false"
      aria-label=${t("hub.base_address")}
      placeholder=${t("hub.base_placeholder")}
      .value=${this.address}
      @input=${(event: InputEvent) => (this.address = value_of(event))}
    />`;
  }

  #token_opener(): TemplateResult {
    return html`<button
      type="button"
      class="text-button"
      aria-expanded=${this.with_token}
      @click=${this.#toggle_token}
    >
      ${t("hub.token")}
    </button>`;
  }

  #token_field(): TemplateResult {
    return html`<input
        id="token"
        type="password"
        autocomplete="off"
        aria-label=${t("hub.token")}
        aria-describedby="token-note"
        placeholder=${t("hub.token_placeholder")}
        .value=${this.token}
        @input=${(event: InputEvent) => (this.token = value_of(event))}
      />
      <p id="token-note" class="quiet">${t("hub.token_note", { host: this.#host() })}</p>`;
  }

  #base(): string {
    return this.hub === kOther ? this.address : this.hub;
  }

  /** Where the token would go: an address that is given whole names its own hub. */
  #host(): string {
    try {
      const base = parse_base(this.#base());
      const target = this.name.trim() === "" ? null : parse_target(this.name, base);
      return new URL(target === null ? base : target.kind === "file" ? target.url : target.base)
        .host;
    } catch {
      return this.#base();
    }
  }

  /** Folding the field away takes the token back. */
  readonly #toggle_token = async (): Promise<void> => {
    this.with_token = !this.with_token;
    this.token = "";
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLInputElement>("#token")?.focus();
  };

  readonly #on_submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (this.name.trim() === "") {
      this.renderRoot.querySelector<HTMLInputElement>("#name")?.focus();
      return;
    }
    const detail: HubRequest = { name: this.name, base: this.#base(), token: this.token };
    this.dispatchEvent(new CustomEvent("read", { detail }));
  };
}

function value_of(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

/** The one-file page comes with a policy that lets it ask nobody. */
function network_is_forbidden(): boolean {
  const policy = document.querySelector<HTMLMetaElement>(
    'meta[http-equiv="Content-Security-Policy"]',
  );
  return policy?.content.includes("connect-src 'none'") ?? false;
}

customElements.define("vg-hub-form", HubForm);

declare global {
  interface HTMLElementTagNameMap {
    "vg-hub-form": HubForm;
  }
}
