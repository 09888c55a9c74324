import { css } from "lit";

export const check_styles = css`
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    margin-block: 2px 8px;
  }
  table {
    width: 100%;
    margin-bottom: 10px;
    border-collapse: collapse;
    font-size: 13px;
  }
  th,
  td {
    padding: 5px 8px;
    border-bottom: 1px solid var(--hairline);
    font-weight: 400;
    text-align: start;
  }
  td.number,
  th.number {
    text-align: end;
  }
  thead th {
    border-bottom-color: var(--border);
    color: var(--ink-2);
    font-size: 12px;
  }
  .reasons td {
    padding-top: 0;
  }
  @media (max-width: 620px) {
    th,
    td {
      padding-inline: 3px;
      font-size: 12px;
    }
  }
`;
