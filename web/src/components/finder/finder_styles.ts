import { css } from "lit";

export const finder_styles = css`
  .controls {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 12px;
    align-items: center;
    margin-block: 6px 4px;
    font-size: 12.5px;
  }
  [type="search"] {
    width: 180px;
    height: 30px;
    padding: 0 8px;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
    color: var(--ink);
    font: inherit;
  }
  label {
    display: flex;
    gap: 6px;
    align-items: center;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 13px;
  }
  th,
  td {
    height: 30px;
    padding: 2px 8px;
    border-bottom: 1px solid var(--hairline);
    font-weight: 400;
    text-align: start;
  }
  th.number,
  td.number {
    text-align: end;
  }
  thead > tr > * {
    border-bottom-color: var(--border);
    font-size: 12px;
  }
  [data-present] > * {
    background: color-mix(in srgb, var(--accent) 8%, transparent);
  }
  /* What waits for an answer is paler, and needs the plain ground to be legible. */
  [data-stale] [data-present] > * {
    background: none;
  }
  .state {
    display: inline-block;
    width: 8px;
    height: 8px;
    margin-inline-end: 8px;
    border-radius: 50%;
    forced-color-adjust: none;
  }
  .state.fits {
    background: var(--good);
  }
  .state.tight {
    border-radius: 0;
    background: var(--warn);
  }
  .state.does_not_fit {
    border: 2px solid var(--bad);
    background: none;
  }
  @media (max-width: 620px) {
    th,
    td {
      padding-inline: 3px;
      font-size: 12px;
    }
    .needed {
      display: none;
    }
  }
`;
