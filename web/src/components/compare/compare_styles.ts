import { css } from "lit";

export const compare_styles = css`
  .scroll {
    margin-bottom: 8px;
    overflow-x: auto;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 13px;
  }
  th,
  td {
    min-width: 88px;
    padding: 5px 8px;
    border-bottom: 1px solid var(--hairline);
    font-weight: 400;
    text-align: end;
  }
  th[scope="row"] {
    color: var(--ink-2);
    text-align: start;
  }
  thead > tr > * {
    border-bottom-color: var(--border);
    vertical-align: bottom;
  }
  .fields tr:last-child > * {
    border-bottom-color: var(--border);
  }
  [data-differs] td {
    font-weight: 600;
  }
  .state.fits {
    color: var(--good);
  }
  .state.tight {
    color: var(--warn);
  }
  .state.does_not_fit {
    color: var(--bad);
  }
  .actions {
    display: flex;
    gap: 8px;
    justify-content: flex-end;
    font-size: 12px;
  }
`;
