import { html, nothing, type TemplateResult } from "lit";
import type { Replicas, Traffic } from "../../core/plan_types";
import type { Envelope, Scenario } from "../../core/types";
import { parse_decimal, parse_integer } from "../../format/format";
import { diag_text, t } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { plan_texts } from "../plan_texts";
import { Planned } from "../planned";
import { traffic_styles } from "./traffic_styles";

type InputKey =
  "requests_per_s" | "duration_s" | "prompt_mean" | "prompt_p99" | "output_mean" | "output_p99";

const kInputs: readonly InputKey[] = [
  "requests_per_s",
  "duration_s",
  "prompt_mean",
  "prompt_p99",
  "output_mean",
  "output_p99",
];
const kRates: readonly InputKey[] = ["requests_per_s", "duration_s"];

/** Traffic to live tokens to replicas, and what paging saves over a fixed reservation. */
export class TrafficPanel extends Planned<Traffic> {
  static override properties = { ...Planned.properties, texts: { state: true } };
  static override styles = [base_styles, panel_styles, traffic_styles];
  /** What the fields say, as typed. */
  declare texts: Record<InputKey, string>;

  constructor() {
    super();
    this.texts = {
      requests_per_s: "2",
      duration_s: "20",
      prompt_mean: "2K",
      prompt_p99: "16K",
      output_mean: "400",
      output_p99: "2K",
    };
  }

  protected override plan(scenario: Scenario): Promise<Envelope<Traffic>> {
    const number = (key: InputKey): number => this.#number(key) ?? 1;
    return this.ask("traffic", {
      scenario,
      requests_per_s: number("requests_per_s"),
      duration_s: number("duration_s"),
      prompt_tokens: { mean: number("prompt_mean"), p99: number("prompt_p99") },
      output_tokens: { mean: number("output_mean"), p99: number("output_p99") },
    });
  }

  #number(key: InputKey): number | null {
    const text = this.texts[key];
    return kRates.includes(key) ? parse_decimal(text) : parse_integer(text);
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("traffic.title")}</h2>
      <p class="lead">${t("traffic.lead")}</p>
      <div class="inputs">${kInputs.map((key) => this.#input(key))}</div>
      ${this.reply ? this.#answer(this.reply) : nothing}
    </section>`;
  }

  #input(key: InputKey): TemplateResult {
    const is_bad = this.#number(key) === null;
    return html`<label>
      ${t(`traffic.inputs.${key}`)}
      <input
        inputmode="decimal"
        .value=${this.texts[key]}
        aria-invalid=${is_bad}
        @input=${(event: Event) => this.#on_input(key, (event.target as HTMLInputElement).value)}
      />
    </label>`;
  }

  #on_input(key: InputKey, text: string): void {
    this.texts = { ...this.texts, [key]: text };
    if (kInputs.every((each) => this.#number(each) !== null)) this.plan_again();
  }

  #answer(reply: Envelope<Traffic>): TemplateResult {
    if (!reply.ok) return html`<p class="bad">${diag_text(reply.errors[0]!).message}</p>`;
    const { format } = this.store;
    const traffic = reply.result;
    const count = (value: number): string => format.integer(value);
    return html`<div ?data-stale=${this.pending || this.store.stale}>
      <p>
        ${t("traffic.live", {
          requests: count(traffic.live_requests),
          tokens: count(traffic.live_tokens),
        })}
      </p>
      <table>
        <thead>
          <tr>
            <td></td>
            <th scope="col">${t("traffic.tokens")}</th>
            <th scope="col">${t("traffic.held")}</th>
            <th scope="col">${t("traffic.replicas")}</th>
          </tr>
        </thead>
        <tbody>
          ${this.#row("mean", traffic.mean)} ${this.#row("p99", traffic.p99)}
          ${this.#row("static", traffic.static)}
        </tbody>
      </table>
      <p class="quiet">
        ${t("traffic.waste", {
          static: format.share(traffic.static_waste_frac, 1),
          paged: format.share(traffic.paged_waste_frac, 1) || "0 %",
          saved: count(traffic.static_tokens - traffic.paged_tokens),
        })}
      </p>
      ${how("traffic")}
    </div>`;
  }

  #row(id: "mean" | "p99" | "static", replicas: Replicas): TemplateResult {
    const { format } = this.store;
    const number = replicas.replicas;
    return html`<tr data-row=${id}>
      <th scope="row">${t(`traffic.rows.${id}`)}</th>
      <td>${format.integer(replicas.tokens_per_request)}</td>
      <td>${format.integer(replicas.requests_per_replica)}</td>
      <td class="replicas">${number === null ? t("inverse.nothing") : format.integer(number)}</td>
    </tr>`;
  }
}

customElements.define("vg-traffic", TrafficPanel);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-traffic .store=${store}></vg-traffic>`,
};
