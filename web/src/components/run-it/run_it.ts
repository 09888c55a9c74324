import { css, html, nothing, type TemplateResult } from "lit";
import type { Command, GivenFlag, ParsedCommand } from "../../core/plan_types";
import type { Envelope, Scenario } from "../../core/types";
import { diag_text, t, t_core } from "../../i18n/i18n";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import type { LaterPart } from "../later/later";
import { Planned } from "../planned";
import { run_texts } from "../run_texts";
import { copy_text } from "../share/copy_text";
import { text_area_styles } from "./text_area";

const kCopiedMs = 1800;

/** The engine's own command line for the scenario, and the way back: a command line fills the form. */
export class RunIt extends Planned<Command> {
  static override properties = {
    ...Planned.properties,
    parsed: { state: true },
    copied: { state: true },
  };
  static override styles = [
    base_styles,
    button_styles,
    panel_styles,
    text_area_styles,
    css`
      .line {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 12px;
        align-items: start;
        padding: 10px 12px;
        border: 1px solid var(--border);
        border-radius: 8px;
        background: var(--surface);
      }
      .line + .line {
        margin-top: 8px;
      }
      pre {
        margin: 0;
        font: 12px/1.6 var(--font-mono);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      h3 {
        margin: 14px 0 4px;
        font-size: 12.5px;
        font-weight: 600;
      }
      dl {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        gap: 2px 12px;
        margin: 6px 0 0;
        font-size: 12px;
      }
      dt {
        color: var(--ink-2);
      }
      dd {
        margin: 0;
      }
    `,
  ];
  declare parsed: Envelope<ParsedCommand> | null;
  /** Which line has just been copied. */
  declare copied: number | null;

  constructor() {
    super();
    this.parsed = null;
    this.copied = null;
  }

  protected override plan(scenario: Scenario): Promise<Envelope<Command>> {
    return this.ask("command", { scenario });
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("run.title")}</h2>
      <div ?data-stale=${this.pending || this.store.stale}>${this.#command()}</div>
      <h3 id="paste-title">${t("run.paste")}</h3>
      <textarea
        rows="3"
        spellcheck="false"
        autocapitalize="off"
        aria-labelledby="paste-title"
        placeholder="vllm serve Qwen/Qwen3-8B --max-model-len 32768"
      ></textarea>
      <button class="button" @click=${this.#parse}>${t("run.fill")}</button>
      <div role="status">${this.#parsed()}</div>
    </section>`;
  }

  #command(): TemplateResult {
    const { reply } = this;
    if (!reply) return html`<p class="lead">${t("run.computing")}</p>`;
    if (!reply.ok) return html`<p class="lead">${diag_text(reply.errors[0]!).message}</p>`;
    const { lines, not_carried } = reply.result;
    return html`<p class="lead">${t("run.lead")}</p>
      ${lines.map(({ program, text }, i) => this.#line(program, text, i))}
      ${not_carried.length === 0
        ? nothing
        : html`<p class="quiet">
            ${t("run.not_carried", { fields: not_carried.map((key) => t_core("fields", key)).join(", ") })}
          </p>`}`;
  }

  #line(program: string, text: string, i: number): TemplateResult {
    return html`<div class="line" data-program=${program}>
      <pre tabindex="0" aria-label=${program}>${text}</pre>
      <button class="button" @click=${() => void this.#copy(text, i)}>
        ${this.copied === i ? t("run.copied") : t("run.copy")}
      </button>
    </div>`;
  }

  async #copy(text: string, i: number): Promise<void> {
    if (!(await copy_text(text))) return;
    this.copied = i;
    setTimeout(() => (this.copied = null), kCopiedMs);
  }

  readonly #parse = (): void => {
    const text = this.renderRoot.querySelector("textarea")?.value ?? "";
    if (text.trim() !== "") void this.#fill(text);
  };

  async #fill(text: string): Promise<void> {
    const reply = await this.store.core.ask("parse_command", { text });
    this.parsed = reply;
    if (reply.ok) this.store.set_all(reply.result.scenario_patch);
  }

  #parsed(): TemplateResult | typeof nothing {
    const { parsed } = this;
    if (!parsed) return nothing;
    if (!parsed.ok)
      return html`<p class="bad">${parsed.errors.map((error) => diag_text(error).message).join(" ")}</p>`;
    const { scenario_patch, unknown, ignored, not_modelled } = parsed.result;
    const set = Object.keys(scenario_patch).map((key) => t_core("fields", key));
    return html`<dl data-parsed>
        <dt>${t("run.set")}</dt>
        <dd>${set.join(", ")}</dd>
        ${this.#flags("unknown", unknown)} ${this.#flags("not_modelled", not_modelled)}
        ${this.#flags("ignored", ignored)}
      </dl>
      ${parsed.warnings.map((warning) => html`<p class="quiet">${diag_text(warning).message}</p>`)}`;
  }

  #flags(kind: string, flags: GivenFlag[]): TemplateResult | typeof nothing {
    if (flags.length === 0) return nothing;
    return html`<dt class=${kind === "unknown" ? "warn" : ""}>${t(`run.${kind}`)}</dt>
      <dd class="mono">
        ${flags.map(({ flag, value }) => (value === "" ? flag : `${flag} ${value}`)).join("  ")}
      </dd>`;
  }
}

customElements.define("vg-run-it", RunIt);

export const part: LaterPart = {
  texts: run_texts,
  view: (store) => html`<vg-run-it .store=${store}></vg-run-it>`,
};
