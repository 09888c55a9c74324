import { css } from "lit";

/** Base of every component: box model, hidden text, focus ring. */
export const base_styles = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  :host {
    display: block;
  }
  [hidden] {
    display: none !important;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  h2,
  h3,
  p {
    margin: 0;
  }
`;

export const button_styles = css`
  button {
    font: inherit;
    color: inherit;
    cursor: pointer;
  }
  .button {
    min-height: 30px;
    padding: 0 12px;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
    font-size: 12.5px;
    white-space: nowrap;
  }
  .button:hover {
    border-color: var(--border-strong);
  }
  .button.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--accent-ink);
    font-weight: 500;
  }
  .button.primary:hover {
    filter: brightness(1.08);
  }
  .text-button {
    padding: 0;
    border: 0;
    background: none;
    color: var(--accent);
    text-align: start;
  }
  .text-button:hover {
    text-decoration: underline;
  }
  @media (pointer: coarse) {
    .button {
      min-height: 36px;
    }
  }
`;

/** The colour key of a term: its swatch, the same everywhere. */
export const swatch_styles = css`
  .swatch {
    display: inline-block;
    width: 9px;
    height: 9px;
    border-radius: 2px;
    forced-color-adjust: none;
  }
  .swatch.weights {
    background: var(--term-weights);
  }
  .swatch.kv_cache {
    background: var(--term-kv_cache);
  }
  .swatch.activations {
    background: var(--term-activations);
  }
  .swatch.runtime {
    background: var(--term-runtime);
  }
`;
