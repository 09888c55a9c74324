import { css } from "lit";

/** A field for text from elsewhere: a command line, a log. */
export const text_area_styles = css`
  textarea {
    display: block;
    width: 100%;
    margin-bottom: 6px;
    padding: 8px 10px;
    border: 1px solid var(--border);
    border-radius: 6px;
    background: var(--surface);
    color: var(--ink);
    font: 12px/1.5 var(--font-mono);
    resize: vertical;
  }
  textarea::placeholder {
    color: var(--ink-3);
  }
`;
