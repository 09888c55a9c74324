import { css } from "lit";

export const app_styles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 100vh;
  }
  .layout {
    display: grid;
    flex: 1;
    grid-template-columns: 368px minmax(0, 1fr);
    width: 100%;
    max-width: 1440px;
    margin: 0 auto;
  }
  aside {
    --label-width: 96px;
    padding: 16px 24px 40px;
    border-inline-end: 1px solid var(--hairline);
  }
  main {
    min-width: 0;
    padding: 0 28px 40px;
  }
  .head {
    position: sticky;
    z-index: 2;
    top: 0;
    padding: 20px 0 8px;
    background: var(--paper);
  }
  .verdict-end {
    height: 0;
  }
  .body {
    display: grid;
    gap: 28px;
    padding-top: 12px;
  }
  vg-device-bar {
    margin-top: 10px;
  }
  /* Room for what is loaded when it comes near. */
  [data-part="levers"] {
    --later-height: 440px;
  }
  [data-part="inverse"] {
    --later-height: 405px;
  }
  [data-part="charts"] {
    --later-height: 545px;
  }
  [data-part="compare"] {
    --later-height: 90px;
  }
  [data-part="finder"] {
    --later-height: 520px;
  }
  [data-part="traffic"] {
    --later-height: 300px;
  }
  [data-part="speed"] {
    --later-height: 140px;
  }
  [data-part="run"],
  [data-part="check"] {
    --later-height: 240px;
  }
  vg-slim-verdict {
    display: none;
  }
  footer {
    padding: 12px 24px;
    border-top: 1px solid var(--hairline);
    color: var(--ink-3);
    font-size: 12px;
    text-align: center;
  }
  .drop-veil {
    position: fixed;
    z-index: 30;
    inset: 12px;
    display: grid;
    place-items: center;
    border: 2px dashed var(--accent);
    border-radius: 10px;
    background: color-mix(in srgb, var(--paper) 88%, transparent);
    font-size: 18px;
    pointer-events: none;
  }
  /* A short window has no room for a verdict that stays. */
  @media (max-height: 620px) {
    .head {
      position: static;
    }
  }
  @media (max-width: 620px) {
    [data-part="levers"] {
      --later-height: 780px;
    }
    [data-part="inverse"] {
      --later-height: 710px;
    }
    [data-part="charts"] {
      --later-height: 890px;
    }
    [data-part="finder"] {
      --later-height: 715px;
    }
    [data-part="traffic"] {
      --later-height: 540px;
    }
    [data-part="speed"] {
      --later-height: 245px;
    }
  }
  @media (max-width: 860px) {
    .layout {
      grid-template-columns: minmax(0, 1fr);
      align-content: start;
    }
    main {
      display: contents;
    }
    .head {
      position: static;
      order: 1;
      padding: 12px 16px 16px;
    }
    aside {
      order: 2;
      padding: 4px 16px 20px;
      border: 0;
      border-block: 1px solid var(--hairline);
    }
    .body {
      order: 3;
      padding: 20px 16px 32px;
    }
    vg-slim-verdict {
      display: block;
    }
  }
`;
