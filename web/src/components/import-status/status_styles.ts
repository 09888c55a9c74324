import { css } from "lit";

export const status_styles = css`
  .running {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto;
    gap: 6px 8px;
    align-items: center;
    color: var(--ink-2);
  }
  .bar {
    grid-column: 1 / -1;
    width: 100%;
    height: 4px;
    border-radius: 2px;
    background: var(--bar-ground);
    forced-color-adjust: none;
  }
  .bar rect {
    fill: var(--accent);
  }
  /* How much there is to do is not known yet. */
  .bar[data-unknown] rect {
    animation: to-and-fro 1.6s ease-in-out infinite alternate;
  }
  @keyframes to-and-fro {
    to {
      x: 70%;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .bar[data-unknown] rect {
      animation: none;
    }
  }
  .taken {
    color: var(--good);
    font-weight: 500;
    overflow-wrap: anywhere;
  }
  .error {
    color: var(--bad);
    overflow-wrap: anywhere;
  }
  .hint {
    color: var(--ink-2);
  }
  .fact {
    white-space: nowrap;
  }
  .findings {
    display: grid;
    gap: 4px;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  code {
    font-family: var(--font-mono);
    font-size: 11px;
    overflow-wrap: anywhere;
  }
`;
