import { css, html, nothing, type TemplateResult } from "lit";
import { page_error } from "../../core/client";
import type { Diag } from "../../core/types";
import { diag_text, t, type LaterTexts } from "../../i18n/i18n";
import { add_catalogue, findings_of, kMaxBytes, type Counts } from "../../state/own_catalogue";
import { base_styles, button_styles } from "../../styles/shared";
import type { LaterPart } from "../later/later";
import { StoreElement } from "../store_element";

const kTexts: LaterTexts = {
  en: () => import("../../i18n/catalogue.en.json"),
  "zh-CN": () => import("../../i18n/catalogue.zh-CN.json"),
};

type Outcome =
  | { kind: "idle" }
  | { kind: "reading"; name: string }
  | { kind: "added"; name: string; counts: Counts }
  | { kind: "refused"; findings: Diag[] };

/** Adds a catalogue of one's own from a file. */
export class OwnCataloguePanel extends StoreElement {
  static override properties = { ...StoreElement.properties, outcome: { state: true } };
  static override styles = [
    base_styles,
    button_styles,
    css`
      .panel {
        display: grid;
        gap: 8px;
        justify-items: center;
        max-width: 64ch;
        margin: 12px auto 4px;
        color: var(--ink-2);
        text-align: center;
      }
      h2 {
        color: var(--ink);
        font-size: 13px;
        font-weight: 600;
      }
      .added {
        color: var(--good);
      }
      ul {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .error {
        color: var(--bad);
      }
      code {
        font: 11px var(--font-mono);
        overflow-wrap: anywhere;
      }
    `,
  ];
  declare outcome: Outcome;

  constructor() {
    super();
    this.outcome = { kind: "idle" };
  }

  protected override render(): TemplateResult {
    return html`<section class="panel" aria-labelledby="title">
      <h2 id="title">${t("own_catalogue.title")}</h2>
      <p>${t("own_catalogue.lead")}</p>
      <button class="button" @click=${this.#choose}>${t("own_catalogue.choose")}</button>
      <input id="catalogue-file" type="file" accept=".json,application/json" hidden @change=${this.#on_file} />
      <div role="status">${this.#outcome()}</div>
    </section>`;
  }

  #outcome(): TemplateResult | typeof nothing {
    const { outcome } = this;
    if (outcome.kind === "idle") return nothing;
    if (outcome.kind === "reading")
      return html`<p>${t("own_catalogue.reading", { name: outcome.name })}</p>`;
    if (outcome.kind === "refused")
      return html`<ul>
        ${outcome.findings.map((finding) => this.#finding(finding))}
      </ul>`;
    const lists = Object.entries(outcome.counts)
      .map(([list, n]) => t(`own_catalogue.lists.${list}`, { count: n, n: this.store.format.integer(n) }))
      .join(", ");
    return html`<p class="added">${t("own_catalogue.added", { name: outcome.name, lists })}</p>`;
  }

  #finding(finding: Diag): TemplateResult {
    const { message, hint } = diag_text(finding);
    return html`<li>
      <span class="error">${message}</span> ${hint}
      ${finding.path === "" ? nothing : html`<code>${finding.path}</code>`}
    </li>`;
  }

  readonly #choose = (): void =>
    this.renderRoot.querySelector<HTMLInputElement>("#catalogue-file")?.click();

  readonly #on_file = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    input.value = "";
    if (file) void this.#read(file);
  };

  async #read(file: File): Promise<void> {
    const { format, core } = this.store;
    if (file.size > kMaxBytes) {
      const sizes = {
        size: format.small_size(file.size),
        limit: format.small_size(kMaxBytes),
      };
      this.outcome = {
        kind: "refused",
        findings: page_error("page.file_too_large", "", sizes).errors,
      };
      return;
    }
    this.outcome = { kind: "reading", name: file.name };
    try {
      const counts = await add_catalogue(core, await file.text());
      this.outcome = { kind: "added", name: file.name, counts };
      this.store.renew_catalogue();
    } catch (failure) {
      this.outcome = { kind: "refused", findings: findings_of(failure) };
    }
  }
}

customElements.define("vg-own-catalogue", OwnCataloguePanel);

export const part: LaterPart = {
  texts: kTexts,
  view: (store) => html`<vg-own-catalogue .store=${store}></vg-own-catalogue>`,
};
