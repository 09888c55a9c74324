import { css, html, nothing, type TemplateResult } from "lit";
import { diag_text, short_text, t } from "../../i18n/i18n";
import type { Finding } from "../../state/findings";

export interface FieldShell {
  key: string;
  help?: string | undefined;
  /** What the value comes to; a line of its own below the control. */
  below?: string | undefined;
  finding?: Finding | undefined;
  /** The control itself; it carries id "control" and aria-describedby "about". */
  control: TemplateResult;
}

/** Label, control and finding of one field. The finding's line is always there, so nothing moves when it fills. */
export function field_shell({ key, help, below, finding, control }: FieldShell): TemplateResult {
  const text = finding ? diag_text(finding.diag) : undefined;
  const shown = finding?.severity === "warning" ? short_text(finding.diag) : text?.message;
  return html`<div class="field" data-finding=${finding?.severity ?? nothing}>
    <label for="control" title=${help ?? nothing}>${t(`fields.${key}`)}</label>
    <div class="control">${control}</div>
    <div id="about">
      ${below ? html`<p class="below">${below}</p>` : nothing}
      ${help ? html`<span class="visually-hidden">${help}</span>` : nothing}
      <p class="finding" role="status" title=${text ? `${text.message} ${text.hint}` : nothing}>
        ${shown ?? nothing}
      </p>
    </div>
  </div>`;
}

/** The mark of a select, in place of the browser's own. */
export const chevron = html`<svg
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
</svg>`;

export const select_styles = css`
  select {
    appearance: none;
    padding-inline-end: 28px;
    cursor: pointer;
  }
  option {
    background: var(--surface);
    color: var(--ink);
  }
  .chevron {
    position: absolute;
    inset-inline-end: 10px;
    color: var(--ink-3);
    pointer-events: none;
  }
`;

export const field_styles = css`
  .field {
    display: grid;
    position: relative;
    grid-template-columns: var(--label-width) minmax(0, 1fr);
    align-items: center;
    padding-bottom: 14px;
  }
  label {
    padding-inline-end: 8px;
    color: var(--ink-2);
    font-size: 13px;
  }
  .control {
    display: flex;
    position: relative;
    align-items: center;
    min-height: 32px;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
  }
  .control:hover {
    border-color: var(--border-strong);
  }
  .control:focus-within {
    border-color: var(--accent);
    outline: 1px solid var(--accent);
  }
  [data-finding="error"] .control {
    border-color: var(--bad);
    outline-color: var(--bad);
  }
  input,
  select {
    flex: 1;
    min-width: 0;
    height: 30px;
    padding: 0 10px;
    border: 0;
    border-radius: 5px;
    background: transparent;
    color: var(--ink);
    font: inherit;
    font-size: 13px;
    text-overflow: ellipsis;
  }
  /* The frame around the control shows the focus. */
  input:focus-visible,
  select:focus-visible {
    outline: 0;
  }
  .note {
    flex: none;
    max-width: 62%;
    padding-inline-end: 10px;
    overflow: hidden;
    color: var(--ink-3);
    font-size: 11.5px;
    text-overflow: ellipsis;
    white-space: nowrap;
    pointer-events: none;
  }
  #about {
    grid-column: 2;
  }
  .below {
    padding-top: 3px;
    color: var(--ink-2);
    font-size: 12px;
    line-height: 1.35;
  }
  /* One line stands in the gap below the field. A longer error, which has to be dealt with now, lies over what follows. */
  .finding {
    position: absolute;
    z-index: 3;
    top: calc(100% - 14px);
    inset-inline: 0;
    color: var(--bad);
    font-size: 11px;
    line-height: 13px;
    text-align: end;
  }
  [data-finding] .finding {
    padding: 1px 0 2px;
    background: var(--paper);
  }
  [data-finding="warning"] .finding {
    overflow: hidden;
    color: var(--warn);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  @media (pointer: coarse) {
    .control {
      min-height: 38px;
    }
    /* Smaller text in a field makes some phones zoom into the page. */
    input,
    select {
      height: 36px;
      font-size: 16px;
    }
  }
`;
