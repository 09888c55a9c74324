import { css, html, nothing, type TemplateResult } from "lit";
import type { Diag } from "../../core/types";
import { kGibBytes } from "../../format/format";
import { add_texts, diag_text, t, type LaterTexts } from "../../i18n/i18n";
import { add_probe, held_gib, read_probe, type Probe } from "../../state/measured_gpus";
import { findings_of } from "../../state/own_catalogue";
import { base_styles, button_styles } from "../../styles/shared";
import { body_styles } from "../import-body/body_styles";
import { StoreElement } from "../store_element";

const kTexts: LaterTexts = {
  en: () => import("../../i18n/probe.en.json"),
  "zh-CN": () => import("../../i18n/probe.zh-CN.json"),
};

export const load_probe_texts = (): Promise<void> => add_texts(kTexts);

type Outcome = { kind: "idle" } | { kind: "taken"; probe: Probe } | { kind: "refused"; findings: Diag[] };

/** Takes what `vramgauge probe --json` wrote, pasted or from a file: its cards become cards of the page. */
export class ProbeBody extends StoreElement {
  static override properties = {
    ...StoreElement.properties,
    text: { state: true },
    outcome: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    body_styles,
    css`
      code {
        font: 11px var(--font-mono);
      }
      table {
        width: 100%;
        border-collapse: collapse;
      }
      th,
      td {
        padding: 2px 0 2px 8px;
        font-weight: 400;
        text-align: end;
        white-space: nowrap;
      }
      th:first-child {
        padding-left: 0;
        text-align: start;
        white-space: normal;
      }
      thead th {
        color: var(--ink-2);
      }
      .error {
        color: var(--bad);
      }
    `,
  ];
  declare text: string;
  declare outcome: Outcome;

  constructor() {
    super();
    this.text = "";
    this.outcome = { kind: "idle" };
  }

  take(text: string): void {
    this.text = text;
    if (text.trim() === "") {
      this.outcome = { kind: "idle" };
      return;
    }
    try {
      const probe = read_probe(text);
      add_probe(this.store.core, probe, t("probe.measured"));
      this.outcome = { kind: "taken", probe };
      this.store.renew_catalogue();
      this.store.set_all(probe.scenario_patch);
    } catch (failure) {
      this.outcome = { kind: "refused", findings: findings_of(failure) };
    }
  }

  protected override render(): TemplateResult {
    return html`<section class="panel" aria-labelledby="title">
      <div>
        <h3 id="title">${t("probe.title")}</h3>
        <p>${t("probe.lead")} <code>vramgauge probe --json</code></p>
        <label class="visually-hidden" for="text">${t("probe.label")}</label>
        <textarea
          id="text"
          spellcheck="false"
          placeholder=${t("probe.placeholder")}
          aria-describedby="status"
          aria-invalid=${this.outcome.kind === "refused"}
          .value=${this.text}
          @input=${(event: InputEvent) => this.take((event.target as HTMLTextAreaElement).value)}
        ></textarea>
        <p class="row">
          <button class="button" @click=${this.#choose}>${t("probe.choose")}</button>
          <span class="quiet">${t("probe.drop")}</span>
        </p>
        <input type="file" accept=".json,application/json" hidden @change=${this.#on_file} />
        <div id="status" class="status" role="status">${this.#status()}</div>
      </div>
    </section>`;
  }

  #status(): TemplateResult | typeof nothing {
    const { outcome } = this;
    if (outcome.kind === "idle") return nothing;
    if (outcome.kind === "refused")
      return html`${outcome.findings.map((finding) => html`<p class="error">${diag_text(finding).message}</p>`)}`;
    const { format } = this.store;
    return html`<table>
        <thead>
          <tr>
            <th scope="col">${t("probe.card")}</th>
            <th scope="col">${t("probe.usable")}</th>
            <th scope="col">${t("probe.free")}</th>
          </tr>
        </thead>
        <tbody>
          ${outcome.probe.devices.map(
            ({ index, name, usable_bytes, free_bytes }) =>
              html`<tr data-device=${index}>
                <th scope="row">${index} · ${name}</th>
                <td title=${format.exact(usable_bytes)}>${format.size(usable_bytes, 2)}</td>
                <td title=${format.exact(free_bytes)}>${format.size(free_bytes, 2)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${this.#held(outcome.probe)}
      <p class="quiet">${t("probe.note")}</p>`;
  }

  /** What others held then stays theirs only if the user says so: they may be gone when it counts. */
  #held(probe: Probe): TemplateResult | typeof nothing {
    const gib = held_gib(probe);
    if (gib === 0 || Number(this.store.value("held_gib")) === gib) return nothing;
    return html`<p>
      <button class="button" @click=${() => this.store.set_all({ held_gib: gib })}>
        ${t("probe.held", { size: this.store.format.size(gib * kGibBytes, 2) })}
      </button>
    </p>`;
  }

  readonly #choose = (): void =>
    this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click();

  readonly #on_file = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    input.value = "";
    if (file) void file.text().then((text) => this.take(text));
  };
}

customElements.define("vg-probe-body", ProbeBody);
