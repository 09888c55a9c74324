import { css } from "lit";

export const table_styles = css`
  /* Columns keep their places whatever stands in them. */
  table {
    width: 100%;
    table-layout: fixed;
    border-collapse: collapse;
    font-size: 13.5px;
  }
  [data-stale] {
    --ink: var(--ink-3);
    --ink-2: var(--ink-3);
    color: var(--ink);
  }
  caption {
    padding: 0 0 6px;
    color: var(--ink);
    font-size: 13px;
    font-weight: 600;
    text-align: start;
  }
  .title {
    display: flex;
    contain: inline-size;
    gap: 12px;
    justify-content: space-between;
    white-space: nowrap;
  }
  .title > span {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .place {
    color: var(--ink-2);
    font-weight: 400;
  }
  th,
  td {
    padding: 0 8px;
    font-weight: 400;
    text-align: start;
  }
  thead th {
    padding-block: 6px;
    border-bottom: 1px solid var(--border);
    color: var(--ink-2);
    font-size: 12px;
    white-space: nowrap;
  }
  tbody tr:not(.detail) > * {
    height: 36px;
    border-bottom: 1px solid var(--hairline);
  }
  tbody:has(.detail:not([hidden])) tr:first-child > * {
    border-bottom-color: transparent;
  }
  .detail > td {
    padding: 0 0 10px;
    border-bottom: 1px solid var(--hairline);
  }
  .total > * {
    border-bottom: 0 !important;
    font-weight: 600;
  }
  .number {
    text-align: end;
    white-space: nowrap;
  }
  .known {
    text-align: end;
  }
  thead .share {
    width: 14%;
  }
  thead .range {
    width: 27%;
  }
  thead .known {
    width: 17%;
  }
  tbody .range {
    color: var(--ink-2);
  }
  .total .range {
    color: inherit;
  }
  .basis {
    display: inline-block;
    padding: 0 8px;
    border: 1px solid var(--border);
    border-radius: 9px;
    color: var(--ink-2);
    font-size: 11.5px;
    font-weight: 400;
    line-height: 17px;
    white-space: nowrap;
  }
  .opener {
    display: flex;
    font-weight: inherit;
    gap: 8px;
    align-items: center;
    min-height: 28px;
    padding: 0;
    border: 0;
    background: none;
    text-align: start;
    white-space: nowrap;
  }
  .opener:hover {
    color: var(--accent);
  }
  .arrow {
    flex: none;
    color: var(--ink-3);
    transition: transform 100ms;
  }
  [aria-expanded="true"] .arrow {
    transform: rotate(90deg);
  }
  .narrow-range {
    display: none;
  }
  @media (max-width: 620px) {
    th,
    td {
      padding-inline: 4px;
    }
    /* Of no width: without their cells the columns after them would move up. */
    :is(thead, tbody) .range {
      width: 0;
      padding: 0;
      overflow: hidden;
      font-size: 0;
      visibility: hidden;
    }
    .narrow-range {
      display: block;
      color: var(--ink-2);
      font-size: 11px;
      font-weight: 400;
      line-height: 1.2;
    }
    tbody tr:not(.detail) > * {
      height: 42px;
    }
    thead .number:not(.share, .range) {
      width: 25%;
    }
    thead .share {
      width: 15%;
    }
    thead .known {
      width: 23%;
    }
    .basis {
      padding: 0;
      border: 0;
    }
    .opener {
      gap: 6px;
    }
  }
  .title .old {
    flex: none;
    max-width: 62%;
    color: var(--warn);
    font-weight: 400;
  }
  [data-stale] .swatch {
    opacity: 0.4;
  }
  @media (max-width: 360px) {
    :is(thead, tbody) .share {
      width: 0;
      padding: 0;
      overflow: hidden;
      font-size: 0;
      visibility: hidden;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .arrow {
      transition: none;
    }
  }
`;
