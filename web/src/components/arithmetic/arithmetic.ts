import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from "lit";
import type { ArithmeticLine, Term } from "../../core/types";
import { t, t_core } from "../../i18n/i18n";
import { base_styles } from "../../styles/shared";
import { StoreElement } from "../store_element";

/** How a term comes about: each formula, the same with its numbers, and where it is from. */
export class Arithmetic extends StoreElement {
  static override properties: PropertyDeclarations = {
    ...StoreElement.properties,
    term: { attribute: false },
  };
  static override styles = [
    base_styles,
    css`
      /* The table is as wide as the page, not as a line. */
      .arithmetic {
        display: grid;
        contain: inline-size;
        gap: 8px;
        padding: 10px 14px;
        border: 1px solid var(--hairline);
        border-radius: 6px;
        background: var(--sunken);
      }
      dl {
        display: grid;
        gap: 8px;
        margin: 0;
      }
      dt {
        color: var(--ink-2);
        font-size: 11.5px;
      }
      dd {
        margin: 0;
        font: 12px/1.6 var(--font-mono);
        overflow-wrap: anywhere;
      }
      .formula {
        color: var(--ink-2);
      }
      b {
        font-weight: 650;
      }
      /* Where a line is short, more digits would break it and move what follows. */
      @media (max-width: 620px) {
        dl {
          overflow-x: auto;
        }
        dd {
          white-space: nowrap;
        }
      }
      .source {
        padding-top: 6px;
        border-top: 1px solid var(--hairline);
        color: var(--ink-2);
        font-size: 11.5px;
        overflow-wrap: anywhere;
      }
    `,
  ];
  declare term: Term;

  protected override render(): TemplateResult {
    const { lines, source } = this.term;
    return html`<div class="arithmetic">
      ${lines.length === 0 ? html`<p>${t("arithmetic.nothing")}</p>` : html`<dl tabindex="0">${alike(lines).map(([line, count]) => this.#line(line, count))}</dl>`}
      ${source === "" ? nothing : html`<p class="source">${t("table.source")}: ${source}</p>`}
    </div>`;
  }

  #line(line: ArithmeticLine, count: number): TemplateResult {
    const times = count > 1 ? t("arithmetic.alike", { n: count }) : "";
    return html`<div>
      <dt>${label_text(line.label)}${times}</dt>
      <dd class="formula">${line.formula}</dd>
      <dd>= ${line.substituted} = <b>${this.store.format.exact(line.result)}</b></dd>
    </div>`;
  }
}

/** Lines one after the other that say the same, such as those of equal groups of layers, with their number. */
function alike(lines: ArithmeticLine[]): [ArithmeticLine, number][] {
  const groups: [ArithmeticLine, number][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last && JSON.stringify(last[0]) === JSON.stringify(line)) ++last[1];
    else groups.push([line, 1]);
  }
  return groups;
}

/** "sliding_bytes_per_token" is a quantity of one kind of cache; other labels stand for themselves. */
function label_text(label: string): string {
  const match = /^([a-z]+)_(bytes_per_token|bytes_per_entry|bytes_per_request|fixed_bytes)$/.exec(
    label,
  );
  if (!match) return t_core("labels", label);
  const [, kind = "", quantity = ""] = match;
  return t(`label_parts.${quantity}`, { kind: t_core("cache_kinds", kind) });
}

customElements.define("vg-arithmetic", Arithmetic);
