import { css } from "lit";

export const traffic_styles = css`
  .inputs {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(120px, 1fr));
    gap: 8px 16px;
    margin-bottom: 10px;
  }
  label {
    color: var(--ink-2);
    font-size: 12px;
  }
  input {
    display: block;
    width: 100%;
    height: 30px;
    margin-top: 2px;
    padding: 0 8px;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
    color: var(--ink);
    font: 13px/1 inherit;
    font-family: inherit;
    text-align: end;
  }
  [aria-invalid="true"] {
    border-color: var(--bad);
  }
  table {
    width: 100%;
    margin-block: 6px;
    border-collapse: collapse;
    font-size: 13px;
  }
  th,
  td {
    padding: 4px 8px;
    border-bottom: 1px solid var(--hairline);
    font-weight: 400;
    text-align: end;
  }
  th[scope="row"] {
    text-align: start;
  }
  thead > tr > * {
    border-bottom-color: var(--border);
    color: var(--ink-2);
    font-size: 12px;
  }
  .replicas {
    font-weight: 600;
  }
`;
