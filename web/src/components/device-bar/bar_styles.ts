import { css } from "lit";

export const bar_styles = css`
  .bars {
    display: grid;
    gap: 14px;
  }
  [data-stale] {
    --ink-2: var(--ink-3);
  }
  [data-stale] :is(.term, .band, .limit) {
    opacity: 0.35;
  }
  figure {
    margin: 0;
  }
  figcaption {
    display: flex;
    gap: 12px;
    justify-content: space-between;
    margin-bottom: 4px;
    color: var(--ink-2);
    font-size: 12.5px;
  }
  em {
    color: var(--ink-3);
    font-style: normal;
  }
  .drawing {
    display: block;
    width: 100%;
    overflow: visible;
  }
  .ground {
    fill: var(--bar-ground);
  }
  .term {
    stroke: var(--paper);
    stroke-width: 1;
  }
  .weights {
    fill: var(--term-weights);
  }
  .kv_cache {
    fill: var(--term-kv_cache);
  }
  .activations {
    fill: var(--term-activations);
  }
  .runtime {
    fill: var(--term-runtime);
  }
  .band-line {
    fill: color-mix(in srgb, var(--ink) 32%, transparent);
  }
  .whisker {
    stroke: var(--ink-3);
    stroke-width: 1;
  }
  .limit {
    stroke: var(--ink);
    stroke-width: 1.5;
  }
  .limit.usable {
    stroke: var(--bad);
    stroke-width: 2;
  }
  .limit.capacity {
    stroke: var(--ink-3);
    stroke-width: 1;
  }
  .tick {
    fill: var(--ink-2);
    font-size: 11px;
  }
  .legend {
    display: none;
    flex-wrap: wrap;
    gap: 2px 14px;
    margin: 6px 0 0;
    padding: 0;
    color: var(--ink-2);
    font-size: 12px;
    list-style: none;
  }
  .legend .swatch {
    margin-inline-end: 5px;
  }
  figcaption span {
    white-space: nowrap;
  }
  figcaption span:first-child {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  @media (max-width: 420px) {
    .near {
      display: none;
    }
  }
  :host([legend]) .legend {
    display: flex;
  }
  @media (max-width: 860px) {
    .legend {
      display: flex;
    }
  }
  @media (max-width: 620px) {
    /* Always two lines: other amounts move nothing below them. */
    :host(:not([legend])) .legend {
      display: grid;
      grid-template-columns: repeat(2, max-content);
      gap: 2px 24px;
    }
  }
  @media (forced-colors: active) {
    .term {
      stroke: CanvasText;
    }
    .tick {
      fill: CanvasText;
    }
    .limit,
    .whisker {
      stroke: CanvasText;
    }
    .limit.usable {
      stroke: Highlight;
    }
  }
`;
