import { css, html, nothing, type TemplateResult } from "lit";
import type { Advice, Lever, LeverSet } from "../../core/plan_types";
import type { Envelope, Scenario } from "../../core/types";
import { diag_text, t, t_core } from "../../i18n/i18n";
import { field_value_text } from "../../format/field_value";
import { panel_styles } from "../../styles/panel";
import { base_styles, button_styles } from "../../styles/shared";
import { how } from "../derivation/how";
import type { LaterPart } from "../later/later";
import { Planned } from "../planned";
import { plan_texts } from "../plan_texts";

/** More levers than a reader weighs at once; the rest folds. */
const kShown = 6;

/** What can be changed, ranked by what it frees or gains, each to be applied at once. */
export class Levers extends Planned<Advice> {
  static override properties = { ...Planned.properties, all: { state: true } };
  static override styles = [
    base_styles,
    button_styles,
    panel_styles,
    css`
      li {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 92px 132px 64px;
        gap: 4px 16px;
        align-items: center;
        min-height: 48px;
        padding: 4px 0;
      }
      .name {
        font-size: 13.5px;
      }
      .set {
        grid-template-columns: minmax(0, 1fr) auto;
      }
      .apply {
        justify-self: end;
      }
      .crosses {
        margin-inline-start: 6px;
        font-size: 12px;
      }
      @media (max-width: 620px) {
        li {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .gain {
          grid-row: 2;
          text-align: start;
        }
        .freed {
          text-align: end;
        }
        .apply {
          grid-row: 2;
        }
      }
    `,
  ];
  declare all: boolean;

  constructor() {
    super();
    this.all = false;
  }

  protected override plan(scenario: Scenario): Promise<Envelope<Advice>> {
    return this.ask("advise", { scenario });
  }

  protected override render(): TemplateResult {
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("levers.title")}</h2>
      ${this.reply ? this.#answer(this.reply) : html`<p class="lead">${t("plan.computing")}</p>`}
    </section>`;
  }

  #answer(reply: Envelope<Advice>): TemplateResult {
    if (!reply.ok) return html`<p class="lead">${diag_text(reply.errors[0]!).message}</p>`;
    const { levers, combinations, before } = reply.result;
    const stale = this.pending || this.store.stale;
    if (levers.length === 0) return html`<p class="lead">${t("levers.none")}</p>`;
    const shown = this.all ? levers : levers.slice(0, kShown);
    return html`<p class="lead">
        ${t(`levers.lead_${before.state ?? "does_not_fit"}`)}
      </p>
      <ul class="rows" ?data-stale=${stale}>
        ${combinations.slice(0, 1).map((set) => this.#set(set, levers))}
        ${shown.map((lever) => this.#lever(lever))}
      </ul>
      ${levers.length > kShown
        ? html`<button class="text-button" @click=${() => (this.all = !this.all)}>
            ${this.all ? t("levers.fewer") : t("levers.more", { count: levers.length - kShown, n: levers.length - kShown })}
          </button>`
        : nothing}
      ${how("levers")}`;
  }

  #set(set: LeverSet, levers: Lever[]): TemplateResult {
    const names = set.levers
      .map((id) => levers.find((lever) => lever.id === id))
      .map((lever) => (lever ? this.#name(lever) : ""));
    return html`<li class="set" data-lever="set">
      <span class="name"><strong>${t("levers.cheapest")}</strong> ${names.join(" + ")}</span>
      ${this.#apply(set.scenario_patch, names.join(" + "))}
    </li>`;
  }

  #lever(lever: Lever): TemplateResult {
    const { format } = this.store;
    const name = this.#name(lever);
    return html`<li data-lever=${lever.id}>
      <span class="name">
        ${name} ${lever.flag === "" ? nothing : html`<code>${lever.flag}</code>`}
        ${lever.crosses ? html`<span class="crosses good">${t("levers.crosses")}</span>` : nothing}
        ${lever.caution === ""
          ? nothing
          : html`<br /><span class="quiet" title=${lever.source}
                >${t_core("levers.cautions", lever.caution)}</span
              >`}
      </span>
      <span class="freed number" title=${format.exact(lever.freed_bytes)}
        >${lever.freed_bytes > 0 ? `−${format.size(lever.freed_bytes)}` : "–"}</span
      >
      <span class="gain number quiet">${this.#gain(lever)}</span>
      ${this.#apply(lever.scenario_patch, name)}
    </li>`;
  }

  #name({ id, field, value }: Lever): string {
    return t(`levers.names.${id}`, { value: field_value_text(this.store, field, value) });
  }

  #gain({ gained_requests, gained_tokens }: Lever): string {
    const { format } = this.store;
    if (gained_requests !== null && gained_requests > 0)
      return t("levers.requests", { count: gained_requests, n: format.integer(gained_requests) });
    // Fewer tokens than a thousandth of a request are what is left over when requests are counted whole.
    if (gained_tokens !== null && gained_tokens * 1000 > Number(this.store.value("context_tokens")))
      return t("levers.tokens", { n: format.integer(gained_tokens) });
    return "";
  }

  #apply(patch: Scenario, name: string): TemplateResult {
    return html`<button
      class="button apply"
      aria-label=${t("levers.apply_named", { name })}
      @click=${() => this.store.set_all(patch)}
    >
      ${t("levers.apply")}
    </button>`;
  }
}

customElements.define("vg-levers", Levers);

export const part: LaterPart = {
  texts: plan_texts,
  view: (store) => html`<vg-levers .store=${store}></vg-levers>`,
};
