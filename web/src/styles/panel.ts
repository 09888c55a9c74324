import { css } from "lit";

/** A titled part of the answer: heading, lead and rows between hairlines. */
export const panel_styles = css`
  /* The place stays as large as it was before the part came, whatever its answer: nothing below moves. */
  :host {
    min-height: var(--later-height, 0);
  }
  h2 {
    margin-bottom: 2px;
    font-size: 13px;
    font-weight: 600;
  }
  .lead {
    margin-bottom: 8px;
    color: var(--ink-2);
    font-size: 12px;
  }
  .rows {
    margin: 0;
    padding: 0;
    border-top: 1px solid var(--border);
    list-style: none;
  }
  .rows > li {
    border-bottom: 1px solid var(--hairline);
  }
  .rows > li:last-child {
    border-bottom: 0;
  }
  [data-stale] {
    --ink: var(--ink-3);
    --ink-2: var(--ink-3);
    color: var(--ink);
  }
  .number {
    font-variant-numeric: tabular-nums;
    text-align: end;
    white-space: nowrap;
  }
  .quiet {
    color: var(--ink-2);
    font-size: 12px;
  }
  code,
  .mono {
    font: 11.5px var(--font-mono);
    overflow-wrap: anywhere;
  }
  .good {
    color: var(--good);
  }
  .warn {
    color: var(--warn);
  }
  .bad {
    color: var(--bad);
  }
`;
