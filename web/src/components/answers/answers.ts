import { css, html, nothing, type TemplateResult } from "lit";
import type { Estimate } from "../../core/types";
import type { Formatter } from "../../format/format";
import { t, t_core } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import "../derivation/derivation";
import { StoreElement } from "../store_element";

/** What the engine itself says, in the order in which it is shown. */
const kFacts = [
  "mem_fraction_static",
  "free_gpu_memory_fraction",
  "free_after_load",
  "pool",
  "full_tokens",
  "window_tokens",
  "states",
  "prompt_peak",
  "last_token_peak",
  "chunked_prefill_size",
  "cuda_graph_max_bs",
  "max_num_tokens",
  "tokens_per_block",
  "num_blocks",
  "logged_tokens",
  "logged_concurrency",
  "steady_requests",
  "max_num_batched_tokens",
  "max_num_seqs",
  "outside",
];

/** A figure of the engine's own is counted as its arithmetic in the table says. */
function how_text(id: string): string {
  const text = t_core("answers_how", id);
  return text === id ? t("answers_how.fact") : text;
}

function fact_text(format: Formatter, value: number | string, unit: string): string {
  if (unit === "bytes") return format.small_size(Number(value));
  const is_exact = unit === "fraction" || unit === "factor";
  return is_exact ? String(value) : format.integer(Number(value));
}

interface Answer {
  id: string;
  question: string;
  value: string;
  /** Null where there is none whatever the inputs are. */
  note: string | null;
}

/** The same question the other way round. */
export class AnswersPanel extends StoreElement {
  static override styles = [
    base_styles,
    css`
      h2 {
        margin-bottom: 8px;
        font-size: 13px;
        font-weight: 600;
      }
      dl {
        display: grid;
        grid-template-columns: repeat(4, minmax(0, 1fr));
        gap: 1px;
        margin: 0;
        overflow: hidden;
        border: 1px solid var(--border);
        border-radius: 8px;
        background: var(--hairline);
      }
      [data-stale] {
        --ink: var(--ink-3);
        --ink-2: var(--ink-3);
        color: var(--ink);
      }
      div {
        padding: 10px 14px;
        background: var(--surface);
      }
      dt,
      dd {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      dt {
        color: var(--ink-2);
        font-size: 12px;
      }
      dd {
        margin: 0;
        font-size: 16px;
        font-weight: 600;
        letter-spacing: -0.01em;
      }
      dd.note {
        min-height: 1.5em;
        color: var(--ink-2);
        font-size: 11.5px;
        font-weight: 400;
        letter-spacing: 0;
      }
      vg-derivation {
        margin-top: 8px;
      }
      @media (max-width: 1080px) {
        dl {
          grid-template-columns: repeat(2, minmax(0, 1fr));
        }
      }
      /* Always two lines, so that a longer number moves nothing. */
      @media (max-width: 620px) {
        dt {
          height: 3em;
          white-space: normal;
        }
      }
    `,
  ];

  protected override render(): TemplateResult | typeof nothing {
    const { estimate, stale, loading } = this.store;
    if (!estimate) return nothing;
    return html`<section aria-labelledby="title">
      <h2 id="title">${t("answers.title")}</h2>
      <dl ?data-stale=${stale || loading}>
        ${this.#answers(estimate).map(
          ({ id, question, value, note }) =>
            html`<div data-answer=${id}>
              <dt title=${question}>${question}</dt>
              <dd>${value}</dd>
              ${note === null ? nothing : html`<dd class="note" title=${note}>${note}</dd>`}
            </div>`,
        )}
      </dl>
      <vg-derivation
        .lines=${this.#answers(estimate).map(({ id, question, value }) => ({
          name: question,
          formula: how_text(id),
          numbers: value,
        }))}
        source=${t("answers.source", { engine: String(estimate.scenario["engine"]) })}
      ></vg-derivation>
    </section>`;
  }

  #answers(estimate: Estimate): Answer[] {
    return [
      this.#max_context(estimate),
      this.#max_requests(estimate),
      this.#max_cached(estimate),
      this.#per_token(estimate),
      ...this.#facts(estimate),
    ];
  }

  #facts({ engine = [] }: Estimate): Answer[] {
    const format = this.store.format;
    const shown = engine.filter(({ id }) => kFacts.includes(id));
    return shown.map(({ id, value, unit }) => ({
      id,
      question: t_core("facts", id),
      value: fact_text(format, value, unit),
      note: null,
    }));
  }

  #max_context({ answers, scenario }: Estimate): Answer {
    const format = this.store.format;
    const count = Number(scenario["num_requests"]);
    const limit = answers.model_max_context_tokens;
    const beyond =
      limit !== null && (answers.max_context_tokens === null || answers.max_context_tokens > limit);
    return {
      id: "max_context_tokens",
      question: t("answers.max_context", { count, n: format.integer(count) }),
      value: this.#count(answers.max_context_tokens),
      note: beyond ? t("answers.beyond_model", { limit: format.tokens(limit) }) : "",
    };
  }

  #max_requests({ answers, scenario }: Estimate): Answer {
    const context = this.store.format.tokens(Number(scenario["context_tokens"]));
    return {
      id: "max_requests",
      question: t("answers.max_requests", { context }),
      value: this.#count(answers.max_requests),
      note: "",
    };
  }

  #max_cached({ answers }: Estimate): Answer {
    return {
      id: "max_cached_tokens",
      question: t("answers.max_cached"),
      value: this.#count(answers.max_cached_tokens),
      note: "",
    };
  }

  #per_token({ cache }: Estimate): Answer {
    const format = this.store.format;
    const fixed = cache.fixed_bytes_per_request;
    return {
      id: "bytes_per_token",
      question: t("answers.per_token"),
      value: format.small_size(cache.bytes_per_token),
      note:
        fixed > 0
          ? t("answers.fixed", { amount: format.small_size(fixed) })
          : format.exact(cache.bytes_per_token),
    };
  }

  #count(value: number | null | undefined): string {
    if (value === null || value === undefined) return t("answers.no_limit");
    return value === 0 ? t("answers.none_fits") : this.store.format.integer(value);
  }
}

customElements.define("vg-answers", AnswersPanel);
