import { css } from "lit";

export const search_styles = css`
  .control {
    padding-inline-end: 26px;
  }
  .chevron {
    position: absolute;
    inset-inline-end: 10px;
    color: var(--ink-3);
    pointer-events: none;
  }
  .popup {
    position: absolute;
    z-index: 20;
    top: calc(100% + 4px);
    inset-inline-end: -1px;
    width: max(100%, min(340px, 100vw - 34px));
    border: 1px solid var(--border);
    border-radius: 8px;
    background: var(--surface);
    box-shadow: var(--shadow);
  }
  ul {
    max-height: min(344px, 50vh);
    margin: 0;
    padding: 4px;
    overflow-y: auto;
    list-style: none;
  }
  li {
    display: flex;
    gap: 12px;
    align-items: baseline;
    justify-content: space-between;
    padding: 5px 8px;
    border-radius: 5px;
    cursor: pointer;
  }
  li[aria-selected="true"] {
    background: var(--accent-wash);
  }
  li[data-current] .name {
    font-weight: 600;
  }
  .name {
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .detail {
    flex: none;
    color: var(--ink-2);
    font-size: 11.5px;
  }
  .count {
    padding: 0 12px;
    color: var(--ink-2);
    font-size: 11.5px;
  }
  .count:not(:empty) {
    padding-block: 7px;
  }
  ul:has(li) + .count:not(:empty) {
    border-top: 1px solid var(--hairline);
  }
  @media (pointer: coarse) {
    li {
      padding-block: 9px;
    }
  }
  @media (forced-colors: active) {
    li[aria-selected="true"] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }
`;
