import { css } from "lit";

export const body_styles = css`
  .panel {
    display: grid;
    gap: 14px;
    padding: 12px;
    border: 1px dashed var(--border-strong);
    border-radius: 8px;
  }
  section {
    min-width: 0;
  }
  section > :not(h3, .status),
  .status > * {
    margin-top: 6px;
  }
  .status:focus {
    outline: 0;
  }
  section + section {
    padding-top: 12px;
    border-top: 1px solid var(--hairline);
  }
  h3 {
    font-size: 12px;
    font-weight: 600;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 8px;
    align-items: center;
  }
  .row span {
    flex: 1 1 12em;
  }
  textarea {
    width: 100%;
    min-height: 72px;
    padding: 8px;
    resize: vertical;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
    color: var(--ink);
    font: 11.5px/1.45 var(--font-mono);
  }
  textarea[aria-invalid="true"] {
    border-color: var(--bad);
  }
  .quiet {
    color: var(--ink-2);
  }
  @media (pointer: coarse) {
    /* Smaller text in a field makes some phones zoom into the page. */
    textarea {
      font-size: 16px;
    }
  }
`;
