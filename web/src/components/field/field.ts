import { css, html, nothing, type TemplateResult } from "lit";
import type { Diag } from "../../core/types";
import { diag_text, t } from "../../i18n/i18n";

export interface FieldShell {
  key: string;
  help?: string | undefined;
  error?: Diag | undefined;
  /** The control itself; it carries id "control" and aria-describedby "about". */
  control: TemplateResult;
}

/** Label, control and error of one field. The error's line is always there, so nothing moves when it fills. */
export function field_shell({ key, help, error, control }: FieldShell): TemplateResult {
  const text = error ? diag_text(error) : null;
  return html`<div class="field" ?data-invalid=${error !== undefined}>
    <label for="control" title=${help ?? nothing}>${t(`fields.${key}`)}</label>
    <div class="control">${control}</div>
    <p id="about" class="about">
      ${help ? html`<span class="visually-hidden">${help}.</span>` : nothing}
      <span class="error" role="status">${text ? html`${text.message} <span class="hint">${text.hint}</span>` : nothing}</span>
    </p>
  </div>`;
}

export const field_styles = css`
  .field {
    display: grid;
    position: relative;
    grid-template-columns: 106px minmax(0, 1fr);
    align-items: center;
    padding-bottom: 12px;
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
  [data-invalid] .control {
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
    outline: 0;
    background: transparent;
    color: var(--ink);
    font: inherit;
    font-size: 13px;
    text-overflow: ellipsis;
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
  .about {
    position: absolute;
    z-index: 1;
    bottom: 0;
    inset-inline: 0;
    height: 12px;
  }
  /* One line stands in the gap below the field; a longer text lies over what follows. */
  .error {
    display: block;
    color: var(--bad);
    font-size: 11px;
    line-height: 13px;
    text-align: end;
  }
  .error:not(:empty) {
    background: var(--paper);
    padding: 1px 0;
  }
  .hint {
    color: var(--ink-2);
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
